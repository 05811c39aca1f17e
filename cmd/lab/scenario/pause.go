package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
)

// pauseScenarios are those of pausing and resuming.
func pauseScenarios() []Scenario {
	return []Scenario{
		{Name: "runbook-pause-holds", Does: "a paused target keeps a manual change although self-heal is on; resuming asks first and puts the policy back exactly", play: pauseHolds},
		{Name: "runbook-pause-then-adopt", Does: "what is changed during a pause is taken into Git; then resuming undoes nothing and asks nobody", play: pauseThenAdopt},
		{Name: "runbook-pause-ends", Does: "a pause with nothing changed ends by itself", play: pauseEnds},
		{Name: "runbook-pause-asks", Does: "a pause that ends over a manual change asks, asks louder, and stays until the change is gone", play: pauseAsks},
		{Name: "runbook-pause-extended", Does: "an extended pause ends later, and what was asked before is void", play: pauseExtended},
		{Name: "runbook-pause-undone", Does: "a pause that somebody ends in Argo CD is said to be over, and left as they made it", play: pauseUndone},
		{Name: "runbook-pause-parent", Does: "under an app of apps that heals, it is said beforehand that a pause would not hold; with the parent it does", play: pauseParent},
		{Name: "runbook-pause-by-others", Does: "a pause that is not the bot's is shown, and not called its own", play: pauseByOthers},
		{Name: "runbook-pause-for-a-merge", Does: "a merge waits where it would undo another target's manual change, and passes when that is paused", play: pauseForAMerge},
		{Name: "runbook-pause-killed", Does: "a pause whose end comes while the bot is dead ends after the restart", Alone: true, play: pauseKilled},
		{Name: "runbook-pause-git-down", Does: "a pause is had, and taken back, while the Git host is away", Alone: true, play: pauseGitDown},
	}
}

// heals makes the Application heal by itself, as its team would.
func (t *story) heals() {
	t.do("self-heal on", func(ctx context.Context) error {
		if err := t.policy(ctx, t.world.App, `{"automated":{"prune":true,"selfHeal":true},"retry":{"limit":3}}`); err != nil {
			return err
		}
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "Synced with self-heal on", func(app *unstructured.Unstructured) bool {
			heal, _, _ := unstructured.NestedBool(app.Object, "spec", "syncPolicy", "automated", "selfHeal")
			return heal && world.InOrder(app)
		})
		return err
	})
}

// policy writes an Application's sync policy, as an administrator does.
func (t *story) policy(ctx context.Context, app, policy string) error {
	return t.rig.Kube.Merge(ctx, systems.Object{Kind: "Application", Namespace: "argocd", Name: app}, fmt.Sprintf(`{"spec":{"syncPolicy":%s}}`, policy))
}

// policyOf reads it.
func (t *story) policyOf(ctx context.Context, app string) (string, error) {
	obj, err := t.rig.Kube.Get(ctx, systems.Object{Kind: "Application", Namespace: "argocd", Name: app})
	if err != nil {
		return "", err
	}
	policy, _, err := unstructured.NestedMap(obj.Object, "spec", "syncPolicy")
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(policy) // keys in order: equal texts are equal policies
	return string(raw), err
}

// policyIs checks that a policy is what it was, in all its parts.
func (t *story) policyIs(app, want string) {
	t.do("the sync policy of "+app+" is what it was", func(ctx context.Context) error {
		got, err := t.policyOf(ctx, app)
		if err == nil && got != want {
			err = fmt.Errorf("it is %s, was %s", got, want)
		}
		return err
	})
}

// pauses asks for a pause, and waits for what its card says.
func (t *story) pauses(words string, says ...string) {
	t.do("pause", func(ctx context.Context) error {
		_, err := t.as(world.OnCall).Slash(ctx, "/reconcile pause "+t.world.App+" "+words)
		return err
	})
	t.do("the pause's card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the pause's card, which says "+strings.Join(says, ", "), func(m slacksim.Message) bool {
			return has(m, append([]string{t.world.App}, says...)...)
		})
		return err
	})
}

// shows waits until the card that the story looks at says something.
func (t *story) shows(what string, says ...string) {
	t.do(what, func(ctx context.Context) error {
		found, err := t.see(ctx, "the card, which says "+strings.Join(says, ", "), func(m slacksim.Message) bool {
			return m.TS == t.card.TS && has(m, says...)
		})
		if err == nil {
			t.card = found
		}
		return err
	})
}

// said waits for a message in a thread, or anywhere.
func (t *story) said(what string, says ...string) {
	t.do(what, func(ctx context.Context) error {
		_, err := t.see(ctx, strings.Join(says, ", "), func(m slacksim.Message) bool { return has(m, says...) })
		return err
	})
}

// types sends a command as the on-call engineer.
func (t *story) types(stage, words string) {
	t.do(stage, func(ctx context.Context) error {
		_, err := t.as(world.OnCall).Slash(ctx, "/reconcile "+words)
		return err
	})
}

func (t *story) presses(person, button string) {
	t.do(button, func(ctx context.Context) error { return t.press(ctx, person, button) })
}

func (t *story) stands(want int64) {
	t.do(fmt.Sprintf("%d replicas", want), func(ctx context.Context) error { return t.replicas(ctx, want) })
}

const paused = "need to hold replicas while the queue drains"

func pauseHolds(t *story) {
	t.heals()
	before := t.remembers(t.world.App)
	t.pauses("5m because "+paused, "left, ends", "Holds  yes", paused, "would undo nothing")
	t.scaled()
	t.drifts()
	t.shows("the card sees the change", "would undo 1 change (spec.replicas 6 → 3)")
	t.stands(6)
	t.types("status", "status "+t.world.App)
	t.do("the status", func(ctx context.Context) error {
		return t.told(ctx, world.OnCall, "the pause in the status", "paused by alice", paused)
	})
	t.types("resume", "resume "+t.world.App+" because the queue is empty")
	t.shows("the question", "alice wants to resume", "6 → 3", "1 approval")
	t.do("the author's yes does not count", func(ctx context.Context) error {
		if err := t.press(ctx, world.OnCall, "Resume and undo"); err != nil {
			return err
		}
		return t.told(ctx, world.OnCall, "the refusal", "can't approve this")
	})
	t.stands(6)
	t.presses(world.AppOwner, "Resume and undo")
	t.shows("resumed", "resumed", "exactly what it was", "agreed by bob", "Synced")
	t.stands(3)
	t.policyIs(t.world.App, *before)
}

// remembers reads a policy now, for later.
func (t *story) remembers(app string) *string {
	var policy string
	t.do("the sync policy before", func(ctx context.Context) (err error) {
		policy, err = t.policyOf(ctx, app)
		return err
	})
	return &policy
}

func pauseThenAdopt(t *story) {
	t.heals()
	before := t.remembers(t.world.App)
	t.pauses("5m because "+paused, "left, ends", "Holds  yes")
	pause := t.card
	t.scaled()
	t.drifts()
	t.further++
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.recorded("adopted into Git", reason)
	t.do("the merged commit counts as synced", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "last synced at the revision it is compared with", world.Attempted)
		return err
	})
	t.card = pause
	t.presses(world.OnCall, "Resume now")
	t.shows("resumed", "resumed", "exactly what it was", "Undone by it  nothing; 1 commit landed meanwhile")
	t.stands(6)
	t.policyIs(t.world.App, *before)
}

func pauseEnds(t *story) {
	before := t.remembers(t.world.App)
	t.pauses("12s because "+paused, "left, ends", "Holds  yes")
	t.said("the reminder", "this pause ends at")
	t.shows("resumed", "resumed", "its time was over", "exactly what it was")
	t.policyIs(t.world.App, *before)
}

func pauseAsks(t *story) {
	t.heals()
	before := t.remembers(t.world.App)
	t.pauses("12s because "+paused, "left, ends", "Holds  yes")
	t.scaled()
	t.shows("the question", "The pause ended", "Is this to be undone?", "6 → 3")
	t.said("the question, again and louder", "Still paused, and still no answer")
	t.stands(6)
	t.do("bob keeps it paused", func(ctx context.Context) error {
		return t.asked(ctx, world.AppOwner, "Keep it paused", "Why not?", "the queue is not empty")
	})
	t.said("that he does", "bob keeps it paused", "the queue is not empty")
	t.do("alice undoes it by hand", func(ctx context.Context) error {
		return t.kubectl(ctx, world.OnCall, "scale", "deployment/"+t.world.App, "--replicas=3")
	})
	t.shows("resumed", "resumed", "exactly what it was")
	t.policyIs(t.world.App, *before)
}

func pauseExtended(t *story) {
	t.heals()
	before := t.remembers(t.world.App)
	t.pauses("10s because "+paused, "left, ends", "Holds  yes")
	t.scaled()
	t.shows("the question", "The pause ended", "6 → 3")
	t.presses(world.OnCall, "Extend by 30 min")
	t.shows("paused again", "min left, ends", "extended by alice", "would undo 1 change")
	t.stands(6)
	t.presses(world.AppOwner, "Resume now")
	t.shows("the question, anew", "bob wants to resume", "6 → 3")
	t.presses(world.Platform, "Resume and undo")
	t.shows("resumed", "resumed", "exactly what it was", "agreed by carol")
	t.stands(3)
	t.policyIs(t.world.App, *before)
}

func pauseUndone(t *story) {
	t.pauses("5m because "+paused, "left, ends", "Holds  yes")
	t.do("somebody switches it on again", func(ctx context.Context) error {
		return t.policy(ctx, t.world.App, `{"automated":{"selfHeal":true}}`)
	})
	t.said("that it is over", "this is not paused any more", "on again")
	t.shows("the record", "not paused any more", "left as somebody else made it")
	t.do("it is left as they made it", func(ctx context.Context) error {
		got, err := t.policyOf(ctx, t.world.App)
		if err == nil && !strings.Contains(got, `"selfHeal":true`) {
			err = fmt.Errorf("the sync policy is %s", got)
		}
		return err
	})
}

// parent puts the Application into Git, under an app of apps that heals.
func (t *story) parent() (name string) {
	name = t.world.App + "-apps"
	t.do("an app of apps", func(ctx context.Context) error {
		url := t.rig.Git.URL(t.world)
		if _, err := t.rig.Git.Commit(t.world, world.Platform, "Put the Application into Git", map[string]string{"apps/web.yaml": t.world.Application(url)}); err != nil {
			return err
		}
		text := strings.NewReplacer(
			"name: "+t.world.App+", namespace", "name: "+name+", namespace", t.world.Folder(), "apps",
			"namespace: "+t.world.Namespace()+"}", "namespace: argocd}", "selfHeal: false", "selfHeal: true",
		).Replace(t.world.Application(url))
		if err := t.rig.Kube.Apply(ctx, text); err != nil {
			return err
		}
		for _, o := range []systems.Object{{Kind: "Application", Namespace: "argocd", Name: name}, t.world.ApplicationObject()} {
			if _, err := t.rig.Kube.Until(ctx, o, "Synced and Healthy", world.InOrder); err != nil {
				return err
			}
		}
		return nil
	})
	return name
}

func pauseParent(t *story) {
	name := t.parent()
	before, above := t.remembers(t.world.App), t.remembers(name)
	t.pauses("5m because "+paused, "would not hold", "would undo it within seconds", "RespectIgnoreDifferences=true", "with parents")
	t.policyIs(t.world.App, *before)
	t.further++
	t.pauses("5m with parents because "+paused, "left, ends", "Holds  yes", name+" is paused with it")
	t.scaled()
	t.drifts()
	t.types("resume", "resume "+t.world.App)
	// Self-heal is off, but the commit that brought the Application into Git
	// was never synced: with that, everything is.
	t.shows("the question", "alice wants to resume", "6 → 3")
	t.presses(world.AppOwner, "Resume and undo")
	t.shows("resumed", "resumed", "exactly what it was", "automated sync of "+t.world.App+" and "+name)
	t.stands(3)
	t.policyIs(t.world.App, *before)
	t.policyIs(name, *above)
}

func pauseByOthers(t *story) {
	name := t.parent()
	t.do("somebody else pauses", func(ctx context.Context) error {
		if err := t.policy(ctx, name, `{"automated":null}`); err != nil {
			return err
		}
		return t.policy(ctx, t.world.App, `{"automated":null}`)
	})
	t.types("status", "status "+t.world.App)
	t.do("it is shown", func(ctx context.Context) error {
		return t.told(ctx, world.OnCall, "the other's pause", "Not by reconcilebot", "Git has it on, by Application "+name)
	})
	t.pauses("5m because "+paused, "nothing to pause")
}

// pauseForAMerge has a second Application on the same branch, with a change by
// hand of its own.
func pauseForAMerge(t *story) {
	other := t.world.App + "-two"
	t.do("a second Application on the branch", func(ctx context.Context) error {
		url, file := t.rig.Git.URL(t.world), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {POOL: \"20\"}\n", other)
		if _, err := t.rig.Git.Commit(t.world, world.Platform, "A second Application", map[string]string{"two/settings.yaml": file}); err != nil {
			return err
		}
		text := strings.NewReplacer("name: "+t.world.App+", namespace", "name: "+other+", namespace", t.world.Folder(), "two").Replace(t.world.Application(url))
		if err := t.rig.Kube.Apply(ctx, text); err != nil {
			return err
		}
		_, err := t.rig.Kube.Until(ctx, systems.Object{Kind: "Application", Namespace: "argocd", Name: other}, "Synced and Healthy", world.InOrder)
		return err
	})
	t.do("it is changed by hand", func(ctx context.Context) error {
		if err := t.kubectl(ctx, world.AppOwner, "patch", "configmap/"+other, "--type=merge", "-p", `{"data":{"POOL":"40"}}`); err != nil {
			return err
		}
		_, err := t.rig.Kube.Until(ctx, systems.Object{Kind: "Application", Namespace: "argocd", Name: other}, "OutOfSync", world.OutOfSync)
		return err
	})
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.shows("the merge waits", "not merged yet", other, "20", "40")
	t.further++
	t.types("pause the other", "pause "+other+" 5m because the merge must not undo it")
	t.recorded("adopted into Git", reason)
	t.do("the other's change stands", func(ctx context.Context) error {
		obj, err := t.rig.Kube.Get(ctx, systems.Object{Kind: "ConfigMap", Namespace: t.world.Namespace(), Name: other})
		if err != nil {
			return err
		}
		if pool, _, _ := unstructured.NestedString(obj.Object, "data", "POOL"); pool != "40" {
			return fmt.Errorf("POOL is %q", pool)
		}
		return nil
	})
}

func pauseKilled(t *story) {
	before := t.remembers(t.world.App)
	t.pauses("15s because "+paused, "left, ends", "Holds  yes")
	t.do("kill -9", func(context.Context) error { t.rig.KillBot(); return nil })
	t.do("start again", t.rig.Bot.Start)
	t.shows("resumed", "resumed", "its time was over", "exactly what it was")
	t.policyIs(t.world.App, *before)
}

func pauseGitDown(t *story) {
	t.heals()
	before := t.remembers(t.world.App)
	t.do("the Git host goes away", func(context.Context) error { t.rig.Git.SetDown(true); return nil })
	t.pauses("5m because "+paused, "left, ends")
	t.scaled()
	t.stands(6)
	t.do("the Git host is back", func(context.Context) error { t.rig.Git.SetDown(false); return nil })
	t.shows("the card sees the change", "would undo 1 change")
	t.types("resume", "resume "+t.world.App)
	t.shows("the question", "alice wants to resume", "6 → 3")
	t.presses(world.AppOwner, "Resume and undo")
	t.shows("resumed", "resumed", "exactly what it was", "without Argo CD's validation")
	t.policyIs(t.world.App, *before)
}
