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
	for name, initial := range e {
		if strings.HasPrefix(name, "initial_") && initial != nil {
			value[key] = initial
		}
	}
	if value[key] == nil && several(key) {
		value[key] = []any{}
	}
	return value, nil
}

// valueKey is the field of a state in which a kind of element has its value,
// https://docs.slack.dev/reference/views.
func valueKey(kind string) string {
	switch kind {
	case "static_select", "radio_buttons", "external_select", "overflow":
		return "selected_option"
	case "checkboxes", "multi_static_select", "multi_external_select":
		return "selected_options"
	case "users_select":
		return "selected_user"
	case "multi_users_select":
		return "selected_users"
	case "conversations_select":
		return "selected_conversation"
	case "multi_conversations_select":
		return "selected_conversations"
	case "channels_select":
		return "selected_channel"
	case "multi_channels_select":
		return "selected_channels"
	case "datepicker":
		return "selected_date"
	case "timepicker":
		return "selected_time"
	case "datetimepicker":
		return "selected_date_time"
	case "rich_text_input":
		return "rich_text_value"
	case "file_input":
		return "files"
	}
	return "value"
}

// several tells whether a field of a state holds a list.
func several(key string) bool {
	return strings.HasPrefix(key, "selected_") && strings.HasSuffix(key, "s") || key == "files"
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
	case "selected_date_time":
		return dateTime(typed)
	case "rich_text_value":
		return obj{key: richText(typed)}, nil
	}
	if several(key) {
		return obj{key: words(typed)}, nil
	}
	if typed == "" {
		return obj{key: nil}, nil
	}
	return obj{key: typed}, nil
}

// words are the entries of a list that was typed with commas.
func words(typed string) []any {
	out := []any{}
	for _, w := range strings.FieldsFunc(typed, func(r rune) bool { return r == ',' }) {
		out = append(out, strings.TrimSpace(w))
	}
	return out
}

// dateTime is seconds since 1970, as the element sends them.
func dateTime(typed string) (obj, error) {
	if typed == "" {
		return obj{"selected_date_time": nil}, nil
	}
	n, err := strconv.ParseInt(typed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("a date and time is given in seconds since 1970, not as %q", typed)
	}
	return obj{"selected_date_time": n}, nil
}

// richText is what the composer of a rich text input makes of plain words.
func richText(typed string) any {
	if typed == "" {
		return nil
	}
	return obj{"type": "rich_text", "elements": []any{
		obj{"type": "rich_text_section", "elements": []any{obj{"type": "text", "text": typed}}},
	}}
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
