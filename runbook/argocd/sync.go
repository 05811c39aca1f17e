package argocd

import (
	"context"
	"maps"
	"slices"
)

// SyncRequest says what to sync.
type SyncRequest struct {
	// Revision is the commit; "" means the target revision. With automated
	// sync on, Argo CD takes nothing but the target revision's own text.
	Revision string
	// Prune is not inherited from the sync policy.
	Prune bool
	// DryRun does not change objects, but it replaces the Application's
	// operation state and may keep the next automated sync from running.
	DryRun bool
	// Resources limits the sync; empty means all. A limited sync runs no
	// hooks and leaves no history.
	Resources []ResourceRef
	// Infos are notes that stay with the operation, such as who asked.
	Infos map[string]string
}

// syncBody is the request as Argo CD takes it. It has no sync options on
// purpose: any would replace all that the Application has.
type syncBody struct {
	Name         string        `json:"name"`
	AppNamespace string        `json:"appNamespace"`
	Project      string        `json:"project,omitempty"`
	Revision     string        `json:"revision,omitempty"`
	Prune        bool          `json:"prune"`
	DryRun       bool          `json:"dryRun"`
	Resources    []ResourceRef `json:"resources,omitempty"`
	Infos        []info        `json:"infos,omitempty"`
}

type info struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Sync asks for a sync and returns when Argo CD has taken it up, not when it
// is done: look at App's Operation for that. It answers *Busy when another
// operation is there already.
func (c *Client) Sync(ctx context.Context, ref Ref, req SyncRequest) error {
	if err := c.known(ctx, ref); err != nil {
		return err
	}
	body := syncBody{
		Name: ref.Name, AppNamespace: c.at(ref), Project: c.project(ref),
		Revision: req.Revision, Prune: req.Prune, DryRun: req.DryRun, Resources: req.Resources,
	}
	for _, name := range slices.Sorted(maps.Keys(req.Infos)) {
		body.Infos = append(body.Infos, info{name, req.Infos[name]})
	}
	return c.do(ctx, call{what: "sync Application " + ref.String(), method: "POST", path: appPath(ref, "sync"), body: body}, nil)
}

// Window is a span of time in which syncs are allowed or denied.
type Window struct {
	// Kind is allow or deny.
	Kind string `json:"kind"`
	// Schedule is a cron line, Duration how long it lasts from there.
	Schedule string `json:"schedule"`
	Duration string `json:"duration"`
	// Manual says whether a person's sync passes.
	Manual bool `json:"manualSync"`
}

// Windows are an Application's sync windows.
type Windows struct {
	Active   []Window `json:"activeWindows"`
	Assigned []Window `json:"assignedWindows"`
	// CanSync says whether a sync that somebody asks for would run now.
	CanSync bool `json:"canSync"`
}

// Blocks tells whether automated syncs are held back now, and by what kind of
// window. Deny beats allow; where allow windows exist, one must be active.
func (w Windows) Blocks() (why string, blocked bool) {
	has := func(list []Window, kind string) bool {
		return slices.ContainsFunc(list, func(w Window) bool { return w.Kind == kind })
	}
	switch {
	case has(w.Active, "deny"):
		return "a deny window is active", true
	case has(w.Assigned, "allow") && !has(w.Active, "allow"):
		return "no allow window is active", true
	}
	return "", false
}

// SyncWindows reads the windows that apply to an Application. A window that
// can't be read makes the server answer with an error; no sync runs then.
func (c *Client) SyncWindows(ctx context.Context, ref Ref) (Windows, error) {
	if err := c.known(ctx, ref); err != nil {
		return Windows{}, err
	}
	var w Windows
	err := c.do(ctx, call{what: "read the sync windows of Application " + ref.String(), method: "GET", path: appPath(ref, "syncwindows"), query: c.about(ref)}, &w)
	return w, err
}
