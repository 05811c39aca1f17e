package propose

import (
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// reveal gives a change with its values. Those of a text that holds a
// credential somewhere are masked, for people to look at; if the lines that
// differ hold none, the text can be written all the same: what else is in it
// is in Git already.
func reveal(c drift.Change, git, live map[string]any) manifest.Change {
	out := manifest.Change{Object: c.Object, Path: c.Path, Op: c.Op, Git: c.Git, Live: c.Live}
	if !c.Masked || c.Op != manifest.Set {
		return out
	}
	was, _ := c.Path.Get(git)
	is, _ := c.Path.Get(live)
	before, okBefore := was.(string)
	after, okAfter := is.(string)
	if c.Object.Kind == "Secret" || !okBefore || !okAfter || !strings.Contains(before, "\n") || !strings.Contains(after, "\n") {
		return out
	}
	if hides(c, differing(before, after), differing(after, before)) {
		return out
	}
	out.Git, out.Live = was, is
	return out
}

// differing are the lines of a text that another does not have.
func differing(text, other string) string {
	have := map[string]bool{}
	for line := range strings.Lines(other) {
		have[strings.TrimSpace(line)] = true
	}
	var lines strings.Builder
	for line := range strings.Lines(text) {
		if !have[strings.TrimSpace(line)] {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// hides tells whether the comparison would mask a change of these texts in
// the same place.
func hides(c drift.Change, before, after string) bool {
	object := func(text string) map[string]any {
		return map[string]any{"data": map[string]any{c.Path[len(c.Path)-1].Key: text + "."}}
	}
	at := manifest.Object{APIVersion: "v1", Kind: "ConfigMap", Name: c.Object.Name}
	for _, found := range drift.Compare(at, object(before), object(after+".")) {
		if found.Masked {
			return true
		}
	}
	return false
}

// hidden is what is shown in the place of a long text that may hold a
// credential: the edit shows the lines that change.
const hidden = "(not shown: some of the text may be a credential)"

// show keeps texts out of the result that the comparison would mask.
func show(c *Change) {
	before, okBefore := c.Git.(string)
	after, okAfter := c.Live.(string)
	if len(c.Path) == 0 || !okBefore || !okAfter {
		return
	}
	if hides(drift.Change{Object: c.Object, Path: c.Path}, before, after) && strings.Contains(before, "\n") {
		c.Git, c.Live = hidden, hidden
	}
}
