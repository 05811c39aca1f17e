package scenario

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/cmd/lab/world"
)

// The ways in which a change by hand ends. Each brings about the event that
// the card's outlook named, and looks what the controller does.

// untilCommit is a change that stands, and that the next commit undoes.
func untilCommit(t *story, s spot) {
	t.still(s)
	t.commitsBeside()
	t.is(s, s.git)
}

// outlivesCommit is one that stands, and goes on standing after a commit and
// a sync.
func outlivesCommit(t *story, s spot) {
	t.still(s)
	t.commitsBeside()
	t.syncs()
	t.still(s)
}

// untilSync is one that a commit leaves and a sync undoes: automated sync is
// off.
func untilSync(t *story, s spot) {
	t.still(s)
	t.commitsBeside()
	t.still(s)
	t.syncs()
	t.is(s, s.git)
}

// undoneAlready is one that is undone already.
func undoneAlready(t *story, s spot) { t.is(s, s.git) }

// stands is one that nobody touches.
func stands(t *story, s spot) { t.still(s) }

// untilLook is one that is undone as soon as Argo CD looks at the branch.
func untilLook(t *story, s spot) {
	t.still(s)
	t.refreshes()
	t.is(s, s.git)
}

// untilGone is an object that the next commit prunes.
func untilGone(t *story, s spot) {
	t.still(s)
	t.commitsBeside()
	t.do("it is pruned", func(ctx context.Context) error { return t.rig.Kube.UntilGone(ctx, s.object(t.world)) })
}

// untilBack is an object that was deleted, and that the next commit brings
// back.
func untilBack(t *story, s spot) {
	t.do("it is away", func(ctx context.Context) error { return t.rig.Kube.UntilGone(ctx, s.object(t.world)) })
	t.commitsBeside()
	t.is(s, s.git)
}

// lands puts a commit on main that touches nothing of the application, as any
// other team's would. Nobody tells Argo CD.
func (t *story) lands() {
	t.do("an unrelated commit", func(context.Context) error {
		_, err := t.rig.Git.Commit(t.world, world.Platform, "Say where the runbooks are", map[string]string{"docs/runbooks.md": "They are in the wiki.\n"})
		return err
	})
}

// refreshes has Argo CD look at the branch, as its webhook would.
func (t *story) refreshes() {
	t.do("Argo CD looks", func(ctx context.Context) error {
		return t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`)
	})
}

// commitsBeside lands an unrelated commit and waits until Argo CD compares with it.
func (t *story) commitsBeside() {
	var before string
	t.do("what Argo CD compares with", func(ctx context.Context) error {
		app, err := t.rig.Kube.Get(ctx, t.world.ApplicationObject())
		if err == nil {
			before = comparedWith(app)
		}
		return err
	})
	t.lands()
	t.refreshes()
	t.do("Argo CD has seen the commit", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "compared with the new commit", func(app *unstructured.Unstructured) bool {
			return comparedWith(app) != before
		})
		return err
	})
}

func comparedWith(app *unstructured.Unstructured) string {
	revision, _, _ := unstructured.NestedString(app.Object, "status", "sync", "revision")
	return revision
}

// syncs asks for a sync, as somebody would in Argo CD's UI, and waits for its
// end.
func (t *story) syncs() {
	t.do("a sync", func(ctx context.Context) error {
		o := t.world.ApplicationObject()
		name := fmt.Sprintf("by hand %d", len(t.stages))
		patch := fmt.Sprintf(`{"operation":{"info":[{"name":"sync","value":%q}],"sync":{"syncStrategy":{"hook":{}}}}}`, name)
		if err := t.rig.Kube.Merge(ctx, o, patch); err != nil {
			return err
		}
		_, err := t.rig.Kube.Until(ctx, o, "synced as asked for", func(app *unstructured.Unstructured) bool {
			phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
			infos, _, _ := unstructured.NestedSlice(app.Object, "status", "operationState", "operation", "info")
			return phase == "Succeeded" && fmt.Sprint(infos) == fmt.Sprintf("[map[name:sync value:%s]]", name)
		})
		return err
	})
}

// What is given before a change.

// selfHeal switches self-heal on.
func selfHeal(t *story) { t.heals() }

// syncOff switches automated sync off.
func syncOff(t *story) {
	t.do("automated sync off", func(ctx context.Context) error {
		return t.policy(ctx, t.world.App, `{"automated":null}`)
	})
}

// pruneOff switches pruning off.
func pruneOff(t *story) {
	t.do("pruning off", func(ctx context.Context) error {
		return t.policy(ctx, t.world.App, `{"automated":{"prune":false}}`)
	})
}

// pins has the Application follow a commit instead of a branch.
func pins(t *story) {
	t.do("pinned to a commit", func(ctx context.Context) error {
		app, err := t.rig.Kube.Get(ctx, t.world.ApplicationObject())
		if err != nil {
			return err
		}
		at := comparedWith(app)
		if err := t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), fmt.Sprintf(`{"spec":{"source":{"targetRevision":%q}}}`, at)); err != nil {
			return err
		}
		// The sync policy counts from the last sync of the same source.
		_, err = t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "compared as pinned", func(app *unstructured.Unstructured) bool {
			revision, _, _ := unstructured.NestedString(app.Object, "status", "sync", "comparedTo", "source", "targetRevision")
			return revision == at && world.InOrder(app)
		})
		return err
	})
	// Until the source has been synced, any difference starts a sync.
	t.syncs()
}

// applied puts objects into the cluster that no Git has, as an administrator.
func applied(text string) func(*story) {
	return func(t *story) {
		t.do("what is in the cluster", func(ctx context.Context) error {
			return t.rig.Kube.Apply(ctx, t.world.Fill(text))
		})
	}
}

// inGitToo commits files to the application's folder and waits for the sync.
func inGitToo(files map[string]string) func(*story) {
	return func(t *story) {
		t.do("in Git, too", func(ctx context.Context) error {
			filled := map[string]string{}
			for name, text := range files {
				filled[t.world.Folder()+"/"+name] = t.world.Fill(text)
			}
			_, err := t.rig.Git.Commit(t.world, world.AppOwner, "Deploy more", filled)
			return err
		})
		t.refreshes()
		t.do("synced", func(ctx context.Context) error {
			_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "Synced and Healthy with all files", func(app *unstructured.Unstructured) bool {
				resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
				return world.InOrder(app) && world.Attempted(app) && len(resources) == 3+len(files)
			})
			return err
		})
	}
}
