package book

import (
	"context"
	"fmt"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
)

// Foreign gives a function that says what keeps a target from being
// reconciled, in sentences, whoever made it so: pauses of others are found,
// not only ours. ours is true for a target that has a pause of ours.
func Foreign(clusters map[string]Cluster) func(ctx context.Context, t drift.Target, ours bool) ([]string, error) {
	return func(ctx context.Context, t drift.Target, ours bool) ([]string, error) {
		c, ok := clusters[t.Cluster]
		if !ok || t.Kind != drift.Application {
			return nil, nil
		}
		app, err := c.Argo.App(ctx, ref(t))
		if err != nil {
			return nil, err
		}
		list := holding(ctx, c, app)
		if ours {
			return list, nil
		}
		why, err := switchedOff(ctx, c, t, app)
		if err != nil || why == "" {
			return list, err
		}
		return append(list, why), nil
	}
}

// holding finds what holds an Application back whatever its sync policy says.
func holding(ctx context.Context, c Cluster, app argocd.App) (list []string) {
	if app.Skipped {
		list = append(list, "The annotation argocd.argoproj.io/skip-reconcile keeps Argo CD from looking at it at all, so its status may be old.")
	}
	// Windows that can't be read are no pause that could be told of.
	if windows, err := c.Argo.SyncWindows(ctx, app.Ref); err == nil {
		if why, blocked := windows.Blocks(); blocked && app.Automated.Enabled {
			list = append(list, "Automated syncs are held back: "+why+".")
		}
	}
	return list
}

// switchedOff tells whether somebody switched automated sync off by hand. That
// it is off is not enough: many are never synced automatically. What tells is
// the field that only switches off, or that Git has the policy.
func switchedOff(ctx context.Context, c Cluster, t drift.Target, app argocd.App) (string, error) {
	switch {
	case app.Automated.Enabled:
		return "", nil
	case app.Automated.Present:
		return "Somebody switched its automated sync off (automated.enabled is false)" + lastHand(ctx, c, app) + ".", nil
	}
	s := &systems{}
	up, err := s.above(ctx, c, t, app, "")
	if err != nil || up.app.Name == "" {
		return "", err
	}
	declared, err := c.Argo.Declared(ctx, up.app.Ref, app.Ref)
	if isA[*argocd.Undeclared](err) || err == nil && !declared.Automated.Enabled {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Somebody switched its automated sync off: Git has it on, by Application %s%s.", up.app.Name, lastHand(ctx, c, app)), nil
}

// lastHand names who last wrote to an Application, if Argo CD's trail, which
// goes back an hour, names anybody.
func lastHand(ctx context.Context, c Cluster, app argocd.App) string {
	events, err := c.Argo.Events(ctx, app.Ref)
	if err != nil {
		return ""
	}
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.User != "" {
			return fmt.Sprintf("; %s wrote to it last, at %s (Argo CD's events)", e.User, e.At.Format("15:04 UTC"))
		}
	}
	return ""
}
