package manifest

import (
	"strings"
	"testing"
)

func TestOnlyChangesHoldsAnotherRenderAgainstTheDecision(t *testing.T) {
	deployment := func(replicas any, image string) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "web", "image": image}},
			}}},
		}
	}
	web := Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}
	scale := Change{Object: web, Path: Path{Key("spec"), Key("replicas")}, Op: Set, Git: float64(3), Live: float64(6)}
	image := Change{Object: web, Path: Path{Key("spec"), Key("template"), Key("spec"), Key("containers"), Item("name", "web"), Key("image")}, Op: Set, Git: "web:1", Live: "web:2"}
	service := map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web"}}

	for name, c := range map[string]struct {
		before, after []map[string]any
		changes       []Change
		want          string
	}{
		"just what was decided":    {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(6, "web:1")}, []Change{scale}, ""},
		"two decided":              {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(6, "web:2")}, []Change{scale, image}, ""},
		"another field moved":      {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(6, "web:2")}, []Change{scale}, "differs too"},
		"the value did not arrive": {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(3, "web:1")}, []Change{scale}, "not as decided"},
		"another value arrived":    {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(7, "web:1")}, []Change{scale}, "not as decided"},
		"an object is gone":        {[]map[string]any{deployment(3, "web:1"), service}, []map[string]any{deployment(6, "web:1")}, []Change{scale}, "gone"},
		"an object is new":         {[]map[string]any{deployment(3, "web:1")}, []map[string]any{deployment(6, "web:1"), service}, []Change{scale}, "new"},
		"the object is not there":  {[]map[string]any{service}, []map[string]any{service}, []Change{scale}, "not rendered"},
	} {
		t.Run(name, func(t *testing.T) {
			err := OnlyChanges(c.before, c.after, c.changes)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("OnlyChanges = %v, want %q", err, c.want)
			}
		})
	}
}
