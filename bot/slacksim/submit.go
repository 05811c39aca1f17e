package slacksim

import (
	"context"
	"fmt"
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
	state, bad, err := v.fill(values)
	if err != nil || len(bad) > 0 {
		v.Errors = bad
		s.bump()
		s.mu.Unlock()
		return &Invocation{Errors: bad}, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, v.ID)}
	payload := s.viewPayload("view_submission", u, v, state)
	payload["trigger_id"] = inv.TriggerID
	payload["response_urls"] = []obj{}
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
		"type": kind, "team": obj{"id": s.team.ID, "domain": s.team.Domain}, "user": wireActor(u),
		"enterprise": s.enterprise(), "is_enterprise_install": false,
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
func (v *View) fill(values map[string]string) (state obj, bad map[string]string, err error) {
	state, bad = obj{}, map[string]string{}
	used := map[string]bool{}
	for _, b := range v.Blocks {
		body := decode(b.Raw)
		e, ok := body["element"].(obj)
		if b.Type != "input" || !ok {
			continue
		}
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

// inputValue is an input's state. Untouched inputs keep what they begin with,
// or null.
func inputValue(e obj, typed string, given bool) (obj, error) {
	value := obj{"type": e["type"]}
	if given {
		got, err := valueOf(e, typed)
		if err != nil {
			return nil, err
		}
		for k, x := range got {
			value[k] = x
		}
		return value, nil
	}
	key := valueKey(str(e["type"]))
	value[key] = nil
	for _, initial := range []string{"initial_value", "initial_option", "initial_options", "initial_user", "initial_date"} {
		if e[initial] != nil {
			value[key] = e[initial]
		}
	}
	if value[key] == nil && key == "selected_options" {
		value[key] = []any{}
	}
	return value, nil
}

func valueKey(kind string) string {
	switch kind {
	case "static_select", "radio_buttons", "external_select", "overflow":
		return "selected_option"
	case "checkboxes", "multi_static_select", "multi_external_select":
		return "selected_options"
	case "users_select":
		return "selected_user"
	case "conversations_select":
		return "selected_conversation"
	case "channels_select":
		return "selected_channel"
	case "datepicker":
		return "selected_date"
	case "timepicker":
		return "selected_time"
	}
	return "value"
}

// valueOf is what an element sends for what was typed or chosen.
func valueOf(e obj, typed string) (obj, error) {
	key := valueKey(str(e["type"]))
	switch key {
	case "selected_option":
		o, err := option(e, typed)
		return obj{key: o}, err
	case "selected_options":
		chosen := []any{}
		for _, t := range strings.FieldsFunc(typed, func(r rune) bool { return r == ',' }) {
			o, err := option(e, strings.TrimSpace(t))
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, o)
		}
		return obj{key: chosen}, nil
	}
	if typed == "" {
		return obj{key: nil}, nil
	}
	return obj{key: typed}, nil
}

// option finds an option by value or text.
func option(e obj, wanted string) (any, error) {
	if wanted == "" {
		return nil, nil
	}
	all := list(e["options"])
	for _, g := range list(e["option_groups"]) {
		g, _ := g.(obj)
		all = append(all, list(g["options"])...)
	}
	for _, o := range all {
		o, _ := o.(obj)
		if str(o["value"]) == wanted || textOf(o["text"]) == wanted {
			return o, nil
		}
	}
	return nil, fmt.Errorf("there is no option %q", wanted)
}

// refuse is what Slack's client says before it sends anything.
func refuse(body, e, value obj) string {
	v := value[valueKey(str(e["type"]))]
	text, isText := v.(string)
	empty := v == nil || isText && strings.TrimSpace(text) == "" || len(list(v)) == 0 && !isText && isList(v)
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
	return ""
}

func isList(v any) bool { _, ok := v.([]any); return ok }
