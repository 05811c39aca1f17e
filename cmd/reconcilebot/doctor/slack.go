package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Slack is what is needed to look at a workspace.
type Slack struct {
	// API is the base address, with a slash at its end.
	API                string
	AppToken, BotToken func() (string, error)
	// Team is the workspace that the config names, or "".
	Team string
	// Scopes are those that the bot needs.
	Scopes []string
	// People maps the names in the config to Slack's ids.
	People map[string]string
	// Listen is where the bot here answers probes, or "".
	Listen string
	HTTP   *http.Client
}

const (
	slackArea area = "slack"
	maxAnswer      = 1 << 20
	// remake is the way to a new installation of the app.
	remake = "paste the output of `reconcilebot manifest` as the app's manifest at api.slack.com/apps, and reinstall the app"
)

// Checks lists what to look at.
func (s Slack) Checks() []Check {
	return []Check{s.bot, s.socket, s.connections, s.people}
}

// slackAnswer is the part of the answers that is read.
type slackAnswer struct {
	OK     bool   `json:"ok"`
	Error  string `json:"error"`
	Team   string `json:"team"`
	TeamID string `json:"team_id"`
	URL    string `json:"url"`
	User   json.RawMessage
}

// call asks one method. Tokens travel in the header only.
func (s Slack) call(ctx context.Context, token func() (string, error), method string, form url.Values) (a slackAnswer, scopes string, err error) {
	secret, err := token()
	if err != nil {
		return a, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.API+method, strings.NewReader(form.Encode()))
	if err != nil {
		return a, "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return a, "", err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return a, "", err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, "", fmt.Errorf("HTTP %s, which is not Slack's answer; is slack.api right?", resp.Status)
	}
	if !a.OK {
		return a, "", slackError(a.Error)
	}
	return a, resp.Header.Get("X-OAuth-Scopes"), nil
}

// slackError is one of Slack's error words.
type slackError string

func (e slackError) Error() string { return "Slack answers " + string(e) }

// bot looks at the bot token, the workspace and the scopes.
func (s Slack) bot(ctx context.Context) []Finding {
	who, scopes, err := s.call(ctx, s.BotToken, "auth.test", nil)
	if err != nil {
		return []Finding{slackArea.fail("bot token", tokenCure(err, "copy the Bot User OAuth Token from OAuth & Permissions"), "%s", reason(ctx, err))}
	}
	found := []Finding{slackArea.ok("bot token", "works in %s (%s)", who.Team, who.TeamID)}
	if s.Team != "" && s.Team != who.TeamID {
		found[0] = slackArea.fail("bot token", "correct slack.team, or use that workspace's token", "belongs to %s (%s), but slack.team is %s", who.Team, who.TeamID, s.Team)
	}
	var missing []string
	has := strings.Split(strings.ReplaceAll(scopes, " ", ""), ",")
	for _, scope := range s.Scopes {
		if !slices.Contains(has, scope) {
			missing = append(missing, scope)
		}
	}
	switch {
	case scopes == "":
		return append(found, slackArea.warn("scopes", "", "Slack did not say which the token has"))
	case len(missing) > 0:
		return append(found, slackArea.fail("scopes", remake, "missing: %s", strings.Join(missing, ", ")))
	}
	return append(found, slackArea.ok("scopes", "all %d are there", len(s.Scopes)))
}

// socket asks for an address to connect to, and does not use it.
func (s Slack) socket(ctx context.Context) []Finding {
	if _, _, err := s.call(ctx, s.AppToken, "apps.connections.open", nil); err != nil {
		return []Finding{slackArea.fail("app token", tokenCure(err, "create an app-level token with the scope connections:write under Basic Information"), "%s", reason(ctx, err))}
	}
	return []Finding{slackArea.ok("app token", "opens connections")}
}

func tokenCure(err error, renew string) string {
	var word slackError
	switch {
	case !errors.As(err, &word):
		return "check that this machine reaches slack.api, also through its proxy"
	case word == "ratelimited":
		return "wait a minute and look again"
	case word == "missing_scope":
		return remake
	}
	return renew
}

// people looks whether everybody in the config is a full member.
func (s Slack) people(ctx context.Context) []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(s.People)) {
		a, _, err := s.call(ctx, s.BotToken, "users.info", url.Values{"user": {s.People[name]}})
		var word slackError
		switch {
		case errors.As(err, &word) && (word == "user_not_found" || word == "user_not_visible"):
			found = append(found, slackArea.fail("people", "copy the member id from the profile in Slack", "%s: there is no %s in this workspace", name, s.People[name]))
		case err != nil:
			// The same would go wrong for everybody else.
			return append(found, slackArea.fail("people", tokenCure(err, "mend the bot token first"), "%s", reason(ctx, err)))
		default:
			found = append(found, member(name, a.User)...)
		}
	}
	if len(found) == 0 {
		return []Finding{slackArea.ok("people", "all %d are full members", len(s.People))}
	}
	return found
}

// member finds what keeps a user from having a say.
func member(name string, raw json.RawMessage) []Finding {
	var u struct {
		Deleted     bool `json:"deleted"`
		Bot         bool `json:"is_bot"`
		Guest       bool `json:"is_restricted"`
		SingleGuest bool `json:"is_ultra_restricted"`
		Stranger    bool `json:"is_stranger"`
	}
	what := ""
	switch err := json.Unmarshal(raw, &u); {
	case err != nil:
		what = "not readable in Slack's answer"
	case u.Deleted:
		what = "deactivated"
	case u.Bot:
		what = "a bot"
	case u.Guest || u.SingleGuest:
		what = "a guest"
	case u.Stranger:
		what = "of another workspace"
	default:
		return nil
	}
	return []Finding{slackArea.warn("people", "take the entry out of the config, or have a full member's account in it", "%s is %s, and can neither decide nor approve", name, what)}
}
