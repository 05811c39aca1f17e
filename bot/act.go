package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"reconcilebot/commands"
	"reconcilebot/state"
)

// act is what a person did, as it is stored: what is needed of the payload
// and nothing else. Its JSON names are on disk and never renamed.
type act struct {
	Kind    commands.Kind `json:"kind"`
	User    string        `json:"user"`
	Team    string        `json:"team,omitempty"`
	Room    string        `json:"room,omitempty"`
	Thread  string        `json:"thread,omitempty"`
	Message string        `json:"message,omitempty"`
	Text    string        `json:"text,omitempty"`
	Action  string        `json:"action,omitempty"`
	Block   string        `json:"block,omitempty"`
	Value   string        `json:"value,omitempty"`
	View    *view         `json:"view,omitempty"`
	// Trigger and Answer are short-lived secrets: they open a modal within
	// three seconds and answer within half an hour.
	Trigger string `json:"trigger,omitempty"`
	Answer  string `json:"answer,omitempty"`
	// Once holds what tells this act from any other.
	Once []string `json:"-"`
}

type view struct {
	ID       string            `json:"id"`
	Hash     string            `json:"hash,omitempty"`
	Callback string            `json:"callback,omitempty"`
	Metadata string            `json:"metadata,omitempty"`
	Values   map[string]string `json:"values,omitempty"`
}

// Bounds on what a payload may hold; Slack's own are below them.
const (
	maxID     = 255
	maxText   = 12_000
	maxValue  = 3_000
	maxInputs = 100
)

// id is the same for the same act, however often and in whatever envelope it
// comes. Hashing keeps hostile fields out of keys.
func (a act) id() state.DeliveryID {
	raw, err := json.Marshal(a.Once)
	if err != nil {
		raw = []byte(strings.Join(a.Once, "\x00")) // strings always encode
	}
	sum := sha256.Sum256(raw)
	return state.DeliveryID(string(a.Kind) + "/" + hex.EncodeToString(sum[:16]))
}

// check refuses an act that Slack can't have sent like this, and cuts its
// free text to size.
func (a *act) check() error {
	if a.User == "" {
		return fmt.Errorf("a %s without a user", a.Kind)
	}
	for name, v := range map[string]string{
		"user": a.User, "team": a.Team, "channel": a.Room, "thread": a.Thread, "message": a.Message,
		"action": a.Action, "block": a.Block, "trigger": a.Trigger,
	} {
		if len(v) > maxID || !utf8.ValidString(v) || strings.ContainsAny(v, "\x00\n\r") {
			return fmt.Errorf("a %s whose %s has %d bytes or is no text", a.Kind, name, len(v))
		}
	}
	if len(a.Answer) > 1000 {
		return fmt.Errorf("a %s with a response URL of %d bytes", a.Kind, len(a.Answer))
	}
	for _, once := range a.Once {
		if once == "" {
			return fmt.Errorf("a %s that can't be told from the next", a.Kind)
		}
	}
	if a.Thread == a.Message {
		// A message with answers names itself as its thread. What is said to
		// somebody who sees it in the channel must not hide in there.
		a.Thread = ""
	}
	a.Text, a.Value = cut(a.Text, maxText), cut(a.Value, maxValue)
	return a.View.check(a.Kind)
}

func (v *view) check(kind commands.Kind) error {
	switch {
	case v == nil:
		return nil
	case len(v.ID) > maxID || len(v.Hash) > maxID || len(v.Callback) > maxID || len(v.Metadata) > maxValue:
		return fmt.Errorf("a %s whose view has an oversized field", kind)
	case len(v.Values) > maxInputs:
		return fmt.Errorf("a %s with %d inputs", kind, len(v.Values))
	}
	for name, value := range v.Values {
		if len(name) > maxID {
			return fmt.Errorf("a %s with an input name of %d bytes", kind, len(name))
		}
		v.Values[name] = cut(value, maxText)
	}
	return nil
}

// cut shortens a text to so many bytes without splitting a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// request is the act as commands know it.
func (a act) request(d state.Delivery) commands.Request {
	r := commands.Request{
		Delivery: d, Kind: a.Kind, User: a.User, Team: a.Team, Room: state.Room(a.Room),
		Thread: a.Thread, Message: a.Message, Text: a.Text, Action: a.Action, Block: a.Block, Value: a.Value,
	}
	if v := a.View; v != nil {
		r.View = commands.View{ID: v.ID, Hash: v.Hash, Callback: v.Callback, Metadata: v.Metadata, Values: v.Values}
	}
	return r
}
