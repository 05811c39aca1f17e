package book

import (
	"strings"
	"testing"

	"reconcilebot/runbook/forge/githubsim"
	"reconcilebot/state"
)

// TestARuleThatNobodyHereCanMeet: what can never be merged is said before
// people vote, and nothing is pushed.
func TestARuleThatNobodyHereCanMeet(t *testing.T) {
	for name, tt := range map[string]struct {
		protect *githubsim.Protection
		demand  *githubsim.Demand
		say     string
	}{
		"unsigned commits on the branch":     {&githubsim.Protection{Signed: true, Ruleset: true}, nil, "its commits must be signed"},
		"unsigned commits on our own branch": {nil, &githubsim.Demand{Signed: true}, "must be signed"},
		"no new branches":                    {nil, &githubsim.Demand{NoCreate: true}, "may create a branch named reconcile/"},
		"another name": {nil, &githubsim.Demand{Patterns: []githubsim.Pattern{{Type: "branch_name_pattern", Operator: "starts_with", Pattern: "hotfix/"}}},
			`must begin with "hotfix/"`},
		"another way to write a message": {nil, &githubsim.Demand{Patterns: []githubsim.Pattern{{Type: "commit_message_pattern", Operator: "starts_with", Pattern: "JIRA-"}}},
			`a commit's message must begin with "JIRA-"`},
		"another address": {nil, &githubsim.Demand{Patterns: []githubsim.Pattern{{Type: "commit_author_email_pattern", Operator: "ends_with", Pattern: "@acme.com"}}},
			`address bot@example.com must end with "@acme.com"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.protect != nil {
				if err := w.host.Protect("acme/gitops", "main", *tt.protect); err != nil {
					t.Fatal(err)
				}
			}
			if tt.demand != nil {
				if err := w.host.Demand("acme/gitops", "reconcile/", *tt.demand); err != nil {
					t.Fatal(err)
				}
			}
			w.open(t)
			if _, err := w.engine.Decide(id, Adopt, state.Decision{By: alice, Reason: "queue", Delivery: "d"}); err != nil {
				t.Fatal(err)
			}
			r := w.advance(t)
			if r.Failure == nil || !strings.Contains(r.Failure.Say, tt.say) || !strings.Contains(r.Failure.Say, "nothing was pushed") {
				t.Errorf("failure = %+v, want it to say %q", r.Failure, tt.say)
			}
		})
	}
}
