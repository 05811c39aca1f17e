package drift

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/spell"
)

// The kinds of targets.
const (
	Application   = "Application"
	Kustomization = "Kustomization"
	HelmRelease   = "HelmRelease"
)

// Target is what owns objects, in a cluster that the configuration names.
type Target struct {
	Cluster   string `json:"cluster"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is cluster/namespace/name for an Application, and
// cluster/Kind/namespace/name for the others. ParseTarget reads it.
func (t Target) String() string {
	if t.Kind == Application {
		return t.Cluster + "/" + t.Namespace + "/" + t.Name
	}
	return t.Cluster + "/" + t.Kind + "/" + t.Namespace + "/" + t.Name
}

// Short is cluster/name, which is what policies are written for.
func (t Target) Short() string { return t.Cluster + "/" + t.Name }

// ParseTarget reads what String wrote.
func ParseTarget(s string) (Target, error) {
	parts := strings.Split(s, "/")
	var t Target
	switch len(parts) {
	case 3:
		t = Target{parts[0], Application, parts[1], parts[2]}
	case 4:
		t = Target{parts[0], parts[1], parts[2], parts[3]}
	}
	known := t.Kind == Application || t.Kind == Kustomization || t.Kind == HelmRelease
	if !known || t.Cluster == "" || t.Namespace == "" || t.Name == "" {
		return Target{}, fmt.Errorf("target %q: want cluster/namespace/name", s)
	}
	return t, nil
}

// TargetInfo is a target with what a list of them shows.
type TargetInfo struct {
	Target
	Project   string           `json:"project,omitempty"`
	Sync      string           `json:"sync"`
	Health    string           `json:"health"`
	Automated argocd.Automated `json:"automated"`
	Revision  string           `json:"revision,omitempty"`
	// RepoURL, Path and TargetRevision are the first source's.
	RepoURL        string `json:"repoURL,omitempty"`
	Path           string `json:"path,omitempty"`
	TargetRevision string `json:"targetRevision,omitempty"`
	// Namespace of the objects, not of the target.
	Destination string `json:"destination,omitempty"`
	Owner       string `json:"owner,omitempty"`
	URL         string `json:"url,omitempty"`
}

// Unresolved says that a name fits no target, or more than one.
type Unresolved struct {
	Name string
	// Fits are the targets that it fits; empty if none does, and then Near
	// are the ones that were perhaps meant.
	Fits, Near []Target
}

func (e *Unresolved) Error() string {
	switch {
	case len(e.Fits) > 0:
		return fmt.Sprintf("%q fits more than one target: %s. Give more of the name.", e.Name, list(e.Fits))
	case len(e.Near) > 0:
		return fmt.Sprintf("There is no target %q. Did you mean %s?", e.Name, list(e.Near))
	}
	return fmt.Sprintf("There is no target %q.", e.Name)
}

// list names targets as short as can be without mixing them up.
func list(targets []Target) string {
	const most = 5
	names := make([]string, 0, most)
	for _, t := range targets {
		name := t.Name
		if slices.ContainsFunc(targets, func(o Target) bool { return o != t && o.Name == t.Name }) {
			name = t.String()
		}
		if len(names) == most {
			return strings.Join(names, ", ") + " or another"
		}
		names = append(names, name)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}

// Resolve finds the target that people mean: by name, namespace/name,
// cluster/name or the whole of it, or by the beginning of a name that only
// one has. It answers *Unresolved otherwise.
func Resolve(name string, all []Target) (Target, error) {
	name = strings.TrimSpace(name)
	for _, fits := range []func(Target) bool{
		func(t Target) bool { return slices.Contains(names(t), name) },
		func(t Target) bool {
			return slices.ContainsFunc(names(t), func(n string) bool { return strings.EqualFold(n, name) })
		},
		func(t Target) bool {
			return name != "" && slices.ContainsFunc(names(t), func(n string) bool { return strings.HasPrefix(n, strings.ToLower(name)) })
		},
	} {
		var found []Target
		for _, t := range all {
			if fits(t) {
				found = append(found, t)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return Target{}, &Unresolved{Name: name, Fits: found}
		}
	}
	return Target{}, &Unresolved{Name: name, Near: near(name, all)}
}

// names are all the ways to name a target.
func names(t Target) []string {
	return []string{t.Name, t.Namespace + "/" + t.Name, t.Cluster + "/" + t.Name, t.String()}
}

// near finds targets whose names are a few slips away, the nearest first.
func near(name string, all []Target) []Target {
	_, last, found := strings.Cut(name, "/")
	if !found {
		last = name
	}
	type candidate struct {
		Target
		away int
	}
	var list []candidate
	for _, t := range all {
		away := spell.Distance(strings.ToLower(last), strings.ToLower(t.Name))
		if away <= max(2, len(last)/3) || len(last) > 2 && strings.Contains(t.Name, last) {
			list = append(list, candidate{t, away})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.away - b.away })
	var out []Target
	for _, c := range list[:min(3, len(list))] {
		out = append(out, c.Target)
	}
	return out
}
