package book

import (
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// ask decides to change something, and goes on.
func (w *world) ask(t *testing.T, object string, sets ...string) state.Reconciliation {
	t.Helper()
	var list []Wish
	for _, text := range sets {
		one, err := ParseWish(object, text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if _, err := w.engine.Decide(id, Change, state.Decision{By: alice, Reason: "the queue needs more pods", Delivery: "d", Choice: Wishes(list)}); err != nil {
		t.Fatal(err)
	}
	return w.advance(t)
}

func (w *world) wish(t *testing.T, sets ...string) Plan {
	t.Helper()
	r := w.ask(t, "deployment/web", sets...)
	plan, ok := PlanIn(r)
	if !ok {
		t.Fatalf("no plan: %+v", r.Failure)
	}
	return plan
}

func TestAChangeGoesThroughGit(t *testing.T) {
	w := newWorld(t)
	w.live = 3
	w.open(t)
	plan := w.wish(t, "replicas=6")
	if c := plan.Seen.Drift.Changes[0]; c.Path.String() != "spec.replicas" || c.UID != "u-1" || c.Op != manifest.Set {
		t.Errorf("change = %+v", c)
	}
	if n := plan.Needs; n.Approvals != 1 || n.Disown || len(n.Excluded) != 1 || n.Excluded[0].Why != "asked for it" {
		t.Errorf("needs = %+v", n)
	}
	if plan.Tried != "the API server takes it, as a dry run shows" || len(w.tries) != 1 || w.tries[0] != `Deployment payments/web {"spec":{"replicas":6}}` {
		t.Errorf("tried %q: %q", w.tries, plan.Tried)
	}
	r := w.approve(t, plan.Digest, bob)
	pr := w.host.Pulls("acme/gitops")[0]
	for _, want := range []string{"Emergency change for `INC-1234`: this takes `spec.replicas` of Deployment `payments/web` from `3` to `6` in `eu`. Nothing was changed by hand",
		"| Why now | the queue needs more pods |", "| Needed by | 14:32 UTC, from @\u200bacme/payments |", "| API server | the API server takes it", "makes Argo CD apply it"} {
		if !strings.Contains(pr.Body, want) {
			t.Errorf("the pull request does not say %q:\n%s", want, pr.Body)
		}
	}
	if strings.Contains(pr.Body, "by hand from") || strings.Contains(pr.Body, "| Made |") {
		t.Errorf("it says that somebody made it by hand:\n%s", pr.Body)
	}
	if len(pr.Labels) != 2 || pr.Labels[1] != "expedited" {
		t.Errorf("labels %q", pr.Labels)
	}
	push, _ := PushedIn(r)
	history, err := w.repo.History(t.Context(), push.SHA, "prod/web.yaml", 1)
	if err != nil || history[0].Trailers["Operator"] != "" || history[0].Trailers["Requested-by"] != "alice" {
		t.Errorf("commit %+v, %v", history, err)
	}
	w.allow(t)
	if r = w.finish(t); r.Outcome != "changed" || w.live != 6 || w.syncs != 1 {
		t.Errorf("ended %q %+v with %d replicas after %d syncs", r.Outcome, r.Failure, w.live, w.syncs)
	}
	if s, _ := SyncedIn(r); !s.Needed {
		t.Errorf("synced = %+v", s)
	}
}

func TestWhatIsAskedForIsRefusedWithItsReason(t *testing.T) {
	for name, c := range map[string]struct{ object, set, say string }{
		"the API server's validation": {"deploy/web", "spec.replicas=-1", "The API server would not take this, so it isn't proposed.\nDeployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1"},
		"another kind of value":       {"deployment/web", "spec.replicas=many", `spec.replicas is a number in Git (3), and "many" is a text`},
		"a whole map":                 {"deployment/web", "spec.replicas={a: 1}", "to a single value only"},
		"Git has it":                  {"deployment/web", "spec.replicas=3", "at 3 already"},
		"no such object":              {"deployment/wob", "spec.replicas=4", "Git has no deployment/wob for this target. It has deployment/web."},
		"another namespace":           {"deployment/billing/web", "spec.replicas=4", "Git has no deployment/billing/web"},
		"its name":                    {"deployment/web", "metadata.name=wub", "another object"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.live = 3
			w.open(t)
			r := w.ask(t, c.object, c.set)
			if r.Failure == nil || !strings.Contains(r.Failure.Say, c.say) {
				t.Errorf("failure = %+v, want %q", r.Failure, c.say)
			}
			if len(w.host.Pulls("acme/gitops")) != 0 {
				t.Error("a pull request was opened")
			}
		})
	}
}

// Without the right to it, the change is proposed untried, which is said.
func TestWhereADryRunIsNotAllowedItIsSaid(t *testing.T) {
	w := newWorld(t)
	w.live, w.denied = 3, &cluster.Denied{What: "try"}
	w.open(t)
	if plan := w.wish(t, "image=web:2"); plan.Tried != "not tried: reconcilebot has no right to a dry run of Deployment" || plan.Seen.Drift.Changes[0].Path.String() != "spec.template.spec.containers[name=web].image" {
		t.Errorf("tried %q, %+v", plan.Tried, plan.Seen.Drift.Changes)
	}
}

func TestAnEmergencyHasADeadline(t *testing.T) {
	w := newWorld(t)
	w.live = 3
	w.open(t)
	r := w.approve(t, w.wish(t, "spec.replicas=6").Digest, bob)
	if !strings.Contains(r.Wait.Why, "by 14:32 UTC") {
		t.Errorf("it waits %q", r.Wait.Why)
	}
	w.pass(31 * time.Minute)
	if r = w.advance(t); r.Failure == nil || !strings.Contains(r.Failure.Say, "not merged in time (30m0s)") {
		t.Errorf("%+v %+v", r.Wait, r.Failure)
	}
}

// Other changes made by hand would be undone by the sync that follows, also
// where nothing is synced automatically: they are asked about first.
func TestAChangeDoesNotEraseWhatOthersDid(t *testing.T) {
	w := newWorld(t)
	w.live = 5
	w.open(t)
	w.approve(t, w.wish(t, "image=web:2").Digest, bob)
	w.allow(t)
	r := w.advance(t)
	if r.Wait == nil || len(r.Wait.Asks) != 1 || !strings.Contains(r.Wait.Asks[0].Text, "spec.replicas of Deployment web, 5 → 3") {
		t.Fatalf("%+v %+v", r.Wait, r.Failure)
	}
}

func TestParseWish(t *testing.T) {
	for text, want := range map[string]Wish{
		"spec.replicas=6": {"d/w", "spec.replicas", "6"},
		"spec.template.spec.containers[name=web].image=web:1=x": {"d/w", "spec.template.spec.containers[name=web].image", "web:1=x"},
		`metadata.annotations["a=b"]=c`:                         {"d/w", `metadata.annotations["a=b"]`, "c"},
		"data.EMPTY=":                                           {"d/w", "data.EMPTY", ""},
	} {
		if got, err := ParseWish("d/w", text); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "=6", "spec.replicas", "a[b=c]", "a..b=1"} {
		if got, err := ParseWish("d/w", text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
