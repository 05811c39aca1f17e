package argocd

import (
	"context"
	"encoding/json"
	"fmt"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Managed is one object as Argo CD judges it. A map is nil where there is no
// such object: Target nil means that it is not in Git, Live nil that it is not
// in the cluster.
//
// NormalizedLive and PredictedLive are the pair that Argo CD compared: the
// live object without what is to be ignored, and the same after applying Git.
// Values of Secrets are masked by Argo CD.
type Managed struct {
	Group, Kind, Namespace, Name string

	Live, Target, NormalizedLive, PredictedLive map[string]any
	// ResourceVersion is that of the live object that was compared.
	ResourceVersion string
	// Modified is Argo CD's verdict. It is false for an object that is only
	// live, although such a one is out of sync.
	Modified bool
	Hook     bool
}

// Managed lists the objects of an Application. The answer comes from Argo
// CD's cache, whose age it does not tell: compare ResourceVersion.
func (c *Client) Managed(ctx context.Context, ref Ref) ([]Managed, error) {
	if err := c.known(ctx, ref); err != nil {
		return nil, err
	}
	var answer struct {
		Items []diffItem `json:"items"`
	}
	what := "list the objects of Application " + ref.String()
	if err := c.do(ctx, call{what: what, method: "GET", path: appPath(ref, "managed-resources"), query: c.about(ref)}, &answer); err != nil {
		return nil, err
	}
	list := make([]Managed, 0, len(answer.Items))
	for _, item := range answer.Items {
		m, err := item.decode()
		if err != nil {
			return nil, fmt.Errorf("%s: %s %s/%s: %w", what, item.Kind, item.Namespace, item.Name, err)
		}
		list = append(list, m)
	}
	return list, nil
}

// diffItem is v1alpha1.ResourceDiff with the states left as they are: JSON
// within JSON.
type diffItem struct {
	Group               string `json:"group"`
	Kind                string `json:"kind"`
	Namespace           string `json:"namespace"`
	Name                string `json:"name"`
	TargetState         string `json:"targetState"`
	LiveState           string `json:"liveState"`
	NormalizedLiveState string `json:"normalizedLiveState"`
	PredictedLiveState  string `json:"predictedLiveState"`
	ResourceVersion     string `json:"resourceVersion"`
	Modified            bool   `json:"modified"`
	Hook                bool   `json:"hook"`
}

func (d diffItem) decode() (Managed, error) {
	m := Managed{
		Group: d.Group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name,
		ResourceVersion: d.ResourceVersion, Modified: d.Modified, Hook: d.Hook,
	}
	for _, s := range []struct {
		name string
		raw  string
		into *map[string]any
	}{
		{"target state", d.TargetState, &m.Target},
		{"live state", d.LiveState, &m.Live},
		{"normalised live state", d.NormalizedLiveState, &m.NormalizedLive},
		{"predicted live state", d.PredictedLiveState, &m.PredictedLive},
	} {
		var err error
		if *s.into, err = object(s.raw); err != nil {
			return Managed{}, fmt.Errorf("read the %s: %w", s.name, err)
		}
	}
	return m, nil
}

// object decodes a state; "" and "null" stand for none. Whole numbers become
// int64, as everywhere in Kubernetes.
func object(raw string) (map[string]any, error) {
	if raw == "" || raw == "null" {
		return nil, nil
	}
	var m map[string]any
	if err := kjson.Unmarshal([]byte(raw), &m); err != nil {
		return nil, err
	}
	return m, nil
}

// Manifests has Argo CD render an Application at a revision, which must be a
// full commit: the answer does not say what it was rendered from. For an
// Application with several sources, the revision goes to the first that is no
// chart. Values of Secrets are masked.
func (c *Client) Manifests(ctx context.Context, ref Ref, revision string) ([]map[string]any, error) {
	app, err := c.App(ctx, ref)
	if err != nil {
		return nil, err
	}
	what := "render Application " + ref.String()
	q := c.about(ref)
	if revision != "" {
		what += " at " + revision
		if err := atRevision(q, app, revision); err != nil {
			return nil, &Refused{What: what, Message: err.Error()}
		}
	}
	var answer struct {
		Manifests []string `json:"manifests"`
	}
	if err := c.do(ctx, call{what: what, method: "GET", path: appPath(ref, "manifests"), query: q}, &answer); err != nil {
		return nil, err
	}
	list := make([]map[string]any, 0, len(answer.Manifests))
	for i, raw := range answer.Manifests {
		m, err := object(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: object %d: %w", what, i+1, err)
		}
		if m != nil {
			list = append(list, m)
		}
	}
	return list, nil
}

// atRevision adds the revision to a query. Sources are counted from 1.
func atRevision(q map[string][]string, app App, revision string) error {
	if !hasSources(app) {
		q["revision"] = []string{revision}
		return nil
	}
	for i, s := range app.Sources {
		if s.Chart == "" {
			q["sourcePositions"] = []string{fmt.Sprint(i + 1)}
			q["revisions"] = []string{revision}
			return nil
		}
	}
	return fmt.Errorf("all of its %d sources are charts, which have no commits", len(app.Sources))
}

// hasSources tells whether the spec uses sources rather than source, which
// may have one entry, too.
func hasSources(app App) bool {
	var in struct {
		Spec struct {
			Sources []json.RawMessage `json:"sources"`
		} `json:"spec"`
	}
	return json.Unmarshal(app.Raw, &in) == nil && len(in.Spec.Sources) > 0
}
