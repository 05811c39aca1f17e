package drift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// Touch is one act on an object of a target, or on the target, and how it is
// known.
type Touch struct {
	At time.Time `json:"at"`
	// Object is what was touched; zero for the target itself.
	Object manifest.Object `json:"object,omitzero"`
	// Evidence says who and with what; a person only by the audit log or by
	// Argo CD's own trail.
	Evidence Evidence `json:"evidence"`
	// What are the fields, with what was written to them where that may be
	// shown, or the act in words.
	What []string `json:"what,omitempty"`
	// Automatic is true where the controller did it by itself.
	Automatic bool `json:"automatic,omitempty"`
}

// maxTouches bounds a timeline; maxFields what one act is shown with.
const (
	maxTouches = 200
	maxFields  = 4
)

// Timeline says who and what touched a target's objects, the latest first: by
// the audit log, by Argo CD's events, and, for what neither tells of, by the
// objects' field managers, which name tools. only narrows it to the objects
// whose name, or kind/name, it is; "" means all.
func (s *Surveyor) Timeline(ctx context.Context, t Target, only string) ([]Touch, error) {
	ref := argocd.Ref{Namespace: t.Namespace, Name: t.Name}
	app, err := s.Argo.App(ctx, ref)
	if err != nil {
		return nil, err
	}
	objects, err := s.Argo.Managed(ctx, ref)
	if err != nil {
		return nil, err
	}
	look := &survey{Surveyor: s, ref: ref, app: app, drift: &Drift{Target: t}}
	var all []Touch
	for _, m := range objects {
		o := objectOf(m)
		if m.Hook || !matches(o, only) {
			continue
		}
		found, err := look.touchesOf(ctx, o, m)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if err := look.follow(ctx); err != nil {
		return nil, err
	}
	if only == "" {
		all = append(all, look.acts()...)
	}
	slices.SortStableFunc(all, func(a, b Touch) int { return b.At.Compare(a.At) })
	return all[:min(len(all), maxTouches)], nil
}

func matches(o manifest.Object, only string) bool {
	kind, name, found := strings.Cut(only, "/")
	if !found {
		kind, name = "", only
	}
	return (only == "" || o.Name == name) && (kind == "" || strings.EqualFold(o.Kind, kind))
}

// touchesOf is what is known of one object.
func (s *survey) touchesOf(ctx context.Context, o manifest.Object, m argocd.Managed) ([]Touch, error) {
	var writes []cluster.Write
	if s.Writes != nil {
		var err error
		if writes, err = s.named(ctx, o); err != nil {
			return nil, err
		}
	}
	var out []Touch
	for _, w := range writes {
		e := audited(w, Evidence{})
		if e.Person == "" && clientOf(w) == "argocd-server" {
			var err error
			if e, err = s.fromTrail(ctx, o, e); err != nil {
				return nil, err
			}
		}
		out = append(out, Touch{At: w.At, Object: o, Evidence: e, What: fieldsOf(o, w), Automatic: authorOf(clientOf(w)) == gitops || authorOf(clientOf(w)) == controller})
	}
	for _, owner := range cluster.Managers(m.Live) {
		told := slices.ContainsFunc(writes, func(w cluster.Write) bool { return fromManager(w, owner) })
		if owner.Subresource == "status" || told || owner.At.IsZero() {
			continue
		}
		kind := authorOf(owner.Name)
		e := Evidence{Kind: ByManager, Tool: tool(owner), Manager: owner.Name, At: owner.At}
		if kind == hand || kind == stranger {
			e.Note = s.silence()
		}
		out = append(out, Touch{At: owner.At, Object: o, Evidence: e, What: ownedBy(owner), Automatic: kind == gitops || kind == controller})
	}
	return out, nil
}

// fieldsOf says what a request wrote, without what looks like a credential.
func fieldsOf(o manifest.Object, w cluster.Write) []string {
	if strings.HasPrefix(w.Verb, "delete") {
		return []string{"deleted"}
	}
	if w.Verb == "create" && w.Object.Subresource == "" {
		return []string{"created"}
	}
	var body any
	if kjson.Unmarshal(w.Body, &body) != nil {
		return []string{w.Verb + "; the audit log does not tell what"}
	}
	var out []string
	switch body := body.(type) {
	case []any:
		for _, op := range body {
			m, _ := op.(map[string]any)
			if text(m, "op") != "test" {
				out = append(out, shown(o, strings.ReplaceAll(strings.TrimPrefix(text(m, "path"), "/"), "/", "."), text(m, "path"), m["value"]))
			}
		}
	case map[string]any:
		if w.Verb == "update" && w.Object.Subresource == "" {
			return []string{"the whole object written"}
		}
		out = leaves(o, nil, body)
	}
	return first(out, maxFields)
}

// leaves lists what a patch sets, field by field.
func leaves(o manifest.Object, path manifest.Path, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		if v["$patch"] == "delete" {
			return []string{path.String() + " removed"}
		}
		var out []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			skipped := strings.HasPrefix(key, "$") || key == lastApplied || len(path) == 0 && (key == "apiVersion" || key == "kind") ||
				len(path) == 1 && path[0].Key == "metadata" && !slices.Contains(metadataFields[:], key)
			if !skipped {
				out = append(out, leaves(o, path.Child(manifest.Key(key)), v[key])...)
			}
		}
		return out
	case []any:
		keys := mergeKeys(path, v, nil)
		if keys == nil {
			return []string{shown(o, path.String(), nameOf(path), v)}
		}
		var out []string
		for _, item := range v {
			at := path.Child(elem(keys, item))
			for _, line := range leaves(o, at, item) {
				// The key of an item is not what was changed, unless it is all.
				if m, _ := item.(map[string]any); len(m) == 1 || !isKey(line, at, keys) {
					out = append(out, line)
				}
			}
		}
		return out
	}
	return []string{shown(o, path.String(), nameOf(path), v)}
}

func isKey(line string, at manifest.Path, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		return strings.HasPrefix(line, at.Child(manifest.Key(key)).String()+" = ")
	})
}

// shown is a field and its value, if that may be shown.
func shown(o manifest.Object, path, name string, v any) string {
	switch {
	case v == nil:
		return path + " removed"
	case isSecret(o) || holds(name, v) || hidden(v):
		return path + " (its value is not shown)"
	}
	if text, ok := brief(v); ok {
		return path + " = " + text
	}
	return path
}

// ownedBy lists what a field manager owns.
func ownedBy(m cluster.Manager) []string {
	if kind := authorOf(m.Name); kind == gitops || kind == controller {
		return nil
	}
	var out []string
	m.Fields.Leaves().Iterate(func(p fieldpath.Path) {
		if text := strings.TrimPrefix(p.String(), "."); !strings.HasSuffix(text, lastApplied) {
			out = append(out, text)
		}
	})
	return first(out, maxFields)
}

func first(list []string, most int) []string {
	if n := len(list) - most; n > 0 {
		return append(list[:most:most], fmt.Sprintf("and %d more", n))
	}
	return list
}

// acts are what Argo CD's own trail tells of the target: syncs, rollbacks,
// edits of its definition.
func (s *survey) acts() []Touch {
	var out []Touch
	for _, e := range s.trail {
		started := e.Reason == "OperationStarted"
		if e.User == "" && !started || strings.HasPrefix(e.Reason, "Resource") && e.User == "" {
			continue
		}
		t := Touch{At: e.At, What: []string{strings.TrimSpace(strings.TrimPrefix(e.Message, e.User))}, Automatic: e.User == ""}
		t.Evidence = Evidence{Kind: ByController, Person: e.User, Tool: "Argo CD", At: e.At}
		out = append(out, t)
	}
	return out
}
