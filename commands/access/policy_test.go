package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// fakeLists are lists that others keep; down ones answer with an error.
type fakeLists struct {
	slack, teams map[string][]string
	owners       []string
	down         error
	asked        int
}

func (f *fakeLists) SlackGroup(_ context.Context, id string) ([]string, error) {
	f.asked++
	return f.slack[id], f.down
}

func (f *fakeLists) Team(_ context.Context, org, team string) ([]string, error) {
	f.asked++
	return f.teams[org+"/"+team], f.down
}

func (f *fakeLists) Owners(context.Context, drift.TargetInfo, []string) ([]string, error) {
	f.asked++
	return f.owners, f.down
}

func target(name string) drift.TargetInfo {
	return drift.TargetInfo{Target: drift.Target{Cluster: "production-eu", Kind: drift.Application, Namespace: "argocd", Name: name}}
}

// policy has a group of every kind, and a rule for each.
func policy(lists Lists) *Policy {
	var people []Person
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		people = append(people, Person{Name: name, Slack: "U" + name, GitHub: strings.ToUpper(name[:1]) + name[1:], Kubernetes: []string{name + "@example.com"}})
	}
	people[3].GitHub = ""
	rule := func(name string, who ...string) Rule {
		return Rule{Targets: []string{"*/" + name}, See: []string{Everyone}, Decide: who, Pause: who, Override: who, Approve: Approvers{By: who, Count: 1}}
	}
	return &Policy{
		People: people,
		Groups: map[string]Group{
			"listed": {Members: []string{"alice", "Ubob"}}, "slacked": {Slack: "S1"}, "team": {GitHub: "acme/payments"},
			"owners": {CodeOwners: true}, "odd": {GitHub: "nothing"}, "ids": {Members: []string{"Ueve"}},
		},
		Rules: []Rule{
			rule("listed", "listed"), rule("slacked", "slacked"), rule("team", "team"), rule("owners", "owners"), rule("odd", "odd"),
			rule("two", "slacked", "carol"), rule("ids", "ids"), rule("nobody"), rule("wrong", Everyone),
		},
		Lists: lists,
	}
}

func (p *Policy) who(id string) state.Person {
	who, _ := p.Person(Member{ID: id, Name: strings.TrimPrefix(id, "U")})
	return who
}

func TestJudge(t *testing.T) {
	there := func() *fakeLists {
		return &fakeLists{
			slack:  map[string][]string{"S1": {"Ualice", "Ueve"}},
			teams:  map[string][]string{"acme/payments": {"carol", "dave"}},
			owners: []string{"dev@example.com", "@BOB", "@acme/payments"},
		}
	}
	down := func() *fakeLists { return &fakeLists{owners: []string{"@acme/payments"}, down: errors.New("timeout")} }
	tests := map[string]struct {
		lists       Lists
		who, target string
		right       Right
		says        string // of the refusal; "" allows
	}{
		"a name in a list":                      {nil, "Ualice", "listed", Approve, ""},
		"an id in a list":                       {nil, "Ubob", "listed", Approve, ""},
		"somebody else":                         {nil, "Ucarol", "listed", Approve, "You can't approve for production-eu/listed. @listed can."},
		"an id that no map knows decides":       {nil, "Ueve", "ids", Decide, ""},
		"and does not approve":                  {nil, "Ueve", "ids", Approve, "does not know you under your other names"},
		"nor override":                          {nil, "Ueve", "ids", Override, "does not know you under your other names"},
		"but pauses":                            {nil, "Ueve", "ids", Pause, ""},
		"in the Slack group":                    {there(), "Ualice", "slacked", Approve, ""},
		"in the Slack group and in no map":      {there(), "Ueve", "slacked", Approve, "nobody could tell whether a change is your own. The people who run reconcilebot can add you. @slacked can."},
		"in no Slack group":                     {there(), "Ubob", "slacked", Decide, "You can't decide about production-eu/slacked. @slacked can."},
		"in the team, whatever the letters":     {there(), "Ucarol", "team", Override, ""},
		"in the team by name but without login": {there(), "Udave", "team", Decide, "@team can."},
		"a code owner":                          {there(), "Ubob", "owners", Approve, ""},
		"a code owner by the team":              {there(), "Ucarol", "owners", Approve, ""},
		"no code owner":                         {there(), "Ualice", "owners", Approve, "the code owners (@owners) can."},
		"a Slack group that can't be read":      {down(), "Ualice", "slacked", Approve, "You can't approve for production-eu/slacked now: who is in @slacked can't be read. Try again in a minute. @slacked can."},
		"a team that can't be read":             {down(), "Ucarol", "team", Decide, "can't be read"},
		"owners that can't be read":             {down(), "Ubob", "owners", Approve, "can't be read"},
		"nothing to read groups with":           {nil, "Ualice", "slacked", Approve, "can't be read"},
		"a team that is none":                   {there(), "Ucarol", "odd", Decide, "can't be read"},
		"one list down, the other names them":   {down(), "Ucarol", "two", Approve, ""},
		"one list down, the other does not":     {down(), "Ubob", "two", Approve, "who is in @slacked can't be read. Try again in a minute. @slacked and carol can."},
		"everyone sees":                         {nil, "Ueve", "nobody", See, ""},
		"an empty list names nobody":            {nil, "Ualice", "nobody", Pause, "The policy names nobody who can"},
		"everyone can't approve":                {nil, "Ualice", "wrong", Approve, "You can't approve for"},
		"everyone can't override":               {nil, "Ualice", "wrong", Override, "You can't override approvals for"},
		"no rule":                               {nil, "Ualice", "vault", See, "No rule of the policy covers production-eu/vault"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := policy(tt.lists)
			v := p.Judge(t.Context(), Question{Who: p.who(tt.who), Right: tt.right, Target: target(tt.target)})
			if tt.says == "" {
				if !v.Allowed() || v.Err() != nil {
					t.Errorf("refused: %v", v.Refusal)
				}
				return
			}
			if fault.Of(v.Err()) != fault.Denied || !strings.Contains(fault.Say(v.Err(), ""), tt.says) {
				t.Errorf("got %q, want it to say %q", fault.Say(v.Err(), ""), tt.says)
			}
			if strings.Contains(fault.Say(v.Err(), ""), "timeout") {
				t.Error("what went wrong inside is told to the person")
			}
		})
	}
}

func TestIndependence(t *testing.T) {
	p := policy(nil)
	made := []Maker{{Kubernetes: "alice@example.com", Evidence: "audit log, 14:02 UTC"}}
	for name, tt := range map[string]struct{ who, asked, says string }{
		"the maker":           {"Ualice", "Ucarol", "You can't approve this: you made the change (audit log, 14:02 UTC). @listed can."},
		"who asked":           {"Ubob", "Ubob", "You can't approve this: you asked for it. @listed can."},
		"somebody else":       {"Ubob", "Ucarol", ""},
		"nobody asked at all": {"Ubob", "", ""},
	} {
		q := Question{Who: p.who(tt.who), Right: Approve, Target: target("listed"), Made: made}
		if tt.asked != "" {
			q.Asked = p.who(tt.asked)
		}
		if got := fault.Say(p.Judge(t.Context(), q).Err(), ""); tt.says != "" && got != tt.says || tt.says == "" && !p.Judge(t.Context(), q).Allowed() {
			t.Errorf("%s: %q, want %q", name, got, tt.says)
		}
		// Making a change takes no right to decide about it.
		q.Right = Decide
		if !p.Judge(t.Context(), q).Allowed() {
			t.Errorf("%s may not decide", name)
		}
	}
}

// What somebody calls himself is no name.
func TestImpostor(t *testing.T) {
	p := policy(nil)
	impostor, mapped := p.Person(Member{ID: "Uevil", Name: "alice"})
	if mapped || p.Judge(t.Context(), Question{Who: impostor, Right: Decide, Target: target("listed")}).Allowed() {
		t.Error("a display name got a right")
	}
	if nobody, mapped := p.Person(Member{}); mapped || p.Judge(t.Context(), Question{Who: nobody, Right: Decide, Target: target("listed")}).Allowed() {
		t.Error("nobody got a right")
	}
}

func TestReasonsAreInOrder(t *testing.T) {
	p := policy(&fakeLists{slack: map[string][]string{"S1": {"Ueve"}}})
	v := p.Judge(t.Context(), Question{Who: p.who("Ubob"), Right: Approve, Target: target("two")})
	want := []Step{
		{Yes, "bob is in the map of people: Slack Ubob, GitHub Bob, Kubernetes bob@example.com"},
		{Yes, "rule 6 covers production-eu/two, by */two"},
		{No, "approve: @slacked: bob is not in the Slack user group S1 of 1"},
		{No, "approve: carol: somebody else"},
		{No, "bob is among those who may approve"},
	}
	if !slices.Equal(v.Steps, want) {
		t.Errorf("the reasons are\n%v\nwant\n%v", v.Steps, want)
	}
}

func TestNames(t *testing.T) {
	p := policy(nil)
	if names, count := p.Approvers("production-eu/argocd/two"); !slices.Equal(names, []string{"@slacked", "carol"}) || count != 1 {
		t.Errorf("approvers are %q, %d", names, count)
	}
	if names, count := p.Approvers("production-eu/argocd/vault"); len(names) != 0 || count != 1 {
		t.Errorf("approvers of what no rule covers are %q, %d", names, count)
	}
	if names, _ := p.Approvers("nonsense"); names != nil {
		t.Errorf("approvers of nothing are %q", names)
	}
	if p.NameOf("bob@example.com") != "bob" || p.NameOf("") != "" || p.NameOf("x") != "" {
		t.Error("Kubernetes users are mixed up")
	}
}

func TestRemembered(t *testing.T) {
	lists := &fakeLists{slack: map[string][]string{"S1": {"Ualice"}}}
	now := time.Date(2026, 3, 14, 14, 0, 0, 0, time.UTC)
	r := Remember(lists, func() time.Time { return now })
	ask := func() []string {
		list, _ := r.SlackGroup(t.Context(), "S1")
		return list
	}
	ask()
	ask()
	if lists.asked != 1 {
		t.Errorf("asked %d times within a minute", lists.asked)
	}
	lists.slack["S1"] = nil
	now = now.Add(Life)
	if got := ask(); len(got) != 0 || lists.asked != 2 {
		t.Errorf("after a minute %q is still in the group", got)
	}
	now, lists.down = now.Add(Life), errors.New("down")
	if _, err := r.Team(t.Context(), "a", "b"); err == nil {
		t.Error("an error was swallowed")
	}
	lists.down, lists.teams = nil, map[string][]string{"a/b": {"x"}}
	if got, err := r.Team(t.Context(), "a", "b"); err != nil || len(got) != 1 {
		t.Errorf("an error was kept: %v", err)
	}
}
