package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// conclude renders everything once more, from nothing, and makes the edits
// only if that agrees with what was found on the way.
func (p *proposer) conclude(ctx context.Context, before []Resource, verdicts []Verdict) (Proposal, error) {
	fresh := newFiles(p.req.Tree, p.req.Limits)
	fresh.edited = p.files.edited
	after, err := p.renderer.render(ctx, fresh, p.req.Target)
	if err != nil {
		return Proposal{}, fmt.Errorf("render %s after the edits: %w", p.req.Target.Name, err)
	}
	out := Proposal{Changes: verdicts, Proof: p.proof}
	out.Proof.Target = p.target(before, after)
	out.Proof.Consumers.Checked = len(p.readers.rendered)
	out.Proof.ReadFiles = p.files.digests
	if unexpected := out.Proof.Target.Unexpected; len(unexpected) > 0 {
		withdraw(verdicts, unexpected[0])
	} else if out.Edits, err = p.edits(); err != nil {
		return Proposal{}, err
	}
	for _, v := range verdicts {
		if !v.Proven && v.Class != Already {
			out.Proof.Target.Differences++
		}
	}
	return out, nil
}

// target compares the target before all edits with it after them. What is
// rendered from nothing must be what was proven step by step.
func (p *proposer) target(before, after []Resource) Rendered {
	r := Rendered{Before: digest(before), After: digest(after), Derived: p.derived}
	for _, m := range differences(p.rendered, after) {
		r.Unexpected = append(r.Unexpected, name(after, m))
		r.Differences++
	}
	return r
}

// withdraw takes back all that was proven one by one: together it is not.
func withdraw(verdicts []Verdict, unexpected string) {
	for i, v := range verdicts {
		if v.Proven {
			v.Proven = false
			verdicts[i] = refused(v, refuse(ProofFailed, byHand, "together the edits would change %s too", unexpected))
		}
	}
}

// edits describes all changed files, by name.
func (p *proposer) edits() (list []Edit, err error) {
	for _, file := range slices.Sorted(maps.Keys(p.files.edited)) {
		e, err := p.makeEdit(file)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// makeEdit describes a changed file.
func (p *proposer) makeEdit(file string) (Edit, error) {
	e := Edit{File: file, Content: p.files.edited[file], Line: 1}
	old, err := p.files.original(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Created = true
	case err != nil:
		return Edit{}, err
	default:
		e.Digest = hexDigest(old)
	}
	e.Deleted = e.Content == nil
	before, after := splitLines(string(old)), splitLines(string(e.Content))
	hunks := compareLines(before, after)
	e.Unified = unified(e, before, after, hunks)
	for i, h := range hunks {
		if i == 0 {
			e.Line = h.a + 1
		}
		e.Before += strings.Join(before[h.a:h.b], "")
		e.After += strings.Join(after[h.c:h.d], "")
	}
	return e, nil
}
