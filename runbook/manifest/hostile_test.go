package manifest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// worked is how long this process has had a processor: what a test may be held
// to on a machine that has other things to do.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// TestHostileFilesAreAnsweredInTime gives large and odd files, each of them
// under the limits. The bound is generous: it is there for what never ends.
func TestHostileFilesAreAnsweredInTime(t *testing.T) {
	const size = 4 << 20
	many := fstest.MapFS{}
	for i := range 3000 {
		many["apps/"+strings.Repeat("d/", i%5)+"f"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+".yaml"] = &fstest.MapFile{Data: []byte("a: b\n")}
	}
	for name, tree := range map[string]fstest.MapFS{
		"one long line":       tree(deployment + "note: " + strings.Repeat("x", size) + "\n"),
		"a long list":         tree(deployment + "list:\n" + strings.Repeat("- x\n", size/16)),
		"brackets in depth":   tree(deployment + "list: " + strings.Repeat("[", size/16)),
		"maps in depth":       tree(deployment + "map: " + strings.Repeat("{a: ", 2000) + strings.Repeat("}", 2000) + "\n"),
		"documents":           tree(deployment + strings.Repeat("---\nkind: A\napiVersion: v1\n", 6000)),
		"separators":          tree(deployment + strings.Repeat("---\n", size/16)),
		"anchors":             tree(deployment + "list:\n" + strings.Repeat("- &a x\n- *a\n", size/64)),
		"files":               many,
		"bytes at random":     tree(deployment + strings.Repeat("\x00\xff\x80: \t", 1000)),
		"quotes without end":  tree(deployment + strings.Repeat(`"`, size/4+1)),
		"a number of a digit": tree(flowSpec("\n  replicas: 3\n  big: " + strings.Repeat("9", 10_000) + "\n")),
	} {
		t.Run(name, func(t *testing.T) {
			start := worked(t)
			_, err := Propose(t.Context(), Request{Tree: tree, Target: Source{Name: "web", Dir: "apps", Namespace: "payments", Recurse: true}, Changes: []Change{change(t, "spec.replicas", int64(3), int64(6))}})
			if err != nil {
				t.Error(err)
			}
			if took := worked(t) - start; took > 20*time.Second*slower {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestHostileKustomizationsAreAnsweredInTime does the same to Kustomize.
func TestHostileKustomizationsAreAnsweredInTime(t *testing.T) {
	overlay := func(kustomization, more string) fstest.MapFS {
		return fstest.MapFS{"apps/kustomization.yaml": {Data: []byte("resources: [web.yaml]\n" + kustomization)}, "apps/web.yaml": {Data: []byte(deployment + more)}}
	}
	objects := ""
	for i := range 300 {
		objects += fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
	}
	for name, tree := range map[string]fstest.MapFS{
		"a long list":            overlay("", "list:\n"+strings.Repeat("- x\n", 20_000)),
		"one long line":          overlay("", "note: "+strings.Repeat("x", 1<<20)+"\n"),
		"maps in depth":          overlay("", "map: "+strings.Repeat("{a: ", 400)+strings.Repeat("}", 400)+"\n"),
		"patches of all":         overlay("patches:\n"+strings.Repeat("- target: {kind: ConfigMap}\n  patch: '[{\"op\": \"add\", \"path\": \"/data\", \"value\": {}}]'\n", 4), objects),
		"a regular expression":   overlay("images:\n"+strings.Repeat("- name: (a*)*b\n  newTag: x\n", 1000), ""),
		"images in great number": overlay("images:\n"+strings.Repeat("- name: a\n  newTag: x\n", 5000), ""),
	} {
		t.Run(name, func(t *testing.T) {
			start := worked(t)
			_, err := Propose(t.Context(), Request{Tree: tree, Target: Source{Name: "web", Dir: "apps", Namespace: "payments"}, Changes: []Change{change(t, "spec.replicas", int64(3), int64(6))}})
			if err != nil {
				t.Error(err)
			}
			if took := worked(t) - start; took > 30*time.Second*slower {
				t.Errorf("it took %s", took)
			}
		})
	}
}
