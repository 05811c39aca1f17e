package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
)

// controller is the part of Argo CD that is asked.
type controller interface {
	Version(context.Context) (string, error)
	Whoami(context.Context) (string, error)
	CanI(ctx context.Context, resource, action, subresource string) (bool, error)
	Apps(context.Context) ([]argocd.App, error)
}

// ArgoCD is one Argo CD.
type ArgoCD struct {
	Cluster string
	Argo    controller
}

// maxApps bounds for how many Applications rights are asked for.
const maxApps = 50

// Checks lists what to look at.
func (a ArgoCD) Checks() []Check { return []Check{a.version, a.account, a.rights} }

func (a ArgoCD) area() area { return area("argocd " + a.Cluster) }

// version lets the version through that was tested.
func (a ArgoCD) version(ctx context.Context) []Finding {
	v, err := a.Argo.Version(ctx)
	if err != nil {
		return []Finding{a.area().fail("server", "check argocd.server and caFile, and that this machine reaches it", "%s", reason(ctx, err))}
	}
	var major, minor int
	_, err = fmt.Sscanf(strings.TrimPrefix(v, "v"), "%d.%d", &major, &minor)
	switch {
	case err != nil:
		return []Finding{a.area().warn("version", "", "%s is not a release; tested is 2.14", v)}
	case major < 2 || major == 2 && minor < 14:
		return []Finding{a.area().fail("version", "upgrade Argo CD to 2.14", "%s is too old; tested is 2.14", v)}
	case major > 2 || minor > 14:
		return []Finding{a.area().warn("version", "try it on a cluster that may break", "%s is newer than what was tested, 2.14", v)}
	}
	return []Finding{a.area().ok("version", "%s", v)}
}

func (a ArgoCD) account(ctx context.Context) []Finding {
	who, err := a.Argo.Whoami(ctx)
	var denied *argocd.Denied
	switch {
	case errors.As(err, &denied):
		return []Finding{a.area().fail("token", "argocd account generate-token --account reconcilebot, and put it where the config says", "%v", err)}
	case err != nil:
		return []Finding{a.area().fail("token", "mend the way to the server first", "%s", reason(ctx, err))}
	case who == "admin":
		return []Finding{a.area().warn("token", "make an account with apiKey and the rights in the README", "is admin's, which may do everything")}
	}
	return []Finding{a.area().ok("token", "is %s's", who)}
}

// rights asks what the account may do with the Applications that it sees.
func (a ArgoCD) rights(ctx context.Context) []Finding {
	const grant = "add to argocd-rbac-cm, policy.csv: p, reconcilebot, applications, get, */*, allow and p, reconcilebot, applications, sync, */*, allow"
	apps, err := a.Argo.Apps(ctx)
	var refused *argocd.Denied
	switch {
	case errors.As(err, &refused) && refused.Token:
		return []Finding{a.area().fail("rights", "mend the token first", "%s", reason(ctx, err))}
	case err != nil:
		return []Finding{a.area().fail("rights", "mend the way to the server first", "%s", reason(ctx, err))}
	}
	if len(apps) == 0 {
		return []Finding{a.area().fail("rights", grant, "no Application can be seen")}
	}
	var denied, excess, unpausable []string
	for _, app := range apps[:min(len(apps), maxApps)] {
		name := app.Project + "/" + app.Name
		for action, wanted := range map[string]bool{"sync": true, "update": true, "delete": false, "override": false} {
			may, err := a.Argo.CanI(ctx, "applications", action, name)
			switch {
			case err != nil:
				return []Finding{a.area().fail("rights", "mend the way to the server first", "%s", reason(ctx, err))}
			case action == "update" && !may:
				unpausable = append(unpausable, name)
			case wanted && !may:
				denied = append(denied, name)
			case !wanted && may:
				excess = append(excess, action+" "+name)
			}
		}
	}
	var found []Finding
	if len(denied) > 0 {
		found = append(found, a.area().fail("rights", grant, "may not sync %s", some(denied)))
	}
	if len(unpausable) > 0 {
		found = append(found, a.area().warn("pausing", "to pause with pause TARGET, add: p, reconcilebot, applications, update, */*, allow", "may not update %s, so it can't pause there", some(unpausable)))
	}
	found = append(found, a.sets(ctx, apps)...)
	if len(excess) > 0 {
		found = append(found, a.area().warn("rights", "take these rights away", "more than the bot needs: may %s", some(excess)))
	}
	if len(found) == 0 {
		found = append(found, a.area().ok("rights", "sees, may sync and may pause %s", plural(len(apps), "Application")))
	}
	return found
}

// sets asks whether the ApplicationSets can be read that made Applications:
// else nobody can say whether one would undo a pause.
func (a ArgoCD) sets(ctx context.Context, apps []argocd.App) []Finding {
	var unread []string
	for _, app := range apps[:min(len(apps), maxApps)] {
		name, made := strings.CutPrefix(app.Owner, "ApplicationSet ")
		if !made || slices.Contains(unread, name) {
			continue
		}
		if may, err := a.Argo.CanI(ctx, "applicationsets", "get", app.Project+"/"+name); err == nil && !may {
			unread = append(unread, name)
		}
	}
	if len(unread) == 0 {
		return nil
	}
	return []Finding{a.area().warn("pausing", "add: p, reconcilebot, applicationsets, get, */*, allow", "may not read ApplicationSet %s, so it can't see whether that would undo a pause", some(unread))}
}

// some names the first few of a list.
func some(list []string) string {
	const few = 3
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
