package commands

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// Whoever is not a full member, and wherever others listen, nothing happens:
// no command but help, no button, no form.
func TestWhoMayNot(t *testing.T) {
	tests := map[string]struct {
		change func(r *rig, req *Request)
		says   string
	}{
		"a guest":                  {member_(func(m *Member) { m.Guest = true }), "guests"},
		"a bot":                    {member_(func(m *Member) { m.Bot = true }), "bots"},
		"a deactivated account":    {member_(func(m *Member) { m.Deleted = true }), "deactivated"},
		"a stranger":               {member_(func(m *Member) { m.Stranger = true }), "another organisation"},
		"a member of another team": {member_(func(m *Member) { m.Team = "T0EXT" }), "another organisation"},
		"a team that differs":      {func(_ *rig, req *Request) { req.Team = "T0EXT" }, "members of the workspace"},
		"a bot without a team":     {func(r *rig, _ *Request) { r.Team = "" }, "members of the workspace"},
		"nobody":                   {func(_ *rig, req *Request) { req.User = "" }, "members of the workspace"},
		"an answer on another one": {member_(func(m *Member) { m.ID = "Ubob" }), "does not know"},
		"an unknown account":       {func(_ *rig, req *Request) { req.User = "U404" }, "can't check who you are"},
		"a directory that is down": {func(r *rig, _ *Request) { r.dir.down = errors.New("timeout") }, "can't check who you are"},
		"a channel shared outside": {func(r *rig, _ *Request) { r.dir.rooms["C1"] = RoomInfo{IsMember: true, ExtShared: true} }, "Another organisation can read"},
		"an archived channel":      {func(r *rig, _ *Request) { r.dir.rooms["C1"] = RoomInfo{IsMember: true, Archived: true} }, "archived"},
		"a channel without me":     {func(r *rig, _ *Request) { r.dir.rooms["C1"] = RoomInfo{} }, "Invite me"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := opened(t)
			before := r.run("payments-web")
			var asked []Request
			for _, row := range table() {
				if row.who == access.Anyone {
					continue
				}
				for _, example := range row.examples {
					req := r.request(Slash, "alice")
					req.Text = example
					asked = append(asked, req)
				}
			}
			for action := range rightsOf() {
				req := r.request(Click, "alice")
				req.Action, req.Value = action, r.shown()
				asked = append(asked, req)
				req = r.request(Submit, "alice")
				req.View = View{Callback: card.CallbackReason, Metadata: card.Carry(before.ID, r.drift().Digest, action), Values: map[string]string{card.BlockReason: "x"}}
				asked = append(asked, req)
			}
			asked = append(asked, r.request(Shortcut, "alice"))
			for _, req := range asked {
				tt.change(r, &req)
				reply, err := r.Handle(t.Context(), req)
				if err != nil || reply.Modal != nil || reply.Public != nil || !strings.Contains(said(reply), tt.says) {
					t.Errorf("%s %q %q: %q, %v, want %q", req.Kind, req.Text, req.Action, said(reply), err, tt.says)
				}
			}
			if after := r.run("payments-web"); after.Rev != before.Rev {
				t.Error("something happened all the same")
			}
		})
	}
}

func member_(change func(*Member)) func(*rig, *Request) {
	return func(r *rig, req *Request) {
		m := Member{ID: "Ualice", Team: team, Name: "alice"}
		change(&m)
		r.dir.members[req.User] = m
	}
}

// The books ask the same rules.
var _ = book.Config{Policy: (*access.Policy)(nil)}

func TestPolicy(t *testing.T) {
	p := policy()
	tests := map[string]struct {
		who, target string
		what        access.Right
		says        string
	}{
		"everyone sees":                  {"eve", "payments-web", access.See, ""},
		"a group decides":                {"alice", "payments-web", access.Decide, ""},
		"a person decides":               {"carol", "payments-web", access.Decide, ""},
		"others don't":                   {"dave", "payments-web", access.Decide, "You can't decide about production-eu/payments-web. @payments-owners and carol can."},
		"the first rule holds":           {"dave", "payments-worker", access.Decide, "You can't decide"},
		"a second rule":                  {"dave", "ledger-api", access.Decide, ""},
		"not seen by others":             {"alice", "ledger-api", access.See, "You can't see production-eu/ledger-api. dave can."},
		"no rule, nobody":                {"carol", "vault", access.See, "No rule of the policy covers production-eu/vault"},
		"a name in Slack is no name":     {"eve", "payments-web", access.Approve, "@payments-owners and @platform can."},
		"approval by the second group":   {"carol", "payments-web", access.Approve, ""},
		"deciding is not approving":      {"dave", "ledger-api", access.Approve, "You can't approve for production-eu/ledger-api. @platform can."},
		"a pattern does not cross slash": {"dave", "x/ledger-api", access.See, "No rule"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			who, _ := p.Person(Member{ID: "U" + tt.who, Name: tt.who})
			err := p.Judge(t.Context(), access.Question{Who: who, Right: tt.what, Target: drift.TargetInfo{Target: target(tt.target)}}).Err()
			if tt.says == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if fault.Of(err) != fault.Denied || !strings.Contains(fault.Say(err, ""), tt.says) {
				t.Errorf("got %v, want it to say %q", err, tt.says)
			}
		})
	}
}

// A policy that lets nobody do anything is a policy: no row and no button
// gets around it.
func TestEveryRowIsGuarded(t *testing.T) {
	r := opened(t)
	before := r.run("payments-web")
	r.Access.Rules = nil
	for _, row := range table() {
		for _, example := range row.examples {
			if _, what, err := parse(table(), example, ""); err != nil || what.about() == "" {
				continue
			}
			r.wants(r.types("carol", example), "No rule of the policy covers production-eu/payments-web")
		}
	}
	for action := range rightsOf() {
		r.wants(r.clicks("carol", action, r.shown()), "No rule of the policy covers production-eu/payments-web")
	}
	r.wants(r.types("carol", "drift all"), "none is out of sync")
	for _, text := range []string{"status", "summary"} {
		if got := said(r.types("carol", text)); strings.Contains(got, "payments-web") {
			t.Errorf("%s tells of a target that nobody may see: %q", text, got)
		}
	}
	if after := r.run("payments-web"); after.Rev != before.Rev {
		t.Error("something happened all the same")
	}
}

// What comes back from Slack is not believed.
func TestForgedButtons(t *testing.T) {
	r := opened(t)
	run := r.run("payments-web")
	r.submits("alice", r.clicks("alice", card.ActionAdopt, r.shown()), "slow")
	for name, tt := range map[string]struct{ action, value, says string }{
		"an unknown id":         {card.ActionApprove, card.Carry("r-404", "plan-adopt"), "belongs to nothing"},
		"no value":              {card.ActionApprove, "", "belongs to nothing"},
		"another plan's digest": {card.ActionApprove, card.Carry(run.ID, "plan-other"), "The plan changed"},
		"no digest":             {card.ActionApprove, card.Carry(run.ID, ""), "The plan changed"},
		"an unknown action":     {"drop-everything", card.Carry(run.ID, "plan-adopt"), "older version"},
		"a decision too late":   {card.ActionRevert, card.Carry(run.ID, r.drift().Digest), "already chose to adopt"},
		"leaving under way":     {card.ActionLeave, card.Carry(run.ID, "plan-adopt"), "under way"},
		"again under way":       {card.ActionAgain, card.Carry(run.ID, "plan-adopt"), "under way"},
	} {
		if got := said(r.clicks("bob", tt.action, tt.value)); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q, want %q", name, got, tt.says)
		}
	}
	forwarded := r.request(Click, "bob")
	forwarded.Room, forwarded.Action, forwarded.Value = "C2", card.ActionApprove, card.Carry(run.ID, "plan-adopt")
	r.wants(r.does(forwarded), "in the incident's own channel only")
	for name, view := range map[string]View{
		"an unknown form":       {Callback: "other"},
		"a form for a click":    {Callback: card.CallbackReason, Metadata: card.Carry(run.ID, "plan-adopt", card.ActionApprove)},
		"a form for nothing":    {Callback: card.CallbackReason, Metadata: card.Carry(run.ID, "plan-adopt", "drop")},
		"a form without reason": {Callback: card.CallbackReason, Metadata: card.Carry(run.ID, "plan-adopt", card.ActionDecline), Values: map[string]string{card.BlockReason: " "}},
	} {
		req := r.request(Submit, "bob")
		if view.Values == nil {
			view.Values = map[string]string{card.BlockReason: "x"}
		}
		req.View = view
		if got := said(r.does(req)); got == "" {
			t.Errorf("%s: it was taken", name)
		}
	}
	if run = r.run("payments-web"); len(run.Votes) != 0 || run.Book != book.Adopt {
		t.Errorf("something happened all the same: %+v", run.Votes)
	}
}

func TestRightsAreCheckedWhenTheFormIsSent(t *testing.T) {
	r := opened(t)
	modal := r.clicks("alice", card.ActionAdopt, r.shown())
	r.Access.Groups = map[string]access.Group{"payments-owners": {Members: []string{"bob"}}, "platform": {}}
	r.wants(r.submits("alice", modal, "slow"), "You can't decide about")
	if r.run("payments-web").Decided() {
		t.Error("decided without the right")
	}
}

func TestDenialsAreWrittenDown(t *testing.T) {
	r := opened(t)
	r.clicks("dave", card.ActionLeave, r.shown())
	entries, err := r.DB.Journal("")
	if err != nil || !slices.ContainsFunc(entries, func(e state.Entry) bool { return e.Kind == "denied" && e.By.ID == "Udave" }) {
		t.Errorf("the journal has no denial: %v", err)
	}
	if err := state.Verify(entries); err != nil {
		t.Error(err)
	}
}
