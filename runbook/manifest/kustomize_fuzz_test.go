package manifest

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

// alarm is a network that nobody may use.
type alarm struct{ rung atomic.Bool }

func (a *alarm) RoundTrip(*http.Request) (*http.Response, error) {
	a.rung.Store(true)
	return nil, errors.New("nothing is fetched")
}

// guardNetwork tells afterwards whether a build has reached for the network,
// or for git.
func guardNetwork(f testing.TB) (used func() bool) {
	a := &alarm{}
	old := http.DefaultTransport
	http.DefaultTransport = a
	f.Cleanup(func() { http.DefaultTransport = old })
	bin := f.TempDir()
	mark := filepath.Join(bin, "used")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n: > "+mark+"\nexit 1\n"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Setenv("PATH", bin)
	return func() bool {
		_, err := os.Stat(mark)
		return err == nil || a.rung.Load()
	}
}

// FuzzKustomization builds whatever a kustomization and a file beside it say.
// Nothing may panic, reach for the network or start git; and what is rendered
// once is rendered the same again.
func FuzzKustomization(f *testing.F) {
	for _, seed := range []string{
		"resources:\n- a.yaml\n", "resources:\n- https://example.test/x\n", "bases: [git@example.test:a/b]\n", "resources: ['github.com/a/b?ref=c']\n",
		"resources: [a.yaml]\nimages:\n- name: '['\n  newTag: x\n", "components:\n- ../d\n", "resources: [a.yaml]\npatches:\n- path: a.yaml\n",
		"resources: [a.yaml]\ntransformers:\n- a.yaml\n", "configMapGenerator:\n- name: x\n  files: [a.yaml]\n  envs: [a.yaml]\n",
		"resources: [a.yaml]\nreplacements:\n- source: {kind: Pod}\n  targets: [{select: {kind: Pod}, fieldPaths: [x.y]}]\n",
		"resources: [a.yaml]\nnamePrefix: x-\nvars:\n- name: X\n  objref: {kind: Pod, name: a}\n", "crds: [a.yaml]\n", "openapi: {path: a.yaml}\n", "generators: [|-\n  https://example.test]\n",
	} {
		f.Add(seed, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a:1}]}\n")
		f.Add(seed, "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: https://example.test/p\n")
	}
	used := guardNetwork(f)
	f.Fuzz(func(t *testing.T, kustomization, file string) {
		if len(kustomization)+len(file) > 8192 {
			return
		}
		tree := fstest.MapFS{
			"d/kustomization.yaml": {Data: []byte(kustomization)}, "d/a.yaml": {Data: []byte(file)},
			"e/kustomization.yaml": {Data: []byte("resources: [../d]\n")},
		}
		src := Source{Name: "e", Dir: "e"}
		list, err := RenderDir(t.Context(), tree, src, Limits{})
		if used() {
			t.Fatalf("the network or git was used by\n%s\nand\n%s", kustomization, file)
		}
		if err != nil {
			if !isRefusal(err) {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		again, err := RenderDir(t.Context(), tree, src, Limits{})
		if err != nil || digest(list) != digest(again) {
			t.Fatalf("another render: %v", err)
		}
	})
}

// FuzzShapes adds to, rewrites and cuts lists and maps of a file that may
// hold anything. No byte outside of the edit may move, and what the edit is
// said to do it must do.
func FuzzShapes(f *testing.F) {
	for _, spec := range []string{"\n  args: [a, \"b\", c]\n", "\n  args:\n  - a\n  - b # x\n\n  - c\n", "\n  args: &x [a]\n  b: *x\n", "\n  env:\n    - name: a\n      value: b\n    - {name: c}\n", "{args: [a, [b]], x: {y: z}}", "\n  args:\n  -\n    a\n  - - b\n  - |\n    c\n"} {
		f.Add(spec, "spec.args", "new")
		f.Add(spec, "spec.env[name=a]", "a: b")
		f.Add(spec, "spec.x.y", "- #")
	}
	f.Fuzz(func(t *testing.T, spec, path, value string) {
		p, err := ParsePath(path)
		if err != nil || len(p) == 0 || len(spec) > 4096 || len(value) > 256 {
			return
		}
		parsed := parseText([]byte(flowSpec(spec)))
		if parsed.err != nil || len(parsed.docs) != 1 {
			return
		}
		for _, c := range []Change{
			{Path: p, Op: Remove}, {Path: p, Op: Add, Live: map[string]any{"k": value}}, {Path: p, Op: Set, Live: []any{"a", value, "c"}},
			{Path: p, Op: Set, Live: []any{value}}, {Path: p, Op: Add, Live: []any{map[string]any{"name": value}}},
		} {
			e, r := parsed.edit("x.yaml", parsed.docs[0], c, true)
			if r != nil {
				continue
			}
			before, err := decode("x.yaml", parsed.content, 100)
			after, errAfter := decode("x.yaml", e.content, 100)
			if err != nil || len(before) != 1 {
				continue
			}
			if errAfter != nil || len(after) != 1 {
				t.Fatalf("%s %s became unreadable: %v\n%s", c.Op, p, errAfter, e.content)
			}
		}
	})
}
