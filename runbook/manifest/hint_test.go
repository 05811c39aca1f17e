package manifest

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestHintsBesideProvenChanges(t *testing.T) {
	for name, c := range map[string]struct {
		spec, path string
		git, live  any
		hint       string
	}{
		"Flux's image automation":  {"\n  image: a:1 # {\"$imagepolicy\": \"flux-system:web\"}\n", "spec.image", "a:1", "a:2", "flux-system:web"},
		"Renovate":                 {"\n  # renovate: datasource=docker\n  image: a:1\n", "spec.image", "a:1", "a:2", "Renovate"},
		"a default of the cluster": {"\n  image: a:1\n", "spec.minReadySeconds", int64(0), int64(9), "not stated"},
		"nothing to say":           {"\n  image: a:1 # renovate: elsewhere\n", "spec.image", "a:1", "a:2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Propose(t.Context(), Request{Tree: tree(flowSpec(c.spec)), Target: target, Changes: []Change{change(t, c.path, c.git, c.live)}})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if !v.Proven || !strings.Contains(v.Hint, c.hint) || (c.hint == "") != (v.Hint == "") {
				t.Errorf("proven %t (%s), hint %q, want %q", v.Proven, v.Why, v.Hint, c.hint)
			}
		})
	}
}

// TestErrorsDoNotQuoteFiles puts a secret into files that can't be read.
func TestErrorsDoNotQuoteFiles(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, content := range map[string]string{
		"no kind":        "apiVersion: v1\nmetadata: {name: x}\nkind:\nstringData: {p: " + secret + "}\n",
		"a wrong type":   "apiVersion: v1\nkind: Secret\nmetadata: " + secret + "\n",
		"a broken quote": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: \"" + secret + "\n",
		"a bad alias":    "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: *" + secret + "\n",
		"a list of text": "apiVersion: v1\nkind: List\nmetadata: {}\nitems: [" + secret + "]\n",
		"a bad tag":      "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: !!int " + secret + "\n",
	} {
		for _, file := range []string{"apps/secret.yaml", "apps/secret.json"} {
			t.Run(name+" in "+file, func(t *testing.T) {
				files := fstest.MapFS{"apps/web.yaml": {Data: []byte(deployment)}, file: {Data: []byte(content)}}
				p, err := Propose(t.Context(), Request{Tree: files, Target: target, Changes: []Change{change(t, "spec.replicas", int64(3), int64(6))}})
				if err != nil {
					t.Fatal(err)
				}
				v := p.Changes[0]
				if strings.Contains(v.Why+v.Hint, secret) {
					t.Errorf("it says %q", v.Why)
				}
			})
		}
	}
}
