package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Propose finds edits that make the changes true in Git, and proves them.
//
// Each change is tried on top of those before it and is kept only if
// rendering shows exactly that change in the target and none anywhere else;
// one that can't be made does not hinder the others. Refusals are verdicts;
// an error means that the tree could not be read or the context has ended.
func Propose(ctx context.Context, req Request) (Proposal, error) {
	f := newFiles(req.Tree, req.Limits)
	p := &proposer{req: req, files: f}
	before, err := p.begin(ctx)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return p.refuseAll(r), nil
	}
	if err != nil {
		return Proposal{}, fmt.Errorf("render %s: %w", req.Target.Name, err)
	}
	if p.readers, err = newReaders(ctx, f, req); err != nil {
		return Proposal{}, fmt.Errorf("look up who reads the files of %s: %w", req.Target.Name, err)
	}
	verdicts := make([]Verdict, 0, len(req.Changes))
	for _, c := range req.Changes {
		v, err := p.answer(ctx, c)
		if err != nil {
			return Proposal{}, fmt.Errorf("find %s of %s in %s: %w", c.Path, c.Object, req.Target.Name, err)
		}
		verdicts = append(verdicts, v)
	}
	return p.conclude(ctx, before, verdicts)
}

// proposer is the work on one proposal.
type proposer struct {
	req      Request
	files    *files
	renderer renderer
	readers  *readers
	// rendered is the target with the edits made so far, as it is proven.
	rendered []Resource
	// names are what the rendered objects were called before any edit: one
	// whose name holds a hash of its content gets another by an edit.
	names []Object
	// derived is what the edits change besides, such as such a name.
	derived []string
	proof   Proof
}

// begin renders the target as it is.
func (p *proposer) begin(ctx context.Context) (before []Resource, err error) {
	if p.renderer, err = p.files.rendererOf(p.req.Target); err != nil {
		return nil, err
	}
	p.proof.Renderer = p.renderer.library()
	var known bool
	if p.rendered, known = p.req.Index.take(p.req.Target); !known {
		if p.rendered, err = p.renderer.render(ctx, p.files, p.req.Target); err != nil {
			return nil, err
		}
	}
	for _, r := range p.rendered {
		p.names = append(p.names, r.Object())
	}
	return p.rendered, nil
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

// answer makes one change, if it can be made.
func (p *proposer) answer(ctx context.Context, c Change) (Verdict, error) {
	v := Verdict{Change: c}
	if r := guard(c, p.req.Structure); r != nil {
		return refused(v, r), nil
	}
	i, r := p.find(c.Object)
	if c.isWhole() && c.Op == Add {
		i, r = p.absent(c.Object)
	}
	if r != nil {
		return refused(v, r), nil
	}
	q := &question{
		files: p.files, source: p.req.Target, change: c, rendered: p.rendered, at: i, structure: p.req.Structure,
		shared: p.readers.anyReads,
	}
	q.try = func(s suggestion) (*Refusal, error) {
		r, err := p.prove(ctx, i, c, s)
		if r == nil && err == nil {
			v.Proven, v.Hint, q.found = true, s.hint, s.origin
		}
		return r, err
	}
	r, err := p.renderer.suggest(ctx, q)
	v.File, v.Line, v.Layer = q.found.file, q.found.line, q.found.layer
	if err != nil || v.Proven {
		return v, err
	}
	if r == nil {
		r = refuse(NotFound, byHand, "no edit was found that makes %s as it is live", c.Path)
	}
	return refused(v, r), nil
}

// find is which of the rendered objects an object is.
func (p *proposer) find(o Object) (int, *Refusal) {
	found := -1
	for i, name := range p.names {
		if !p.is(name, o) {
			continue
		}
		if found >= 0 {
			return 0, refuse(Ambiguous, "Take one of the two away first.", "%s is there twice, in %s and %s", o, p.rendered[found].File, p.rendered[i].File)
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

// absent makes sure that an object is not rendered so far.
func (p *proposer) absent(o Object) (int, *Refusal) {
	if slices.ContainsFunc(p.names, func(name Object) bool { return p.is(name, o) }) {
		return -1, refuse(Already, "Nothing needs to be written; sync the target.", "Git has %s already", o)
	}
	return -1, nil
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
func (q *question) checkValue() *Refusal {
	c := q.change
	if c.isWhole() {
		return nil
	}
	now, _, found := lookup(q.object().Content, c.Path)
	switch {
	case !found && c.Op == Remove:
		return refuse(Already, "Nothing needs to be written; sync the target.", "Git has no %s", c.Path)
	case found && exact(now, c.Live):
		return refuse(Already, "Nothing needs to be written; sync the target.", "Git has this value already")
	case found && !SameAt(c.Path, now, c.Git) && (c.Git != nil || now != nil):
		return refuse(Stale, "Look at the differences again.", "Git has another value at %s than the comparison saw", c.Path)
	case c.Path.String() == "spec.replicas":
		if s, ok := scaler(q.rendered, c.Object); ok {
			return refuse(Autoscaled, "Change minReplicas and maxReplicas of the autoscaler.", "%s sets the replicas of %s", s, c.Object)
		}
	}
	return nil
}
