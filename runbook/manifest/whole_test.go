package manifest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// extra is an object as the API server returns it.
func extra() map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": "extra", "namespace": "shop", "uid": "1", "resourceVersion": "2", "creationTimestamp": "2026-01-01T00:00:00Z",
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
		},
		"data": map[string]any{"on": "yes"},
	}
}

func TestWholeObjects(t *testing.T) {
	const two = "# first\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"1\"}\n---\n# second\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  x: |\n    text\n"
	config := func(name string) Object { return Object{"v1", "ConfigMap", "shop", name} }
	for name, c := range map[string]struct {
		tree      fstest.MapFS
		target    Source
		consumers []Source
		change    Change
		class     Class
		// edits are the files after the edit; empty for one that is deleted.
		edits map[string]string
	}{
		"a new object": {
			tree: fstest.MapFS{"d/two.yaml": {Data: []byte(two)}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("extra"), Op: Add, Live: extra()},
			edits:  map[string]string{"d/configmap-extra.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: shop\ndata:\n  \"on\": \"yes\"\n"},
		},
		"a document less": {
			tree: fstest.MapFS{"d/two.yaml": {Data: []byte(two)}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("a"), Op: Remove},
			edits:  map[string]string{"d/two.yaml": two[strings.Index(two, "---"):]},
		},
		"the last document": {
			tree: fstest.MapFS{"d/two.yaml": {Data: []byte(two)}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("b"), Op: Remove},
			edits:  map[string]string{"d/two.yaml": two[:strings.Index(two, "---")]},
		},
		"a file less": {
			tree: fstest.MapFS{"d/a.yaml": {Data: []byte(two[:strings.Index(two, "---")])}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("a"), Op: Remove},
			edits:  map[string]string{"d/a.yaml": ""},
		},
		"an object that is there": {
			tree: fstest.MapFS{"d/two.yaml": {Data: []byte(two)}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("a"), Op: Add, Live: extra()}, class: Already,
		},
		"what another object made": {
			tree: fstest.MapFS{"d/two.yaml": {Data: []byte(two)}}, target: Source{Name: "d", Dir: "d", Namespace: "shop"},
			change: Change{Object: config("extra"), Op: Add, Live: map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{}}}}}, class: NotForGit,
		},
		"a new object in an overlay": {
			tree: shop(nil), target: prod, consumers: []Source{test},
			change: Change{Object: config("extra"), Op: Add, Live: extra()},
			edits: map[string]string{
				"prod/configmap-extra.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: shop\ndata:\n  \"on\": \"yes\"\n",
				"prod/kustomization.yaml":   "namespace: shop\nresources:\n  - ../base\n  - configmap-extra.yaml\n",
			},
		},
		"an object of a shared base": {
			tree: shop(nil), target: prod, consumers: []Source{test},
			change: Change{Object: config("web"), Op: Remove},
			edits: map[string]string{
				"prod/kustomization.yaml": "namespace: shop\nresources:\n  - ../base\npatches:\n  - target:\n      kind: ConfigMap\n      name: web\n    patch: |-\n      $patch: delete\n      apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: web\n",
			},
		},
		"an object of a base of its own": {
			tree: shop(nil), target: prod,
			change: Change{Object: config("web"), Op: Remove},
			edits:  map[string]string{"base/config.yaml": "", "base/kustomization.yaml": "resources:\n- web.yaml\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Propose(t.Context(), Request{Tree: c.tree, Target: c.target, Consumers: c.consumers, Changes: []Change{c.change}, Structure: true})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if v.Class != c.class || v.Proven != (c.class == "") {
				t.Fatalf("proven %v, %s: %s", v.Proven, v.Class, v.Why)
			}
			if len(p.Edits) != len(c.edits) {
				t.Fatalf("%d edits: %+v", len(p.Edits), p.Edits)
			}
			for _, e := range p.Edits {
				want, ok := c.edits[e.File]
				_, old := c.tree[e.File]
				if !ok || string(e.Content) != want || e.Deleted != (want == "") || e.Created == old {
					t.Errorf("%s (created %v, deleted %v):\n%s", e.File, e.Created, e.Deleted, e.Content)
				}
			}
		})
	}
}

// TestPatchesOfWholeFilesApply gives git the patch of a file that comes and
// of one that goes.
func TestPatchesOfWholeFilesApply(t *testing.T) {
	for name, c := range map[string]struct {
		change Change
		gone   string
	}{
		"a file more": {change: Change{Object: Object{"v1", "ConfigMap", "shop", "extra"}, Op: Add, Live: extra()}},
		"a file less": {change: Change{Object: Object{"v1", "ConfigMap", "shop", "web"}, Op: Remove}, gone: "base/config.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := shop(nil)
			p, err := Propose(t.Context(), Request{Tree: tree, Target: prod, Changes: []Change{c.change}, Structure: true})
			if err != nil || len(p.Edits) != 2 {
				t.Fatalf("%v, %d edits", err, len(p.Edits))
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, tree); err != nil {
				t.Fatal(err)
			}
			for _, e := range p.Edits {
				git := exec.CommandContext(t.Context(), "git", "apply", "-")
				git.Dir, git.Stdin = dir, strings.NewReader(e.Patch())
				if out, err := git.CombinedOutput(); err != nil {
					t.Fatalf("git apply: %v\n%s\n%s", err, out, e.Patch())
				}
				now, err := os.ReadFile(filepath.Join(dir, e.File))
				if e.Deleted != errors.Is(err, fs.ErrNotExist) || string(now) != string(e.Content) {
					t.Errorf("%s is %q: %v", e.File, now, err)
				}
			}
			if c.gone != "" && !slices.ContainsFunc(p.Edits, func(e Edit) bool { return e.File == c.gone && e.Deleted }) {
				t.Errorf("%s is not deleted", c.gone)
			}
		})
	}
}
