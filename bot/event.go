package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reconcilebot/commands"
)

// errUnknown marks a payload that nobody needs: it is acknowledged and
// forgotten.
var errUnknown = errors.New("of a kind that is not used")

// eventPayload: https://docs.slack.dev/apis/events-api
type eventPayload struct {
	App   string `json:"api_app_id"`
	Team  string `json:"team_id"`
	Event struct {
		Type     string          `json:"type"`
		Subtype  string          `json:"subtype"`
		User     string          `json:"user"`
		Bot      string          `json:"bot_id"`
		Team     string          `json:"team"`
		UserTeam string          `json:"user_team"`
		Source   string          `json:"source_team"`
		Channel  json.RawMessage `json:"channel"`
		Text     string          `json:"text"`
		TS       string          `json:"ts"`
		Thread   string          `json:"thread_ts"`
		Old      string          `json:"old_channel_id"`
		New      string          `json:"new_channel_id"`
	} `json:"event"`
}

// news is what happened in the workspace that is no act of a person.
type news struct {
	Type, Channel, User, Old, New string
}

// readEvent reads a mention as an act and anything else as news. What bots
// say, the bot itself among them, is nobody's act.
func readEvent(raw json.RawMessage, me identity) (act, news, origin, error) {
	var p eventPayload
	if err := json.Unmarshal(raw, &p); err != nil {
		return act{}, news{}, origin{}, fmt.Errorf("read event: %w", err)
	}
	from, e := origin{App: p.App, Team: p.Team}, p.Event
	channel := channelID(e.Channel)
	if e.Type != "app_mention" {
		return act{}, news{Type: e.Type, Channel: channel, User: e.User, Old: e.Old, New: e.New}, from, errUnknown
	}
	if e.Bot != "" || e.Subtype != "" || e.User == "" || e.User == me.User {
		return act{}, news{}, from, errUnknown
	}
	a := act{
		Kind: commands.Mention, User: e.User, Team: firstOf(e.UserTeam, e.Source, e.Team, p.Team), Room: channel,
		Thread: e.Thread, Message: e.TS, Text: withoutName(e.Text, me.User),
		// The message itself, not the event's id: in incidents Slack has
		// delivered one message under several event ids.
		Once: []string{channel, e.TS},
	}
	return a, news{}, from, a.check()
}

// channelID reads a channel that is given by id or as an object.
func channelID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var o ident
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	return o.ID
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// withoutName takes the words after the bot's name, or, if it stands at the
// end, those before it.
func withoutName(text, user string) string {
	start := strings.Index(text, "<@"+user)
	if user == "" || start < 0 {
		return strings.TrimSpace(text)
	}
	_, after, _ := strings.Cut(text[start:], ">")
	if after = strings.TrimSpace(after); after != "" {
		return after
	}
	return strings.TrimSpace(text[:start])
}
