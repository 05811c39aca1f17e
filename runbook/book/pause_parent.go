package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
)

// above is what made an Application, and what it does to a pause of that.
type above struct {
	hold Hold
	// app is the parent, if it is an Application.
	app argocd.App
}

// What would keep a parent from undoing a pause, as it is written.
const (
	setRemedy = "in %s, spec.ignoreApplicationDifferences: [{jsonPointers: [/spec/syncPolicy/automated]}]; or a deny window in the AppProject"
	appRemedy = "in %s, spec.ignoreDifferences for argoproj.io Application with jsonPointers [/spec/syncPolicy/automated] and syncOptions [RespectIgnoreDifferences=true]; or pausing %[1]s as well: the same words with `with parents` before `because`"
)

// above says whether what made the Application lets a pause of it stand. The
// rules are those of Argo CD's own controllers:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Controlling-Resource-Modification/
// https://argo-cd.readthedocs.io/en/stable/operator-manual/cluster-bootstrapping/#ignoring-differences-in-child-applications
func (s *systems) above(ctx context.Context, c Cluster, t drift.Target, app argocd.App, version string) (above, error) {
	kind, name, _ := strings.Cut(app.Owner, " ")
	switch {
	case kind == "ApplicationSet":
		h, err := s.underSet(ctx, c, app, name, version)
		h.By = app.Owner
		return above{hold: h}, err
	case kind == "Application":
		a, err := s.underApp(ctx, c, t, app, name, version)
		if a.hold.By == "" {
			a.hold.By = app.Owner
		}
		return a, err
	case kind == "Kustomization" && !argocd.HasEnabled(version):
		return above{hold: Hold{
			Undone: true, By: app.Owner,
			Why:    fmt.Sprintf("Flux's %s applies this Application and would put the field back at its next reconciliation.", app.Owner),
			Remedy: fmt.Sprintf("suspending %s, or the annotation kustomize.toolkit.fluxcd.io/reconcile: disabled on the Application in Git", app.Owner),
		}}, nil
	case kind == "Kustomization":
		return above{hold: Hold{By: app.Owner, Why: fmt.Sprintf("Flux's %s leaves fields that it does not have.", app.Owner)}}, nil
	case app.Owner != "":
		return above{hold: Hold{By: app.Owner, Until: app.Owner + " writes it again", Why: fmt.Sprintf("%s made this Application and may put it back; that is watched.", app.Owner)}}, nil
	}
	if by := otherHand(app); by != "" {
		return above{hold: Hold{By: by, Until: "the next run of " + by, Why: by + " writes this Application and puts it back at its next run; that is watched."}}, nil
	}
	return above{hold: Hold{Why: "Nothing above this Application writes to it."}}, nil
}

// underSet judges an ApplicationSet, which watches its Applications and writes
// their whole spec.
func (s *systems) underSet(ctx context.Context, c Cluster, app argocd.App, name, version string) (Hold, error) {
	set, err := c.Argo.ApplicationSet(ctx, app.Namespace, name)
	switch {
	case isA[*argocd.Denied](err) || isA[*argocd.NotFound](err):
		return Hold{
			Undone: true,
			Why:    fmt.Sprintf("It is made by ApplicationSet %s, which reconcilebot's account may not read, and most undo a pause within seconds.", name),
			Remedy: "the right applicationsets, get for reconcilebot's account, so that it can see whether this one does",
		}, nil
	case err != nil:
		return Hold{}, err
	case set.Rolling:
		return Hold{
			Undone: true,
			Why:    fmt.Sprintf("ApplicationSet %s rolls out in steps and starts the syncs itself, whatever the sync policy says.", name),
			Remedy: "a deny window in the AppProject, or pausing the rollout in " + "ApplicationSet " + name,
		}, nil
	case set.Leaves(app.Name, argocd.HasEnabled(version)):
		return Hold{Why: fmt.Sprintf("ApplicationSet %s ignores this field.", name)}, nil
	case set.Sync == "create-only" || set.Sync == "create-delete":
		return Hold{
			Until: "the ApplicationSet controller takes it back, if it does not let sets choose their policy",
			Why:   fmt.Sprintf("ApplicationSet %s is %s and leaves existing Applications alone, if its controller lets sets choose that; that is watched.", name, set.Sync),
		}, nil
	}
	return Hold{
		Undone: true,
		Why:    fmt.Sprintf("ApplicationSet %s would undo it within seconds.", name),
		Remedy: fmt.Sprintf(setRemedy, "ApplicationSet "+name),
	}, nil
}

// underApp judges an app of apps.
func (s *systems) underApp(ctx context.Context, c Cluster, t drift.Target, app argocd.App, instance, version string) (above, error) {
	parent := argocd.Ref{Name: instance}
	// An Application outside the control plane's namespace tracks as ns_name.
	if ns, name, found := strings.Cut(instance, "_"); found {
		parent = argocd.Ref{Namespace: ns, Name: name}
	}
	up, err := c.Argo.App(ctx, parent)
	if isA[*argocd.NotFound](err) || isA[*argocd.Denied](err) {
		return above{hold: Hold{
			Until: "Application " + instance + " is synced",
			Why:   fmt.Sprintf("Application %s has it among its objects, and reconcilebot's account may not see that one; that is watched.", instance),
		}}, nil
	}
	if err != nil {
		return above{}, err
	}
	declared, err := c.Argo.Declared(ctx, up.Ref, app.Ref)
	if isA[*argocd.Undeclared](err) {
		return above{app: up, hold: Hold{Why: fmt.Sprintf("It carries the name of Application %s, which does not have it among its objects.", up.Name)}}, nil
	}
	if err != nil {
		return above{}, err
	}
	ignores, respects := up.IgnoresPolicyOf(app.Ref)
	name, follows := "Application "+up.Name, branchOf(up)
	self := drift.Target{Cluster: t.Cluster, Kind: drift.Application, Namespace: up.Namespace, Name: up.Name}
	h := Hold{By: name, Remedy: fmt.Sprintf(appRemedy, up.Name), Parent: &self}
	switch {
	case ignores && respects:
		h = Hold{By: name, Why: fmt.Sprintf("parent %s (app of apps) ignores this field, in its syncs, too.", up.Name)}
	case declared.AutomatedRaw() == nil:
		h = Hold{By: name, Why: fmt.Sprintf("parent %s (app of apps) does not have this field in Git.", up.Name)}
	case argocd.HasEnabled(version) && !replaces(up):
		h = Hold{By: name, Why: fmt.Sprintf("the pause adds a field that parent %s (app of apps) does not have, and its syncs leave such fields.", up.Name)}
	case !up.Automated.Enabled:
		h.Until, h.Why = "somebody syncs "+up.Name, fmt.Sprintf("parent %s (app of apps) is not synced automatically.", up.Name)
	case up.Automated.SelfHeal && !ignores:
		h.Undone, h.Why = true, fmt.Sprintf("%s (app of apps, self-heal on) would undo it within seconds.", name)
	case unattempted(up):
		h.Undone, h.Why = true, fmt.Sprintf("%s (app of apps) has a commit on %s before it that it has not synced, and would undo it with that, within minutes.", name, follows)
	default:
		h.Until, h.Why = fmt.Sprintf("the next commit on %s, which %s follows", follows, up.Name), fmt.Sprintf("parent %s (app of apps) does not heal by itself.", up.Name)
	}
	return above{hold: h, app: up}, nil
}

func branchOf(app argocd.App) string {
	if len(app.Sources) == 0 || app.Sources[0].TargetRevision == "" {
		return "its branch"
	}
	return app.Sources[0].TargetRevision
}

// replaces tells whether an Application's syncs write whole objects.
func replaces(app argocd.App) bool {
	var in struct {
		SyncOptions []string `json:"syncOptions"`
	}
	return json.Unmarshal(app.SyncPolicy(), &in) == nil && slices.Contains(in.SyncOptions, "Replace=true")
}

// otherHand finds what else writes an Application's sync policy, by the names
// that tools give themselves.
func otherHand(app argocd.App) string {
	var in struct {
		Metadata struct {
			Annotations   map[string]string `json:"annotations"`
			ManagedFields []struct {
				Manager string          `json:"manager"`
				Fields  json.RawMessage `json:"fieldsV1"`
			} `json:"managedFields"`
		} `json:"metadata"`
	}
	if json.Unmarshal(app.Raw, &in) != nil {
		return ""
	}
	if name := in.Metadata.Annotations["meta.helm.sh/release-name"]; name != "" {
		return "Helm release " + name
	}
	for _, m := range in.Metadata.ManagedFields {
		low := strings.ToLower(m.Manager)
		if (strings.Contains(low, "terraform") || strings.Contains(low, "crossplane") || strings.Contains(low, "pulumi")) && strings.Contains(string(m.Fields), `"f:automated"`) {
			return m.Manager
		}
	}
	return ""
}
