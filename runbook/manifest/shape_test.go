package manifest

import (
	"strings"
	"testing"
	"testing/fstest"
)

const shapes = `apiVersion: v1
kind: Pod
metadata:
  name: web # the shop
  labels: {app: web}
spec:
  containers:
  - name: web
    env:
    - name: A
      value: "1"

    # for the old client
    - name: B
      value: "2"
    args: [a]
  - image: x
    name: side
  volumes:
    - name: only
      emptyDir: {}
  one: &one
    a: 1
  two: *one
`

func TestStructure(t *testing.T) {
	for name, tc := range map[string]struct {
		path      string
		op        Op
		live      any
		old, new  string // what the edit replaces
		class     Class
		transform func(string) string
	}{
		"a list item at the end of the list": {path: "spec.containers[name=web].env[name=C]", op: Add, live: map[string]any{"value": "on", "name": "C"},
			old: "      value: \"2\"\n", new: "      value: \"2\"\n    - name: C\n      value: \"on\"\n"},
		"a map and a list below a new key": {path: "metadata.annotations[\"a.b/c\"]", op: Add, live: "120",
			old: "  labels: {app: web}\n", new: "  labels: {app: web}\n  annotations:\n    a.b/c: \"120\"\n"},
		"an item with lists in it": {path: "spec.volumes[name=x]", op: Add, live: map[string]any{"name": "x", "csi": map[string]any{"items": []any{map[string]any{"k": int64(1)}, "y"}}},
			old: "      emptyDir: {}\n", new: "      emptyDir: {}\n    - name: x\n      csi:\n        items:\n        - k: 1\n        - \"y\"\n"},
		"an item away, its neighbour's comment stays": {path: "spec.containers[name=web].env[name=A]", op: Remove,
			old: "    - name: A\n      value: \"1\"\n", new: ""},
		"a key away":                       {path: "spec.containers[name=web].args", op: Remove, old: "    args: [a]\n", new: ""},
		"a key away, Windows line endings": {path: "spec.containers[name=web].args", op: Remove, old: "    args: [a]\r\n", new: "", transform: crlf},
		"an item, no final newline": {path: "spec.three", op: Add, live: map[string]any{"a": int64(1)},
			old: "  two: *one", new: "  two: *one\n  three:\n    a: 1", transform: strings.TrimSpace},
		"the first key of an item":     {path: "spec.containers[name=side].image", op: Remove, class: Structure},
		"the only item of a list":      {path: "spec.volumes[name=only]", op: Remove, class: Structure},
		"what an alias needs":          {path: "spec.one", op: Remove, class: ProofFailed},
		"within what an alias repeats": {path: "spec.two.b", op: Add, live: map[string]any{"c": "d"}, class: SharedSource},
		"within brackets":              {path: "metadata.labels.x", op: Add, live: map[string]any{"c": "d"}, class: Structure},
		"a field that is gone already": {path: "spec.four", op: Remove, class: Already},
	} {
		t.Run(name, func(t *testing.T) {
			file := shapes
			if tc.transform != nil {
				file = tc.transform(file)
			}
			path, err := ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			c := Change{Object: Object{APIVersion: "v1", Kind: "Pod", Name: "web"}, Path: path, Op: tc.op, Live: tc.live}
			if tc.op == Remove {
				c.Git = gitValue(t, file, path)
			}
			p, err := Propose(t.Context(), Request{
				Tree:   fstest.MapFS{"pod.yaml": {Data: []byte(file)}},
				Target: Source{Name: "web"}, Changes: []Change{c}, Structure: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if v.Class != tc.class || v.Proven != (tc.class == "") {
				t.Fatalf("class %q, proven %v: %s", v.Class, v.Proven, v.Why)
			}
			if tc.class != "" {
				return
			}
			if want := strings.Replace(file, tc.old, tc.new, 1); string(p.Edits[0].Content) != want {
				t.Errorf("got %q, want %q", p.Edits[0].Content, want)
			}
		})
	}
}

// gitValue is what a file says at a path.
func gitValue(t *testing.T, file string, path Path) any {
	t.Helper()
	list, err := RenderDir(t.Context(), fstest.MapFS{"pod.yaml": {Data: []byte(file)}}, Source{Name: "web"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	value, _ := path.Get(list[0].Content)
	return value
}
