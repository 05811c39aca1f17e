package githubsim_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

// TestTheRulesOfABranch reads the same demands from a branch protection, as an
// administrator, and from a ruleset, as anybody.
func TestTheRulesOfABranch(t *testing.T) {
	soon := time.Second
	methods := []string{"merge", "squash", "rebase"}
	for name, tt := range map[string]struct {
		protect githubsim.Protection
		want    forge.Rules
		// ruleset is what a ruleset says differently.
		ruleset func(*forge.Rules)
	}{
		"reviews": {githubsim.Protection{Reviews: 2, CodeOwners: true, DismissStale: true, LastPush: true},
			forge.Rules{Reviews: 2, CodeOwnerReviews: true, Stale: true, LastPush: true, Methods: methods}, nil},
		"checks": {githubsim.Protection{Checks: []string{"b", "a"}, Strict: true},
			forge.Rules{Checks: []string{"a", "b"}, Strict: true, Methods: methods}, nil},
		"linear history": {githubsim.Protection{Linear: true}, forge.Rules{Linear: true, Methods: methods[1:]}, nil},
		"signatures":     {githubsim.Protection{Signed: true}, forge.Rules{Signed: true, Methods: methods}, nil},
		"who may merge": {githubsim.Protection{Pushers: []string{"carol", "@acme/payments", "reconcile"}},
			forge.Rules{Restricted: true, Pushers: []string{"@carol", "@acme/payments", "app reconcile"}, Methods: methods},
			func(r *forge.Rules) { r.Pushers = nil }},
		"a lock": {githubsim.Protection{Locked: true}, forge.Rules{Locked: true, Methods: methods},
			func(r *forge.Rules) { r.Locked, r.Restricted = false, true }},
		"a merge queue": {githubsim.Protection{Queue: &soon, Ruleset: true}, forge.Rules{Queue: true, Methods: methods}, func(*forge.Rules) {}},
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, githubsim.Options{}, tt.protect)
			o.AddUser(githubsim.User{Login: "ada", Token: "ghp_ada"})
			o.AddApp(githubsim.App{Slug: "reconcile", Owner: "acme", Key: &appKey().PublicKey})
			want := tt.want
			want.Protected, want.Readable = true, true
			if want.Checks == nil {
				want.Checks = []string{}
			}
			check := func(who string) {
				t.Helper()
				rules, err := o.client(t, who).Rules(t.Context(), repo, "main")
				if err != nil || !reflect.DeepEqual(rules, want) {
					t.Errorf("%s reads\n%+v, want\n%+v; %v", who, rules, want, err)
				}
			}
			if !tt.protect.Ruleset {
				check("ada")
			}
			tt.protect.Ruleset = true
			if err := o.Protect(gitops, "main", tt.protect); err != nil {
				t.Fatal(err)
			}
			if tt.ruleset != nil {
				tt.ruleset(&want)
			}
			check("bot")
		})
	}
}

func TestTheRulesOfABranchThatIsStillToBeMade(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	err := o.Demand(gitops, "reconcile/", githubsim.Demand{Signed: true, NoCreate: true, Patterns: []githubsim.Pattern{
		{Type: "branch_name_pattern", Operator: "regex", Pattern: "^[a-z/]+$"},
		{Type: "committer_email_pattern", Operator: "ends_with", Pattern: "@example.com", Negate: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := o.client(t, "bot").HeadRules(t.Context(), repo, "reconcile/INC-1/web")
	if err != nil || !rules.Signed || !rules.NoCreate || len(rules.Patterns) != 2 {
		t.Fatalf("rules = %+v, %v", rules, err)
	}
	if fits, known := rules.Patterns[0].Allows("reconcile/INC-1/web"); fits || !known {
		t.Errorf("%s: fits %v, known %v", rules.Patterns[0], fits, known)
	}
	if fits, _ := rules.Patterns[1].Allows("bot@example.org"); !fits || rules.Patterns[1].String() != `must not end with "@example.com"` {
		t.Errorf("%s: fits %v", rules.Patterns[1], fits)
	}
	if rules, err := o.client(t, "bot").HeadRules(t.Context(), repo, "other"); err != nil || !reflect.DeepEqual(rules, forge.Rules{Readable: true}) {
		t.Errorf("another branch: %+v, %v", rules, err)
	}
	dir := o.clone(t, "bot")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	for start, want := range map[string]string{"reconcile/": "creations being restricted", "signed/": "verified signatures"} {
		if start == "signed/" {
			if err := o.Demand(gitops, start, githubsim.Demand{Signed: true}); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := try(dir, "push", "origin", "HEAD:refs/heads/"+start+"x"); err == nil || !strings.Contains(out, want) {
			t.Errorf("push to %sx: %v, %s", start, err, out)
		}
	}
	git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/free")
}

// TestWhatKeepsAMergeAway sees each rule enforced, and said.
func TestWhatKeepsAMergeAway(t *testing.T) {
	for name, tt := range map[string]struct {
		protect githubsim.Protection
		do      func(office, forge.PR) error
		want    string
	}{
		"a lock":      {githubsim.Protection{Locked: true}, nil, "rules are not met"},
		"a signature": {githubsim.Protection{Signed: true}, nil, "rules are not met"},
		"others only": {githubsim.Protection{Pushers: []string{"carol"}}, nil, "not authorized to push"},
		"who pushed last": {githubsim.Protection{Reviews: 1, LastPush: true, Ruleset: true}, func(o office, _ forge.PR) error {
			if _, err := o.Commit(gitops, "hotfix", githubsim.Change{Author: "bob", Message: "more", Files: map[string]string{"a": "1"}}); err != nil {
				return err
			}
			return o.Review(gitops, 1, "bob", "APPROVE")
		}, "rules are not met"},
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, githubsim.Options{}, tt.protect)
			pr := o.propose(t, "replicas: 6\n")
			if tt.do != nil {
				if err := tt.do(o, pr); err != nil {
					t.Fatal(err)
				}
			}
			bot := o.client(t, "bot")
			now, err := bot.Progress(t.Context(), repo, pr.Number)
			if err != nil {
				t.Fatal(err)
			}
			_, merged, why, err := bot.Merge(t.Context(), repo, pr.Number, forge.MergeRequest{HeadSHA: now.PR.HeadSHA, Method: "merge"})
			if err != nil || merged || !strings.Contains(why, tt.want) {
				t.Errorf("merged %v, %q, %v; want %q", merged, why, err, tt.want)
			}
		})
	}
}

func TestOwnersByFile(t *testing.T) {
	rules := []byte("* @acme/all\n/prod/ @acme/prod me@example.com\n/prod/free/\n")
	got := forge.OwnerSets(rules, []string{"prod/a.yaml", "prod/free/b.yaml", "x.yaml", "prod/c.yaml"})
	want := [][]string{{"@acme/prod", "me@example.com"}, {"@acme/all"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("owners = %q, want %q", got, want)
	}
}
