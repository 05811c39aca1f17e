package propose

import (
	"testing"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

func TestOnlyLinesThatHoldNoCredentialAreWritten(t *testing.T) {
	const was = "password: one\nlevel: info\nurl: http://a\n"
	for name, c := range map[string]struct {
		kind, is string
		masked   bool
	}{
		"another line":                 {"ConfigMap", "password: one\nlevel: debug\nurl: http://a\n", false},
		"a line more":                  {"ConfigMap", "password: one\nlevel: info\nurl: http://a\nmore: 1\n", false},
		"the credential itself":        {"ConfigMap", "password: two\nlevel: info\nurl: http://a\n", true},
		"the credential goes":          {"ConfigMap", "level: info\nurl: http://a\n", true},
		"a credential comes":           {"ConfigMap", "password: one\nlevel: info\nurl: http://u:p@a\n", true},
		"both":                         {"ConfigMap", "password: two\nlevel: debug\nurl: http://a\n", true},
		"one line, which is all of it": {"ConfigMap", "password: two", true},
		"a Secret":                     {"Secret", "password: one\nlevel: debug\nurl: http://a\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(text string) map[string]any {
				return map[string]any{"apiVersion": "v1", "kind": c.kind, "data": map[string]any{"app.ini": text}}
			}
			o := manifest.Object{APIVersion: "v1", Kind: c.kind, Name: "app"}
			found := drift.Compare(o, object(was), object(c.is))
			if len(found) != 1 || !found[0].Masked {
				t.Fatalf("the comparison masks nothing: %+v", found)
			}
			out := reveal(found[0], object(was), object(c.is))
			if got := out.Live != any(c.is); got != c.masked {
				t.Errorf("masked %v, want %v", got, c.masked)
			}
			shown := Change{Object: o, Path: out.Path, Git: out.Git, Live: out.Live}
			if show(&shown); shown.Live == any(c.is) {
				t.Error("the text is shown")
			}
		})
	}
}
