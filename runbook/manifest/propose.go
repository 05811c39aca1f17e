package manifest

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// Propose finds edits that make the changes true in Git, and proves them.
//
// Each change is tried on top of those before it and is kept only if
// rendering shows exactly that change in the target and none anywhere else;
// one that can't be made does not hinder the others. Refusals are verdicts;
// an error means that the tree could not be read or the context has ended.
func Propose(ctx context.Context, req Request) (Proposal, error) {
	f := newFiles(req.Tree, req.Limits)
	p := &proposer{req: req, files: f, proof: Proof{Renderer: renderer}}
	before, err := f.render(ctx, req.Target)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return p.refuseAll(r), nil
	}
	if err != nil {
		return Proposal{}, fmt.Errorf("render %s: %w", req.Target.Name, err)
	}
	if p.readers, err = newReaders(ctx, f, req); err != nil {
		return Proposal{}, fmt.Errorf("look up who reads the files of %s: %w", req.Target.Name, err)
	}
	p.rendered = before
	verdicts := make([]Verdict, 0, len(req.Changes))
	for _, c := range req.Changes {
		v, err := p.try(ctx, c)
		if err != nil {
			return Proposal{}, fmt.Errorf("find %s of %s in %s: %w", c.Path, c.Object, req.Target.Name, err)
		}
		verdicts = append(verdicts, v)
	}
	return p.conclude(ctx, before, verdicts)
}

// proposer is the work on one proposal.
type proposer struct {
	req     Request
	files   *files
	readers *readers
	// rendered is the target with the edits made so far.
	rendered []Resource
	// expected are the paths that the edits so far change, by resource.
	expected []moved
	proof    Proof
}

// moved is a path in one rendered object.
type moved struct {
	resource int
	path     string
}

func (p *proposer) refuseAll(r *Refusal) Proposal {
	out := Proposal{Proof: p.proof}
	for _, c := range p.req.Changes {
		out.Changes = append(out.Changes, refused(Verdict{Change: c}, r))
	}
	out.Proof.Target.Differences = len(out.Changes)
	out.Proof.ReadFiles = p.files.digests
	return out
}

func refused(v Verdict, r *Refusal) Verdict {
	v.Class, v.Why, v.Hint = r.Class, r.Why, r.Hint
	return v
}

// try makes one change, if it can be made.
func (p *proposer) try(ctx context.Context, c Change) (Verdict, error) {
	v := Verdict{Change: c}
	if r := guard(c, p.req.Structure); r != nil {
		return refused(v, r), nil
	}
	i, r := p.find(c.Object)
	if r != nil {
		return refused(v, r), nil
	}
	v.File, v.Layer = p.rendered[i].File, "plain YAML"
	if path.Ext(v.File) == ".json" {
		v.Layer = "JSON"
	}
	content, err := p.files.read(v.File)
	if err != nil {
		return v, err
	}
	e, unable := p.edit(&v, p.rendered[i], content)
	// Where two places fit, which value is there now is a guess.
	if unable != nil && unable.Class == Ambiguous {
		return refused(v, unable), nil
	}
	if r := p.checkValue(i, c); r != nil {
		return refused(v, r), nil
	}
	if unable != nil {
		return refused(v, unable), nil
	}
	r, err = p.prove(ctx, i, c, e)
	switch {
	case err != nil:
		return v, err
	case r != nil:
		return refused(v, e.explain(r)), nil
	}
	v.Proven = true
	return v, nil
}

// find is which of the rendered objects an object is.
func (p *proposer) find(o Object) (int, *Refusal) {
	found := -1
	for i, r := range p.rendered {
		if !p.is(r.Object(), o) {
			continue
		}
		if found >= 0 {
			return 0, refuse(Ambiguous, "Take one of the two away first.", "%s is there twice, in %s and %s", o, p.rendered[found].File, r.File)
		}
		found = i
	}
	if found < 0 {
		return 0, refuse(NotFound, "Look for it in another source, or add a manifest by hand.", "no file of %s holds %s", p.req.Target.Name, o)
	}
	if in := p.rendered[found].Object(); in.APIVersion != o.APIVersion && o.APIVersion != "" {
		return 0, refuse(Ambiguous, "Compare the object in the version that Git has, or edit it by hand.", "Git has %s as %s, the change is in terms of %s", o, in.APIVersion, o.APIVersion)
	}
	return found, nil
}

// is tells whether a manifest is a live object. A manifest without namespace
// goes to the source's; one with a namespace may still be of a kind that has
// none.
func (p *proposer) is(m, o Object) bool {
	if m.Kind != o.Kind || m.Name != o.Name || m.Group() != o.Group() && o.APIVersion != "" || m.Name == "" {
		return false
	}
	if m.Namespace == "" {
		m.Namespace = p.req.Target.Namespace
	}
	return m.Namespace == o.Namespace || o.Namespace == "" || m.Namespace == ""
}

// checkValue compares what Git says with what the change takes for granted.
func (p *proposer) checkValue(i int, c Change) *Refusal {
	now, _, found := lookup(p.rendered[i].Content, c.Path)
	switch {
	case !found && c.Op == Remove:
		return refuse(Already, "Nothing needs to be written; sync the target.", "Git has no %s", c.Path)
	case found && exact(now, c.Live):
		return refuse(Already, "Nothing needs to be written; sync the target.", "Git has this value already")
	case found && !SameAt(c.Path, now, c.Git) && (c.Git != nil || now != nil):
		return refuse(Stale, "Look at the differences again.", "Git has another value at %s than the comparison saw", c.Path)
	case c.Path.String() == "spec.replicas":
		if s, ok := scaler(p.rendered, c.Object); ok {
			return refuse(Autoscaled, "Change minReplicas and maxReplicas of the autoscaler.", "%s sets the replicas of %s", s, c.Object)
		}
	}
	return nil
}
