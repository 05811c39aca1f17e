package argocd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ApplicationSet is what an ApplicationSet says about the Applications that it
// makes, as far as it bears on their sync policy.
type ApplicationSet struct {
	Name string
	// Ignores are the fields of its Applications that it leaves as they are.
	Ignores []SetIgnore
	// Rolling is true for the strategy that starts the syncs itself, and takes
	// automated policies away.
	Rolling bool
	// Sync is spec.syncPolicy.applicationsSync; "create-only" and
	// "create-delete" leave Applications alone, if the controller allows a set
	// to say so.
	Sync string
}

// SetIgnore is one entry of spec.ignoreApplicationDifferences.
type SetIgnore struct {
	// Name is the Application's; "" means all.
	Name         string   `json:"name"`
	JSONPointers []string `json:"jsonPointers"`
	JQ           []string `json:"jqPathExpressions"`
}

// ApplicationSet reads one. It takes the right applicationsets, get.
func (c *Client) ApplicationSet(ctx context.Context, namespace, name string) (ApplicationSet, error) {
	var in struct {
		Spec struct {
			Ignores    []SetIgnore `json:"ignoreApplicationDifferences"`
			SyncPolicy struct {
				ApplicationsSync string `json:"applicationsSync"`
			} `json:"syncPolicy"`
			Strategy struct {
				Type string `json:"type"`
			} `json:"strategy"`
		} `json:"spec"`
	}
	q := map[string][]string{"appsetNamespace": {c.at(Ref{Namespace: namespace})}}
	err := c.do(ctx, call{what: "get ApplicationSet " + name, method: "GET", path: []string{"api", "v1", "applicationsets", name}, query: q}, &in)
	return ApplicationSet{
		Name: name, Ignores: in.Spec.Ignores, Sync: in.Spec.SyncPolicy.ApplicationsSync,
		Rolling: in.Spec.Strategy.Type == "RollingSync",
	}, err
}

// policyFields are the pointers that cover spec.syncPolicy.automated.
var policyFields = []string{"/spec/syncPolicy", "/spec/syncPolicy/automated"}

// Leaves tells whether the set leaves the automated policy of an Application
// as others set it; with enabled, whether it leaves the field enabled of it. By
// jq expressions it can be said in many ways; those that name the field are
// taken to mean it.
func (s ApplicationSet) Leaves(app string, enabled bool) bool {
	return slices.ContainsFunc(s.Ignores, func(i SetIgnore) bool {
		fits := i.Name == "" || i.Name == app
		return fits && (covers(i.JSONPointers, i.JQ) || enabled && slices.Contains(i.JSONPointers, "/spec/syncPolicy/automated/enabled"))
	})
}

func covers(pointers, jq []string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		return slices.Contains(policyFields, strings.TrimSuffix(p, "/"))
	}) || slices.ContainsFunc(jq, func(e string) bool {
		return slices.Contains([]string{".spec.syncPolicy", ".spec.syncPolicy.automated"}, strings.TrimSpace(e))
	})
}

// IgnoresPolicyOf tells what an Application that has another as one of its
// objects does with that one's automated policy: ignores says that a
// difference there is no difference, respects that a sync leaves it, too.
func (a App) IgnoresPolicyOf(child Ref) (ignores, respects bool) {
	var in struct {
		Spec struct {
			IgnoreDifferences []struct {
				Group        string   `json:"group"`
				Kind         string   `json:"kind"`
				Name         string   `json:"name"`
				Namespace    string   `json:"namespace"`
				JSONPointers []string `json:"jsonPointers"`
				JQ           []string `json:"jqPathExpressions"`
			} `json:"ignoreDifferences"`
			SyncPolicy struct {
				SyncOptions []string `json:"syncOptions"`
			} `json:"syncPolicy"`
		} `json:"spec"`
	}
	if json.Unmarshal(a.Raw, &in) != nil {
		return false, false
	}
	fits := func(pattern, value string) bool {
		ok, err := path.Match(pattern, value)
		return pattern == "" || err == nil && ok
	}
	for _, d := range in.Spec.IgnoreDifferences {
		if fits(d.Group, "argoproj.io") && fits(d.Kind, "Application") && fits(d.Name, child.Name) && fits(d.Namespace, child.Namespace) && covers(d.JSONPointers, d.JQ) {
			ignores = true
		}
	}
	return ignores, slices.Contains(in.Spec.SyncPolicy.SyncOptions, "RespectIgnoreDifferences=true")
}

// Undeclared says that an object is not among those of an Application.
type Undeclared struct{ What string }

func (e *Undeclared) Error() string {
	return e.What + ": it is not among the objects of that Application"
}

// Declared is what an Application has in Git for another Application that is
// one of its objects. It answers *Undeclared if it has nothing.
func (c *Client) Declared(ctx context.Context, parent, child Ref) (App, error) {
	all, err := c.Managed(ctx, parent)
	if err != nil {
		return App{}, err
	}
	for _, m := range all {
		if m.Kind == "Application" && m.Name == child.Name && (m.Namespace == "" || m.Namespace == c.at(child)) && m.Target != nil {
			raw, err := json.Marshal(m.Target)
			if err != nil {
				return App{}, fmt.Errorf("read what %s declares for %s: %w", parent, child, err)
			}
			automated, err := automatedOf(raw)
			return App{Ref: child, Automated: automated, Raw: raw}, err
		}
	}
	return App{}, &Undeclared{fmt.Sprintf("look for %s in %s", child, parent)}
}
