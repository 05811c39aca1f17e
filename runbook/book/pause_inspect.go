package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// inspect looks before anything is touched: what is there, what differs, and
// whether a pause will hold.
type inspect struct{ *systems }

func (inspect) ID() state.StepID { return inspected.Step }

func (s inspect) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	found, err := s.inspect(ctx, r)
	switch {
	case err != nil:
		return s.outcome(r, s.ID(), "look at "+r.Target, err)
	case found.Moot != "":
		return inspected.Done(found).Ending(Moot)
	case found.Hold.Undone:
		return inspected.Done(found).Ending(WouldNotHold)
	}
	return inspected.Done(found)
}

func (s inspect) inspect(ctx context.Context, r state.Reconciliation) (Inspected, error) {
	found := Inspected{At: s.Now().UTC()}
	t, c, err := s.target(r)
	if err != nil {
		return found, err
	}
	app, err := c.Argo.App(ctx, ref(t))
	if err != nil {
		return found, err
	}
	if found.Moot = moot(app); found.Moot != "" {
		return found, nil
	}
	version, err := c.Argo.Version(ctx)
	if err != nil {
		return found, err
	}
	if err := s.chain(ctx, c, t, app, version, r.Pause.Parents, &found); err != nil {
		return found, err
	}
	// The pause must not fail because what differs can't be said: it is most
	// needed when things are broken.
	found.Before, err = c.Survey.Survey(ctx, t)
	if err != nil {
		found.Before = drift.Drift{Target: t, Revision: app.Sync.Revision, Sync: app.Sync.Status, Health: app.Health, Refused: explainBriefly(err), SeenAt: found.At}
	}
	return found, nil
}

// moot says why there is nothing to pause; empty if there is.
func moot(app argocd.App) string {
	switch {
	case app.Skipped:
		return "An annotation (argocd.argoproj.io/skip-reconcile) keeps Argo CD from looking at it at all. That is not of this pause's making, and stays."
	case app.Automated.Present && !app.Automated.Enabled:
		return "Somebody switched its automated sync off already (automated.enabled is false). That is not of this pause's making, and stays."
	case !app.Automated.Enabled:
		return "Its automated sync is off, so nothing is undone until somebody syncs it."
	}
	return ""
}

// chain says what has to be switched off for the pause to hold: the target,
// and as many of what is above as would undo it and as may be.
func (s inspect) chain(ctx context.Context, c Cluster, t drift.Target, app argocd.App, version string, may []string, found *Inspected) error {
	for {
		layer, err := layerOf(t, app, version)
		if err != nil {
			return err
		}
		found.Layers = append([]Layer{layer}, found.Layers...)
		above, err := s.above(ctx, c, t, app, version)
		if err != nil {
			return err
		}
		h := above.hold
		if len(found.Layers) > 1 && !h.Undone {
			h.Why = fmt.Sprintf("%s is paused with it. %s", found.Layers[0].Target.Name, h.Why)
		}
		found.Hold = h
		again := h.Parent != nil && slices.ContainsFunc(found.Layers, func(l Layer) bool { return l.Target == *h.Parent })
		if !h.Undone || h.Parent == nil || again || !slices.Contains(may, h.Parent.String()) {
			return nil
		}
		t, app = *h.Parent, above.app
	}
}

func layerOf(t drift.Target, app argocd.App, version string) (Layer, error) {
	paused, err := argocd.Off(version, app.AutomatedRaw())
	if err != nil {
		return Layer{}, err
	}
	var meta struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			Generation      int64  `json:"generation"`
		} `json:"metadata"`
	}
	// Only for the record: an Application without them is paused as well.
	_ = json.Unmarshal(app.Raw, &meta)
	return Layer{
		Target: t, Policy: app.SyncPolicy(), Automated: app.AutomatedRaw(), Paused: paused,
		ResourceVersion: meta.Metadata.ResourceVersion, Generation: meta.Metadata.Generation,
	}, nil
}
