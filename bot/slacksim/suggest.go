package slacksim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"reconcilebot/bot/slacksim/blockkit"
)

// minQuery is how many characters an external select waits for, where the app
// does not say, https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element.
const minQuery = 3

// Choice is an option that an app offers for what a person has typed.
type Choice struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Suggest types into an external select of a message and returns what the app
// offers. Choosing one of them is an Act.
func (p *Place) Suggest(ctx context.Context, messageTS, element, typed string) ([]Choice, error) {
	s := p.sim
	s.mu.Lock()
	u, c, err := p.where()
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	m, err := c.shown(messageTS, u, 0)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	e, err := external(m.everyBlock(), element, typed)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	payload := s.suggestionPayload(u, e, typed)
	s.addMessageContext(payload, messageContext{c, m, e.attachment, u.ID, ""})
	for _, k := range []string{"response_url", "state", "message"} {
		delete(payload, k) // options are offered, nothing else
	}
	s.mu.Unlock()
	return s.suggest(ctx, u, e, parcel{
		kind: kindInteractive, what: "block_suggestion " + str(e.body["action_id"]), user: u.ID, channel: c.ID, payload: payload,
	})
}

// SuggestInView types into an external select of a modal that the person has
// open; an empty view id means the topmost.
func (a *Actor) SuggestInView(ctx context.Context, viewID, element, typed string) ([]Choice, error) {
	s := a.sim
	s.mu.Lock()
	u, v, err := a.viewing(viewID)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	var blocks []placedBlock
	for _, b := range v.Blocks {
		blocks = append(blocks, placedBlock{b, 0})
	}
	e, err := external(blocks, element, typed)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	payload := s.suggestionPayload(u, e, typed)
	payload["container"] = obj{"type": "view", "view_id": v.ID}
	payload["view"] = s.wireView(v, obj{})
	s.mu.Unlock()
	return s.suggest(ctx, u, e, parcel{
		kind: kindInteractive, what: "block_suggestion " + str(e.body["action_id"]), user: u.ID, payload: payload,
	})
}

// external finds an external select by its action id or block id, for which
// enough was typed.
func external(blocks []placedBlock, wanted, typed string) (element, error) {
	for _, e := range placedElements(blocks) {
		kind := str(e.body["type"])
		if kind != "external_select" && kind != "multi_external_select" || wanted != str(e.body["action_id"]) && wanted != e.block {
			continue
		}
		least := minQuery
		if n, ok := e.body["min_query_length"].(float64); ok {
			least = int(n)
		}
		if utf8.RuneCountInString(typed) < least {
			return e, fmt.Errorf("type into %s: Slack asks the app from %d characters on", wanted, least)
		}
		return e, nil
	}
	return element{}, fmt.Errorf("there is no external select %q to type into", wanted)
}

// suggestionPayload is that of https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload.
func (s *Sim) suggestionPayload(u *User, e element, typed string) obj {
	return obj{
		"type": "block_suggestion", "user": wireActor(u), "api_app_id": s.app.ID, "token": "sim", "team": s.installedTeam(),
		"enterprise": s.enterprise(), "is_enterprise_install": s.opts.OrgInstall,
		"action_id": e.body["action_id"], "block_id": e.block, "value": typed,
	}
}

// suggest asks the app and remembers what it offers, so that it can be chosen.
func (s *Sim) suggest(ctx context.Context, u *User, e element, p parcel) ([]Choice, error) {
	log, err := s.deliver(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.what, err)
	}
	options, err := offered(log.Answer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.find(RuleAckPayload, "%s: %v", p.what, err)
		return nil, fmt.Errorf("%s: %w", p.what, err)
	}
	s.offers[offerKey(u.ID, e)] = options
	s.bump()
	choices := []Choice{}
	for _, o := range options {
		o, _ := o.(obj)
		choices = append(choices, Choice{textOf(o["text"]), str(o["value"])})
	}
	return choices, nil
}

// offered reads an acknowledgement's options or option_groups. They must be
// such as a static select could have.
func offered(answer json.RawMessage) ([]any, error) {
	var body obj
	if json.Unmarshal(answer, &body) != nil || body == nil {
		return nil, fmt.Errorf("the acknowledgement holds no options")
	}
	pretend := obj{"type": "static_select"}
	var all []any
	switch {
	case body["options"] != nil:
		all = list(body["options"])
		pretend["options"] = body["options"]
	case body["option_groups"] != nil:
		for _, g := range list(body["option_groups"]) {
			g, _ := g.(obj)
			all = append(all, list(g["options"])...)
		}
		pretend["option_groups"] = body["option_groups"]
	default:
		return nil, fmt.Errorf("the acknowledgement holds neither options nor option_groups")
	}
	if len(all) == 0 {
		return all, nil // nothing fits: Slack shows that
	}
	faults := blockkit.Check([]obj{{"type": "actions", "elements": []any{pretend}}}, blockkit.Message)
	if len(faults) > 0 {
		return nil, fmt.Errorf("the options are refused: %s", faults[0])
	}
	return all, nil
}

func offerKey(user string, e element) string {
	return user + " " + e.block + " " + str(e.body["action_id"])
}

// withOffers is the element with the options that the app has offered to this
// person, if it is one that asks the app.
func (s *Sim) withOffers(user string, e element) element {
	kind := str(e.body["type"])
	if !slices.Contains([]string{"external_select", "multi_external_select"}, kind) {
		return e
	}
	body := obj{}
	for k, v := range e.body {
		body[k] = v
	}
	body["options"] = append([]any{}, s.offers[offerKey(user, e)]...)
	e.body = body
	return e
}
