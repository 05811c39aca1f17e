package manifest

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

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
			start := time.Now()
			_, err := Propose(t.Context(), Request{Tree: tree, Target: Source{Name: "web", Dir: "apps", Namespace: "payments", Recurse: true}, Changes: []Change{change(t, "spec.replicas", int64(3), int64(6))}})
			if err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
