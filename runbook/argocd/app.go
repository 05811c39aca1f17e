package argocd

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"
)

// App is an Application as Argo CD last saw it.
type App struct {
	Ref
	UID     string `json:"uid"`
	Project string `json:"project"`
	// Sources has one entry for most; several for a multi-source Application.
	Sources []Source `json:"sources"`
	Dest    Dest     `json:"dest"`
	// Automated is the sync policy.
	Automated  Automated   `json:"automated"`
	Sync       Sync        `json:"sync"`
	Health     string      `json:"health"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Operation is the current or the last one; nil if there was none.
	Operation *Operation `json:"operation,omitempty"`
	// Requested is true when an operation was asked for and the controller
	// has not taken it up, or is on it.
	Requested bool             `json:"requested,omitempty"`
	Resources []ResourceStatus `json:"resources,omitempty"`
	// ReconciledAt is when Argo CD last compared with the branch's head. It
	// does not move when only live objects change.
	ReconciledAt time.Time `json:"reconciledAt,omitzero"`
	// Skipped is true when the Application is told to skip reconciliation, by
	// the annotation argocd.argoproj.io/skip-reconcile: then its status is
	// not to be trusted and a refresh never ends.
	Skipped bool `json:"skipped,omitempty"`
	// Owner is what made the Application, such as "ApplicationSet shop" or
	// "Application apps-prod"; "" if nothing says so.
	Owner string `json:"owner,omitempty"`
	// URL is the Application's page.
	URL string `json:"url"`
	// Raw is the whole object.
	Raw json.RawMessage `json:"-"`
}

// Source is where manifests come from.
type Source struct {
	RepoURL        string    `json:"repoURL"`
	Path           string    `json:"path,omitempty"`
	TargetRevision string    `json:"targetRevision,omitempty"`
	Chart          string    `json:"chart,omitempty"`
	Ref            string    `json:"ref,omitempty"`
	Directory      Directory `json:"directory,omitzero"`
	// Kind is directory, jsonnet, kustomize, helm, plugin or hydrated; "" if
	// Argo CD has not looked at it yet.
	Kind string `json:"kind,omitempty"`
}

// Directory is the options of a source of plain manifests.
type Directory struct {
	Recurse bool   `json:"recurse,omitempty"`
	Include string `json:"include,omitempty"`
	Exclude string `json:"exclude,omitempty"`
}

// Dest is where objects go. Either Server or Name is set.
type Dest struct {
	Server    string `json:"server,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Automated is spec.syncPolicy.automated.
type Automated struct {
	// Present says that the field is there; Enabled that it is in force.
	// Since Argo CD 3.1 it can be there and switched off.
	Present  bool `json:"present"`
	Enabled  bool `json:"enabled"`
	Prune    bool `json:"prune,omitempty"`
	SelfHeal bool `json:"selfHeal,omitempty"`
}

// Sync is how live objects compare with Git.
type Sync struct {
	// Status is Synced, OutOfSync or Unknown.
	Status string `json:"status"`
	// Revision is the commit compared with; for several sources it is "" and
	// Revisions has one for each.
	Revision  string   `json:"revision,omitempty"`
	Revisions []string `json:"revisions,omitempty"`
}

// Condition is a complaint, such as ComparisonError.
type Condition struct {
	Type    string    `json:"type"`
	Message string    `json:"message"`
	At      time.Time `json:"at,omitzero"`
}

// Operation is a sync.
type Operation struct {
	// Phase is Running, Terminating, Succeeded, Failed or Error.
	Phase    string `json:"phase"`
	Revision string `json:"revision,omitempty"`
	Message  string `json:"message,omitempty"`
	// By is the account that asked; "" for Argo CD's own.
	By        string `json:"by,omitempty"`
	Automated bool   `json:"automated,omitempty"`
	// Retrying is true between two tries; Phase is Running then.
	Retrying bool `json:"retrying,omitempty"`
	DryRun   bool `json:"dryRun,omitempty"`
	// Resourced is true where the source in the specification is another than
	// the one that was synced: then automated sync counts as never tried.
	Resourced  bool      `json:"resourced,omitempty"`
	Partial    bool      `json:"partial,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// Infos are the notes that were given with the request.
	Infos map[string]string `json:"infos,omitempty"`
	// Result has one entry for each object that the sync touched.
	Result []ResourceResult `json:"result,omitempty"`
}

// Done tells whether the operation has ended.
func (o *Operation) Done() bool {
	return o != nil && (o.Phase == "Succeeded" || o.Phase == "Failed" || o.Phase == "Error")
}

// ResourceResult is what a sync did to one object.
type ResourceResult struct {
	ResourceRef
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// ResourceRef names one object of an Application.
type ResourceRef struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// ResourceStatus is one object's line in the Application's status.
type ResourceStatus struct {
	ResourceRef
	Version string `json:"version,omitempty"`
	Status  string `json:"status,omitempty"`
	Health  string `json:"health,omitempty"`
	// Prune is true when a sync that prunes would delete it.
	Prune bool `json:"prune,omitempty"`
	Hook  bool `json:"hook,omitempty"`
}

// Apps lists the Applications that our account may see. Since Argo CD 3.0 a
// list leaves out each object's health; App has it.
func (c *Client) Apps(ctx context.Context) ([]App, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	err := c.do(ctx, call{what: "list Applications", method: "GET", path: []string{"api", "v1", "applications"}}, &list)
	if err != nil {
		return nil, err
	}
	apps := make([]App, 0, len(list.Items))
	for _, raw := range list.Items {
		app, err := c.decode(raw)
		if err != nil {
			return nil, err
		}
		apps = append(apps, app)
	}
	return apps, nil
}

// App reads one Application from the API server, past every cache.
func (c *Client) App(ctx context.Context, ref Ref) (App, error) {
	return c.get(ctx, "get Application "+ref.String(), ref, "")
}

// get reads an Application; refresh is "", "normal" or "hard".
func (c *Client) get(ctx context.Context, what string, ref Ref, refresh string) (App, error) {
	for {
		known := c.project(ref) != ""
		q := c.about(ref)
		if refresh != "" {
			q.Set("refresh", refresh)
		}
		var raw json.RawMessage
		err := c.do(ctx, call{what: what, method: "GET", path: appPath(ref), query: q}, &raw)
		if err == nil {
			return c.decode(raw)
		}
		denied, isDenied := errors.AsType[*Denied](err)
		_, isNotFound := errors.AsType[*NotFound](err)
		switch {
		case known && (isNotFound || isDenied && !denied.Token):
			// It may have moved to another project: ask again without one.
			c.remember(ref, "")
		case isDenied && !denied.Token:
			return App{}, &NotFound{what}
		default:
			return App{}, err
		}
	}
}

func appPath(ref Ref, more ...string) []string {
	return append([]string{"api", "v1", "applications", ref.Name}, more...)
}

// page is the address of an Application's page.
func (c *Client) page(ref Ref) string {
	return c.ui + "/applications/" + url.PathEscape(c.at(ref)) + "/" + url.PathEscape(ref.Name)
}

// known makes sure that the Application's project is known, because calls
// without it answer "permission denied" for everything.
func (c *Client) known(ctx context.Context, ref Ref) error {
	if c.project(ref) != "" {
		return nil
	}
	_, err := c.App(ctx, ref)
	return err
}
