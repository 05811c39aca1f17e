package propose

import (
	"fmt"
	"os"
	"strings"

	"reconcilebot/runbook/manifest"
)

// Result is the answer, as it is printed in JSON.
type Result struct {
	// Verdict is proven, partial, refused or nothing.
	Verdict string   `json:"verdict"`
	Changes []Change `json:"changes"`
	// Edits are those that are proven.
	Edits []Edit `json:"edits"`
	Proof Proof  `json:"proof"`
	// Ms are times in milliseconds.
	Ms map[string]int64 `json:"ms"`
}

// Change is one field and what became of it.
type Change struct {
	Object  manifest.Object `json:"object"`
	Path    manifest.Path   `json:"path"`
	Op      manifest.Op     `json:"op"`
	Git     any             `json:"git,omitempty"`
	Live    any             `json:"live,omitempty"`
	Verdict string          `json:"verdict"`
	Class   manifest.Class  `json:"class,omitempty"`
	Why     string          `json:"why,omitempty"`
	Hint    string          `json:"hint,omitempty"`
	Source  Place           `json:"source"`
}

// Place is where a value lives in Git.
type Place struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Layer string `json:"layer,omitempty"`
}

// Edit is one file; Content is all of it after the edit.
type Edit struct {
	File    string `json:"file"`
	Patch   string `json:"patch"`
	Content string `json:"content"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
}

// Proof is what rendering showed.
type Proof struct {
	Target struct {
		Differences int `json:"differences"`
	} `json:"target"`
	Consumers Consumers `json:"consumers"`
}

// Consumers are those who read the same tree.
type Consumers struct {
	Checked     int                    `json:"checked"`
	Changed     []string               `json:"changed"`
	Unbuildable []manifest.Unbuildable `json:"unbuildable"`
}

// Refused tells whether any change is refused.
func (r Result) Refused() bool { return r.Verdict == "refused" || r.Verdict == "partial" }

func conclude(p manifest.Proposal) Result {
	out := Result{Changes: []Change{}, Edits: []Edit{}}
	proven := 0
	for _, v := range p.Changes {
		if v.Class == manifest.Already {
			continue
		}
		c := Change{v.Object, v.Path, v.Op, v.Git, v.Live, "refused", v.Class, v.Why, v.Hint, Place{v.File, v.Line, v.Layer}}
		if len(v.Path) == 0 {
			// A whole object may hold anything, and the edit shows it.
			c.Git, c.Live = nil, nil
		}
		show(&c)
		if v.Proven {
			proven++
			c.Verdict = "proven"
		}
		out.Changes = append(out.Changes, c)
	}
	for _, e := range p.Edits {
		out.Edits = append(out.Edits, Edit{File: e.File, Patch: e.Patch(), Content: string(e.Content), Created: e.Created, Deleted: e.Deleted})
	}
	out.Proof.Target.Differences = p.Proof.Target.Differences
	found := p.Proof.Consumers
	out.Proof.Consumers = Consumers{found.Checked, append([]string{}, found.Changed...), append([]manifest.Unbuildable{}, found.Unbuildable...)}
	out.Verdict = verdict(len(out.Changes), proven)
	return out
}

func verdict(all, proven int) string {
	switch {
	case all == 0:
		return "nothing"
	case proven == all:
		return "proven"
	case proven > 0:
		return "partial"
	}
	return "refused"
}

// Patch is all edits as one patch that `git apply` takes.
func (r Result) Patch() string {
	var b strings.Builder
	for _, e := range r.Edits {
		b.WriteString(e.Patch)
	}
	return b.String()
}

// Text is the answer for people.
func (r Result) Text() string {
	var b strings.Builder
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "%-8s %s %s\n", c.Verdict, c.Object, c.Path)
		if c.Source.File != "" {
			fmt.Fprintf(&b, "         %s:%d (%s)\n", c.Source.File, c.Source.Line, c.Source.Layer)
		}
		if c.Why != "" {
			fmt.Fprintf(&b, "         %s: %s\n", c.Class, c.Why)
		}
		if c.Hint != "" {
			fmt.Fprintf(&b, "         %s\n", c.Hint)
		}
	}
	if patch := r.Patch(); patch != "" {
		b.WriteString("\n" + patch + "\n")
	}
	fmt.Fprintf(&b, "%s\n", r.Verdict)
	return b.String()
}

// write makes the edits, each file at once or not at all.
func write(root *os.Root, edits []Edit) error {
	for _, e := range edits {
		if err := writeFile(root, e); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(root *os.Root, e Edit) error {
	if e.Deleted {
		if err := root.Remove(e.File); err != nil {
			return fmt.Errorf("delete %s: %w", e.File, err)
		}
		return nil
	}
	mode := os.FileMode(0o644)
	if !e.Created {
		info, err := root.Stat(e.File)
		if err != nil {
			return fmt.Errorf("look at %s: %w", e.File, err)
		}
		mode = info.Mode().Perm()
	}
	next := e.File + ".reconcilebot-new"
	if err := root.WriteFile(next, []byte(e.Content), mode); err != nil {
		return fmt.Errorf("write %s: %w", e.File, err)
	}
	if err := root.Rename(next, e.File); err != nil {
		return fmt.Errorf("replace %s: %w", e.File, err)
	}
	return nil
}
