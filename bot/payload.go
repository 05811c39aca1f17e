package bot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands"
)

// The payloads below have only the fields that are used, so that a change or
// an oddity in any other can't make a payload unreadable.

// slashPayload: https://docs.slack.dev/interactivity/implementing-slash-commands
type slashPayload struct {
	Team    string `json:"team_id"`
	Channel string `json:"channel_id"`
	User    string `json:"user_id"`
	Text    string `json:"text"`
	Answer  string `json:"response_url"`
	Trigger string `json:"trigger_id"`
	App     string `json:"api_app_id"`
}

func readSlash(raw json.RawMessage) (act, origin, error) {
	var p slashPayload
	if err := json.Unmarshal(raw, &p); err != nil {
		return act{}, origin{}, fmt.Errorf("read slash command: %w", err)
	}
	a := act{
		Kind: commands.Slash, User: p.User, Team: p.Team, Room: p.Channel, Text: p.Text,
		Trigger: p.Trigger, Answer: p.Answer, Once: []string{p.Trigger},
	}
	return a, origin{App: p.App, Team: p.Team}, a.check()
}

// origin says where a payload claims to come from.
type origin struct{ App, Team string }

type ident struct {
	ID   string `json:"id"`
	Team string `json:"team_id"`
}

// interaction: https://docs.slack.dev/reference/interaction-payloads
type interaction struct {
	Type     string `json:"type"`
	App      string `json:"api_app_id"`
	Team     *ident `json:"team"`
	User     ident  `json:"user"`
	Channel  *ident `json:"channel"`
	Callback string `json:"callback_id"`
	Trigger  string `json:"trigger_id"`
	Answer   string `json:"response_url"`
	Message  *struct {
		TS     string `json:"ts"`
		Thread string `json:"thread_ts"`
		Text   string `json:"text"`
	} `json:"message"`
	Container struct {
		Message string `json:"message_ts"`
		Channel string `json:"channel_id"`
		Thread  string `json:"thread_ts"`
	} `json:"container"`
	Actions []struct {
		Type     string          `json:"type"`
		Action   string          `json:"action_id"`
		Block    string          `json:"block_id"`
		Value    string          `json:"value"`
		TS       string          `json:"action_ts"`
		URL      string          `json:"url"`
		Selected json.RawMessage `json:"selected_option"`
	} `json:"actions"`
	View *struct {
		ID       string `json:"id"`
		Hash     string `json:"hash"`
		Callback string `json:"callback_id"`
		Metadata string `json:"private_metadata"`
		External string `json:"external_id"`
		State    struct {
			Values map[string]map[string]input `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

func readInteraction(raw json.RawMessage) (act, origin, error) {
	var p interaction
	if err := json.Unmarshal(raw, &p); err != nil {
		return act{}, origin{}, fmt.Errorf("read interaction: %w", err)
	}
	from := origin{App: p.App}
	if p.Team != nil {
		from.Team = p.Team.ID
	}
	a := p.common()
	known := false
	switch p.Type {
	case "block_actions":
		known = p.click(&a)
	case "view_submission":
		known = p.modal(&a, commands.Submit)
	case "view_closed":
		known = p.modal(&a, commands.Closed)
	case "message_action":
		known = p.shortcut(&a)
	}
	if !known {
		return act{}, from, errUnknown
	}
	return a, from, a.check()
}

// common is what the kinds of interactions share.
func (p interaction) common() act {
	a := act{User: p.User.ID, Team: p.User.Team, Trigger: p.Trigger, Answer: p.Answer}
	a.Room, a.Message, a.Thread = p.Container.Channel, p.Container.Message, p.Container.Thread
	if p.Channel != nil {
		a.Room = p.Channel.ID
	}
	if p.Message != nil {
		a.Message = p.Message.TS
		if p.Message.Thread != "" {
			a.Thread = p.Message.Thread
		}
	}
	if v := p.View; v != nil {
		a.View = &view{ID: v.ID, Hash: v.Hash, Callback: v.Callback, Metadata: v.Metadata, Values: values(v.State.Values)}
	}
	return a
}

// click reads the first action; Slack sends one at a time. Buttons that only
// open a link need no answer.
func (p interaction) click(a *act) bool {
	if len(p.Actions) == 0 {
		return false
	}
	b := p.Actions[0]
	if b.URL != "" || b.Type != "button" && b.Value == "" && len(b.Selected) == 0 {
		return false
	}
	a.Kind, a.Action, a.Block, a.Value = commands.Click, b.Action, b.Block, b.Value
	if len(b.Selected) > 0 {
		a.Value = input{Selected: b.Selected}.text()
	}
	where := a.Room
	if a.View != nil {
		where = a.View.ID
	}
	a.Once = []string{where + "/" + a.Message, a.Action, a.Block + "/", a.User, b.TS}
	return true
}

func (p interaction) modal(a *act, kind commands.Kind) bool {
	if a.View == nil {
		return false
	}
	a.Kind, a.Once = kind, []string{a.View.ID, a.View.Hash + "/"}
	a.opened(p.View.External)
	return true
}

func (p interaction) shortcut(a *act) bool {
	a.Kind, a.Action, a.Once = commands.Shortcut, p.Callback, []string{p.Trigger}
	if p.Message != nil {
		a.Text = p.Message.Text
	}
	return true
}

// opened takes from a modal's external id where the modal was opened: Slack
// itself does not say so when the modal comes back.
func (a *act) opened(external string) {
	if part := strings.Split(external, "|"); len(part) == 3 {
		a.Room, a.Thread = part[1], part[2]
	}
}

// externalID is what opened reads. The mint makes it unique: the same click
// handled again opens no second modal.
func externalID(mint string, a act) string {
	return cut(mint, 100) + "|" + a.Room + "|" + a.Thread
}

// input is one input of a modal, in any of the forms that inputs have.
type input struct {
	Value    string            `json:"value"`
	Selected json.RawMessage   `json:"selected_option"`
	Options  []json.RawMessage `json:"selected_options"`
	User     string            `json:"selected_user"`
	Channel  string            `json:"selected_conversation"`
	Date     string            `json:"selected_date"`
}

func (i input) text() string {
	option := func(raw json.RawMessage) string {
		var o struct {
			Value string `json:"value"`
		}
		if json.Unmarshal(raw, &o) != nil {
			return ""
		}
		return o.Value
	}
	var many []string
	for _, raw := range i.Options {
		many = append(many, option(raw))
	}
	for _, v := range []string{i.Value, option(i.Selected), strings.Join(many, ","), i.User, i.Channel, i.Date} {
		if v != "" {
			return v
		}
	}
	return ""
}

// values flattens a modal's inputs to one text per block.
func values(state map[string]map[string]input) map[string]string {
	out := make(map[string]string, len(state))
	for block, inputs := range state {
		var all []string
		for _, i := range inputs {
			if t := i.text(); t != "" {
				all = append(all, t)
			}
		}
		slices.Sort(all)
		out[block] = strings.Join(all, ",")
	}
	return out
}
