package slacksim

import (
	"context"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// OpenView is the topmost modal that the person has open, or nil.
func (a *Actor) OpenView() *View { return a.sim.View(a.user) }

// View is the topmost modal that a person has open, or nil.
func (s *Sim) View(user string) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(user)
	if u == nil || len(s.modals[u.ID]) == 0 {
		return nil
	}
	stack := s.modals[u.ID]
	v := *stack[len(stack)-1]
	return &v
}

// Submit fills the inputs of a modal and submits it. Values are named by block
// id, action id or label; options by value or text, several by commas. What
// Slack's client itself refuses (required, too short, too long) is in Errors
// and never reaches the app; so are the app's own errors. An empty view id
// means the topmost.
func (a *Actor) Submit(ctx context.Context, viewID string, values map[string]string) (*Invocation, error) {
	s := a.sim
	s.mu.Lock()
	u, v, err := a.viewing(viewID)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	state, bad, err := s.fill(v, values)
	if err != nil || len(bad) > 0 {
		v.Errors = bad
		s.bump()
		s.mu.Unlock()
		return &Invocation{Errors: bad}, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, v.ID)}
	payload := s.viewPayload("view_submission", u, v, state)
	payload["trigger_id"] = inv.TriggerID
	payload["response_urls"] = s.responseURLs(u, v, state)
	s.mu.Unlock()

	err = s.invoke(ctx, inv, parcel{kind: kindInteractive, what: "view_submission " + v.CallbackID, user: u.ID, payload: payload})
	if err != nil {
		return inv, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bump()
	inv.Errors, err = s.respond(v, inv.Answer)
	if err != nil {
		s.find(RuleAckPayload, "%v", err)
		return inv, fmt.Errorf("we had some trouble connecting: %w", err)
	}
	return inv, nil
}

func (s *Sim) viewPayload(kind string, u *User, v *View, state obj) obj {
	return obj{
		"type": kind, "team": s.installedTeam(), "user": wireActor(u),
		"enterprise": s.enterprise(), "is_enterprise_install": s.opts.OrgInstall,
		"api_app_id": s.app.ID, "token": "sim", "view": s.wireView(v, state),
	}
}

// CloseView closes a modal. The app hears of it when it asked to.
func (a *Actor) CloseView(ctx context.Context, viewID string) (*Invocation, error) {
	s := a.sim
	s.mu.Lock()
	u, v, err := a.viewing(viewID)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.closeViews(v, v.clears)
	s.bump()
	inv := &Invocation{}
	payload := s.viewPayload("view_closed", u, v, obj{})
	payload["is_cleared"] = v.clears
	s.mu.Unlock()
	if !v.notify {
		return inv, nil
	}
	return inv, s.invoke(ctx, inv, parcel{kind: kindInteractive, what: "view_closed " + v.CallbackID, user: u.ID, payload: payload})
}

// fill makes the state of a view from what the person typed, with the errors
// that Slack's client shows by itself.
func (s *Sim) fill(v *View, values map[string]string) (state obj, bad map[string]string, err error) {
	state, bad = obj{}, map[string]string{}
	used := map[string]bool{}
	for _, b := range v.Blocks {
		body := decode(b.Raw)
		e, ok := body["element"].(obj)
		if b.Type != "input" || !ok {
			continue
		}
		e = s.withOffers(v.User, element{block: b.ID, body: e}).body
		action := str(e["action_id"])
		typed, given := "", false
		for _, name := range []string{b.ID, action, textOf(body["label"])} {
			if t, ok := values[name]; ok {
				typed, given, used[name] = t, true, true
			}
		}
		value, err := inputValue(e, typed, given)
		if err != nil {
			return nil, nil, fmt.Errorf("fill %s: %w", textOf(body["label"]), err)
		}
		if msg := refuse(body, e, value); msg != "" {
			bad[b.ID] = msg
		}
		state[b.ID] = obj{action: value}
	}
	for name := range values {
		if !used[name] {
			return nil, nil, fmt.Errorf("view %s has no input %q", v.Title, name)
		}
	}
	return state, bad, nil
}

// refuse is what Slack's client says before it sends anything.
func refuse(body, e, value obj) string {
	v := value[valueKey(str(e["type"]))]
	text, isText := v.(string)
	l, isList := v.([]any)
	empty := v == nil || isText && strings.TrimSpace(text) == "" || isList && len(l) == 0
	n := utf8.RuneCountInString(text)
	least, _ := e["min_length"].(float64)
	most, limited := e["max_length"].(float64)
	switch {
	case empty && body["optional"] != true:
		return "Please complete this required field."
	case isText && !empty && n < int(least):
		return fmt.Sprintf("Please enter at least %d characters.", int(least))
	case isText && limited && n > int(most):
		return fmt.Sprintf("Please enter at most %d characters.", int(most))
	}
	return malformed(str(e["type"]), e, text)
}

// malformed is what the client says of numbers, addresses and links.
func malformed(kind string, e obj, text string) string {
	if text == "" {
		return ""
	}
	switch kind {
	case "number_input":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || e["is_decimal_allowed"] != true && strings.ContainsAny(text, ".eE") {
			return "Please enter a valid number."
		}
		if least, err := strconv.ParseFloat(str(e["min_value"]), 64); err == nil && n < least {
			return "Please enter a number of at least " + str(e["min_value"]) + "."
		}
		if most, err := strconv.ParseFloat(str(e["max_value"]), 64); err == nil && n > most {
			return "Please enter a number of at most " + str(e["max_value"]) + "."
		}
	case "email_text_input":
		if _, err := mail.ParseAddress(text); err != nil {
			return "Please enter a valid email address."
		}
	case "url_text_input":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" {
			return "Please enter a valid URL."
		}
	}
	return ""
}
