package policy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"reconcilebot/commands"
	"reconcilebot/commands/access"
)

func options(user, command, target string) Options {
	return Options{
		User: user, Command: command, Target: target, Clusters: []string{"production-eu"}, Home: "T1",
		Policy: &access.Policy{
			People: []access.Person{
				{Name: "alice", Slack: "U1ALICE", GitHub: "Alice-A", Kubernetes: []string{"alice@example.com"}},
				{Name: "bob", Slack: "U1BOB"},
			},
			Groups: map[string]access.Group{"owners": {Members: []string{"bob", "alice"}}, "remote": {Slack: "S1"}},
			Rules: []access.Rule{
				{Targets: []string{"*/web"}, See: []string{access.Everyone}, Decide: []string{"alice"}, Approve: access.Approvers{By: []string{"owners"}, Count: 2}},
				{Targets: []string{"*/far"}, Approve: access.Approvers{By: []string{"remote"}, Count: 1}},
			},
		},
	}
}

func TestVerdicts(t *testing.T) {
	guest := func(context.Context, string) (access.Member, error) {
		return access.Member{ID: "U1ALICE", Team: "T1", Guest: true}, nil
	}
	full := func(_ context.Context, id string) (access.Member, error) {
		return access.Member{ID: id, Team: "T1"}, nil
	}
	down := func(context.Context, string) (access.Member, error) { return access.Member{}, errors.New("timeout") }
	for name, tt := range map[string]struct {
		o       Options
		change  func(*Options)
		allowed bool
		says    string // somewhere in the text
	}{
		"by name":                   {options("alice", "adopt", "production-eu/web"), nil, true, "allowed: alice may decide production-eu/web."},
		"by login":                  {options("ALICE-a", "revert", "production-eu/web"), nil, true, "alice may decide"},
		"by Kubernetes user":        {options("alice@example.com", "drift", "web"), nil, true, "rule 1 covers production-eu/web, by */web"},
		"a right by its name":       {options("alice", "pause", "web"), nil, false, "the rule lets nobody pause"},
		"a button":                  {options("bob", "approve", "web"), nil, true, "bob may approve production-eu/web. 2 people have to."},
		"either right is enough":    {options("bob", "decline", "web"), nil, true, "may approve"},
		"neither":                   {options("U9EVE", "decline", "web"), nil, false, "refused: You can't decide about production-eu/web. alice can."},
		"who asked":                 {options("bob", "approve", "web"), func(o *Options) { o.AskedBy = "bob" }, false, "refused: You can't approve this: you asked for it."},
		"who made it":               {options("alice", "approve", "web"), func(o *Options) { o.MadeBy = "alice@example.com" }, false, "you made the change"},
		"somebody else made it":     {options("bob", "approve", "web"), func(o *Options) { o.MadeBy, o.AskedBy = "alice", "alice" }, true, "bob neither asked for it nor made the change"},
		"no rule":                   {options("alice", "drift", "vault"), nil, false, "No rule of the policy covers"},
		"a group nobody can read":   {options("alice", "approve", "far"), nil, false, "unknown  approve: @remote: can't be read"},
		"a guest":                   {options("alice", "adopt", "web"), func(o *Options) { o.Account = guest }, false, "guests don't decide here"},
		"a full member":             {options("alice", "adopt", "web"), func(o *Options) { o.Account = full }, true, "yes      U1ALICE is a full member of workspace T1"},
		"an account nobody can ask": {options("alice", "adopt", "web"), func(o *Options) { o.Account = down }, true, "unknown  whether U1ALICE is a full member of the workspace was not looked up (timeout)"},
		"what takes no right":       {options("alice", "help", "web"), nil, true, "help asks for nothing more"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(&tt.o)
			}
			r, err := Test(t.Context(), tt.o)
			if err != nil || r.Allowed != tt.allowed || !strings.Contains(r.Text(), tt.says) {
				t.Errorf("allowed %v, %v:\n%s\nwant %q", r.Allowed, err, r.Text(), tt.says)
			}
		})
	}
}

func TestMistakesInTheQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Options
		says string
	}{
		"nobody":             {options("alcie", "adopt", "web"), "did you mean alice?"},
		"no command":         {options("alice", "adpot", "web"), "did you mean adopt?"},
		"no cluster":         {options("alice", "adopt", "production-us/web"), "production-eu"},
		"nobody who asked":   {func() Options { o := options("bob", "approve", "web"); o.AskedBy = "eve"; return o }(), "nobody among the people"},
		"nobody who made it": {func() Options { o := options("bob", "approve", "web"); o.MadeBy = "eve"; return o }(), "nobody among the people"},
		"more than a name":   {options("alice", "adopt", "production-eu/argocd/web"), "CLUSTER/NAME"},
	} {
		if _, err := Test(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

// Every command and every button can be asked about.
func TestEveryWordHasARight(t *testing.T) {
	for _, word := range commands.Grantable() {
		if _, ok := commands.Rights(word); !ok {
			t.Errorf("%s can't be asked about", word)
		}
	}
}
