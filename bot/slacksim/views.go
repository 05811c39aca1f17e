package slacksim

import (
	"fmt"
	"slices"

	"reconcilebot/bot/slacksim/blockkit"
)

// Limits of views, https://docs.slack.dev/surfaces/modals.
const (
	maxViewBytes = 250_000
	maxViewStack = 3
)

// View is a modal or a home tab as a person has it open.
type View struct {
	ID         string  `json:"id"`
	User       string  `json:"user"`
	Type       string  `json:"type"`
	Hash       string  `json:"hash"`
	CallbackID string  `json:"callback_id"`
	ExternalID string  `json:"external_id"`
	Private    string  `json:"private_metadata"`
	Title      string  `json:"title"`
	Submit     string  `json:"submit"`
	Close      string  `json:"close"`
	Blocks     []Block `json:"blocks"`
	RootID     string  `json:"root_view_id"`
	PreviousID string  `json:"previous_view_id"`
	// Errors are those of the last submission, by block id.
	Errors map[string]string `json:"errors,omitempty"`

	body   obj // as the app gave it, with block ids
	notify bool
	clears bool
}

// PlainText is everything a reader sees in the view.
func (v View) PlainText() string { return v.Title + "\n" + blocksText(v.Blocks) }

// Buttons are the view's buttons, without submit and close.
func (v View) Buttons() []Button { return buttons(v.Blocks) }

// parseView reads and checks the view that an app sends.
func (s *Sim) parseView(raw string) (*View, *failure) {
	if len(raw) > maxViewBytes {
		return nil, fail("view_too_large")
	}
	body := decode([]byte(raw))
	if body == nil {
		return nil, fail("invalid_arguments")
	}
	on := blockkit.Surface(str(body["type"]))
	if faults := blockkit.CheckView(body); len(faults) > 0 {
		return nil, refused("invalid_arguments", faults)
	}
	if body["blocks"] == nil {
		body["blocks"] = []any{}
	}
	blocks, f := s.blocks(string(encode(body["blocks"])), on)
	if f != nil {
		f.code = "invalid_arguments"
		return nil, f
	}
	body["blocks"] = blocks
	return &View{
		Type: string(on), CallbackID: str(body["callback_id"]), ExternalID: str(body["external_id"]),
		Private: str(body["private_metadata"]), Title: textOf(body["title"]), Submit: textOf(body["submit"]),
		Close: textOf(body["close"]), Blocks: blocks, body: body,
		notify: body["notify_on_close"] == true, clears: body["clear_on_close"] == true,
	}, nil
}

func viewFault(pointer, what string) *failure {
	return refused("invalid_arguments", []blockkit.Fault{{What: what, Pointer: pointer}})
}

// wire is a view as the app sees it, with the given state.
func (s *Sim) wireView(v *View, state obj) obj {
	o := obj{}
	for k, e := range v.body {
		o[k] = e
	}
	for k, e := range map[string]any{
		"id": v.ID, "team_id": s.team.ID, "app_id": s.app.ID, "app_installed_team_id": s.team.ID, "bot_id": s.app.BotID,
		"hash": v.Hash, "callback_id": v.CallbackID, "external_id": v.ExternalID, "private_metadata": v.Private,
		"root_view_id": v.RootID, "previous_view_id": nilIfEmpty(v.PreviousID), "state": obj{"values": state},
		"clear_on_close": v.clears, "notify_on_close": v.notify,
	} {
		o[k] = e
	}
	return o
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Sim) hash() string { return fmt.Sprintf("%d.%s", s.clock.Now().Unix(), s.secret(8)) }

func viewsOpen(s *Sim, c *call) (obj, *failure) { return s.show(c, false) }

func viewsPush(s *Sim, c *call) (obj, *failure) { return s.show(c, true) }

func (s *Sim) show(c *call, push bool) (obj, *failure) {
	v, f := s.parseView(c.args["view"])
	if f != nil {
		return nil, f
	}
	if v.Type != string(blockkit.Modal) {
		return nil, viewFault("/view/type", "must be modal")
	}
	if v.ExternalID != "" && s.external(v.ExternalID) != nil {
		return nil, fail("duplicate_external_id")
	}
	t, f := s.spend(c.name, c.args["trigger_id"])
	if f != nil {
		return nil, f
	}
	if push && t.view == "" {
		return nil, fail("invalid_trigger_id")
	}
	if f := s.stack(v, t.user, push); f != nil {
		return nil, f
	}
	return obj{"view": s.wireView(v, obj{})}, nil
}

// stack shows a view to a person: over the one that is open, or in its place.
func (s *Sim) stack(v *View, user string, push bool) *failure {
	open := s.modals[user]
	if !push {
		open = nil
	}
	if len(open) >= maxViewStack {
		return fail("push_limit_reached")
	}
	v.ID, v.User, v.Hash = s.id("V"), user, s.hash()
	v.RootID = v.ID
	if len(open) > 0 {
		v.RootID, v.PreviousID = open[0].ID, open[len(open)-1].ID
	}
	s.modals[user] = append(open, v)
	s.inspectContent("view "+v.CallbackID, v.Title, v.Blocks)
	return nil
}

func (s *Sim) external(id string) *View {
	for _, stack := range s.modals {
		for _, v := range stack {
			if v.ExternalID == id {
				return v
			}
		}
	}
	return nil
}

// openView finds a modal by its id.
func (s *Sim) openView(id string) *View {
	for _, stack := range s.modals {
		for _, v := range stack {
			if v.ID == id {
				return v
			}
		}
	}
	for _, v := range s.homes {
		if v.ID == id {
			return v
		}
	}
	return nil
}

func viewsUpdate(s *Sim, c *call) (obj, *failure) {
	old := s.openView(c.args["view_id"])
	if old == nil && c.args["external_id"] != "" {
		old = s.external(c.args["external_id"])
	}
	if old == nil {
		return nil, fail("not_found")
	}
	if h := c.args["hash"]; h != "" && h != old.Hash {
		return nil, fail("hash_conflict")
	}
	v, f := s.parseView(c.args["view"])
	if f != nil {
		return nil, f
	}
	s.replaceView(old, v)
	return obj{"view": s.wireView(old, obj{})}, nil
}

// replaceView changes an open view in place; its id and place stay.
func (s *Sim) replaceView(old, v *View) {
	v.ID, v.User, v.RootID, v.PreviousID, v.Hash = old.ID, old.User, old.RootID, old.PreviousID, s.hash()
	*old = *v
	s.inspectContent("view "+v.CallbackID, v.Title, v.Blocks)
}

func viewsPublish(s *Sim, c *call) (obj, *failure) {
	u := s.users[c.args["user_id"]]
	if u == nil {
		return nil, fail("invalid_arguments")
	}
	if !s.manifest.home() {
		return nil, fail("not_enabled")
	}
	v, f := s.parseView(c.args["view"])
	if f != nil {
		return nil, f
	}
	if v.Type != string(blockkit.Home) {
		return nil, viewFault("/view/type", "must be home")
	}
	if old := s.homes[u.ID]; old != nil {
		if h := c.args["hash"]; h != "" && h != old.Hash {
			return nil, fail("hash_conflict")
		}
		v.ID = old.ID
	} else {
		v.ID = s.id("V")
	}
	v.User, v.RootID, v.Hash = u.ID, v.ID, s.hash()
	s.homes[u.ID] = v
	return obj{"view": s.wireView(v, obj{})}, nil
}

// closeViews takes a view, and what lies over it, from a person's screen.
func (s *Sim) closeViews(v *View, all bool) {
	stack := s.modals[v.User]
	i := slices.IndexFunc(stack, func(o *View) bool { return o.ID == v.ID })
	switch {
	case i < 0:
	case all || i == 0:
		delete(s.modals, v.User)
	default:
		s.modals[v.User] = stack[:i]
	}
}
