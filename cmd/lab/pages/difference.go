package pages

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
	"sigs.k8s.io/yaml"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
)

// difference is an object that is not as Git has it.
type difference struct {
	Group, Kind, Namespace, Name string
	Note                         string // said instead of lines, or above them
	Lines                        []line
}

// line is a line of an object's YAML. Kind is add for what a sync would write,
// del for what it would take away, same for what stands around, and gap where
// lines are left out.
type line struct{ Kind, Text string }

// differences are Argo CD's own: the pair that it compared, not ours.
func differences(objects []argocd.Managed) []difference {
	var out []difference
	for _, o := range objects {
		d := difference{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		switch {
		case o.Hook || o.Live != nil && o.Target != nil && !o.Modified:
			continue
		case o.Live == nil && o.Target == nil:
			continue
		case o.Live == nil:
			d.Note = "In Git, and not in the cluster."
		case o.Target == nil:
			d.Note = "In the cluster, and not in Git."
		case o.Kind == "Secret" && o.Group == "":
			d.Note = "It differs. What a Secret holds is not shown."
		default:
			d.Lines = lines(text(o.NormalizedLive), text(o.PredictedLive))
			if len(d.Lines) == 0 {
				d.Note = "What differs is not shown: by its name it may be a credential."
			}
		}
		out = append(out, d)
	}
	return out
}

// text is an object as YAML, without what only the API server writes and
// without what may be a credential.
func text(object map[string]any) string {
	shown := map[string]any{}
	for key, v := range object {
		if key != "status" {
			shown[key] = hide(key, v)
		}
	}
	if meta, ok := shown["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		if notes, ok := meta["annotations"].(map[string]any); ok {
			delete(notes, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	out, err := yaml.Marshal(shown)
	if err != nil {
		return err.Error() + "\n" // decoded JSON can always be written
	}
	return string(out)
}

// hide copies a value and leaves out texts under a name that credentials have.
// An environment variable's value goes by the variable's name.
func hide(name string, v any) any {
	switch v := v.(type) {
	case string:
		if cluster.LooksSecret(name) {
			return "(not shown)"
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = hide(name, item)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			goesBy := key
			if own, ok := v["name"].(string); ok && key == "value" {
				goesBy = own
			}
			out[key] = hide(goesBy, item)
		}
		return out
	}
	return v
}

// around is how many lines are shown about one that differs.
const around = 4

// lines compares two texts; nil means that they are the same.
func lines(live, desired string) []line {
	var all []line
	for _, chunk := range diff.Do(live, desired) {
		kind := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffDelete: "del", diffmatchpatch.DiffInsert: "add", diffmatchpatch.DiffEqual: "same"}[chunk.Type]
		for text := range strings.Lines(chunk.Text) {
			all = append(all, line{kind, strings.TrimSuffix(text, "\n")})
		}
	}
	differs := func(l line) bool { return l.Kind != "same" }
	if !slices.ContainsFunc(all, differs) {
		return nil
	}
	var out []line
	for i, l := range all {
		near := all[max(0, i-around):min(len(all), i+around+1)]
		switch {
		case slices.ContainsFunc(near, differs):
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1].Kind != "gap":
			out = append(out, line{Kind: "gap", Text: "…"})
		}
	}
	return out
}
