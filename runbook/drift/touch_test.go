package drift

import (
	"encoding/json"
	"testing"
	"time"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

func TestTouches(t *testing.T) {
	for name, test := range map[string]struct {
		path, verb, body string
		live             any
		want             touch
	}{
		"a merge patch to what is there":  {"spec.replicas", "patch", `{"spec":{"replicas":6}}`, int64(6), same},
		"a merge patch to something else": {"spec.replicas", "patch", `{"spec":{"replicas":5}}`, int64(6), other},
		"a patch elsewhere":               {"spec.replicas", "patch", `{"spec":{"paused":true}}`, int64(6), untouched},
		"a null takes away":               {"metadata.labels.x", "patch", `{"metadata":{"labels":{"x":null}}}`, nil, same},
		"a null of what is there":         {"metadata.labels.x", "patch", `{"metadata":{"labels":{"x":null}}}`, "y", other},
		"a strategic delete":              {"spec.env[name=A]", "patch", `{"spec":{"env":[{"name":"A","$patch":"delete"}]}}`, nil, same},
		"a JSON patch":                    {"spec.replicas", "patch", `[{"op":"test","path":"/spec/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":6}]`, int64(6), same},
		"a JSON patch with an escape":     {`metadata.annotations["a.b/c"]`, "patch", `[{"op":"add","path":"/metadata/annotations/a.b~1c","value":"1"}]`, "1", same},
		"a JSON patch into a list":        {"spec.containers[name=web].image", "patch", `[{"op":"replace","path":"/spec/containers/0/image","value":"b"}]`, "b", same},
		"a JSON patch that removes":       {"spec.paused", "patch", `[{"op":"remove","path":"/spec/paused"}]`, nil, same},
		"a JSON patch that empties":       {"spec.limits", "patch", `[{"op":"remove","path":"/spec/limits/memory"}]`, nil, same},
		"a merge patch that empties":      {"spec.limits", "patch", `{"spec":{"limits":{"memory":null}}}`, nil, same},
		"a strategic patch that empties":  {"spec.env", "patch", `{"spec":{"env":[{"name":"A","$patch":"delete"}]}}`, nil, same},
		"a patch of what is gone now":     {"spec.limits", "patch", `{"spec":{"limits":{"memory":"1Gi"}}}`, nil, other},
		"a JSON patch of a part":          {"spec.limits", "patch", `[{"op":"add","path":"/spec/limits/cpu","value":"500m"}]`, map[string]any{"cpu": "500m"}, same},
		"a JSON patch of another value":   {"spec.limits", "patch", `[{"op":"add","path":"/spec/limits/cpu","value":"400m"}]`, map[string]any{"cpu": "500m"}, other},
		"a whole object":                  {"spec.replicas", "update", `{"spec":{"replicas":6}}`, int64(6), same},
		"a whole object without it":       {"spec.paused", "update", `{"spec":{"replicas":6}}`, nil, same},
		"a request that is not told":      {"spec.replicas", "patch", ``, int64(6), unsaid},
		"a masked value":                  {"spec.env[name=TOKEN].value", "patch", `{"spec":{"env":[{"name":"TOKEN","value":"********"}]}}`, "x", unsaid},
		"a delete":                        {"spec.replicas", "delete", ``, int64(6), untouched},
		"what the server completes":       {"spec.containers[name=d]", "patch", `{"spec":{"containers":[{"name":"d","image":"b"}]}}`, map[string]any{"name": "d", "image": "b", "imagePullPolicy": "Always"}, same},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := manifest.ParsePath(test.path)
			if err != nil {
				t.Fatal(err)
			}
			w := cluster.Write{Verb: test.verb, Body: json.RawMessage(test.body)}
			if got := touches(w, field{path: path, live: test.live}); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestTheLastOfTwoHiddenWritesIsNotMistakenForTheFirst(t *testing.T) {
	body := `{"spec":{"env":[{"name":"TOKEN","value":"********"}]}}`
	writes := []cluster.Write{
		wrote("bob@example.com", "patch", "", "kubectl-edit", body, noon.Add(-time.Minute)),
		wrote("alice@example.com", "patch", "", "kubectl-edit", body, noon),
	}
	path, err := manifest.ParsePath("spec.env[name=TOKEN].value")
	if err != nil {
		t.Fatal(err)
	}
	owner := cluster.Manager{Name: "kubectl-edit", Operation: "Update", At: noon}
	w, ok := culprit(writes, field{path: path, live: "x"}, owner, true)
	if !ok || w.User != "alice@example.com" {
		t.Errorf("blamed %q", w.User)
	}
	owner.At = noon.Add(time.Hour)
	if w, ok := culprit(writes, field{path: path, live: "x"}, owner, true); ok {
		t.Errorf("blamed %q for a write of another time", w.User)
	}
}

func TestAnotherToolsRequestForTheSameValueIsNotBlamed(t *testing.T) {
	writes := []cluster.Write{wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon)}
	path, err := manifest.ParsePath("spec.replicas")
	if err != nil {
		t.Fatal(err)
	}
	owner := cluster.Manager{Name: "k9s", Operation: "Update", At: noon.Add(time.Hour)}
	if w, ok := culprit(writes, field{path: path, live: int64(6)}, owner, true); ok {
		t.Errorf("blamed %q", w.User)
	}
}
