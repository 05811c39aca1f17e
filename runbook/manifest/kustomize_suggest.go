package manifest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
)

// suggest looks for the place that supplies a value, the nearest to the
// target first: a change meant for one environment belongs as near to it as
// can be. A file that others read is left alone, since a change there is a
// change for them. If no place does, the target gets an override of its own.
func (kustomizeRenderer) suggest(ctx context.Context, q *question) (*Refusal, error) {
	if r := q.checkValue(); r != nil {
		return r, nil
	}
	docs, err := q.documents(ctx)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", q.source.Name, err)
	}
	s := &search{question: q, docs: docs}
	s.locate()
	steps := []func() (bool, error){
		s.optionImages, s.images, s.replicas, s.scalars, s.shapes, s.generators,
		s.newImage, s.newReplicas, s.newLiteral, s.ownPatch, s.newPatch, s.newJSONPatch,
	}
	if q.change.isWhole() {
		steps = []func() (bool, error){s.whole}
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if done, err := step(); done || err != nil {
			return nil, err
		}
	}
	return s.answer(), nil
}

// search is the work on one change in a kustomization.
type search struct {
	*question
	docs []document
	// refusals are those of what was tried, in that order.
	refusals []*Refusal
	// sharedFile is a file in which the value was found and that others read.
	sharedFile string
	tries      int
}

// maxTries bounds the edits that are rendered for one change.
const maxTries = 24

// offer proves an edit of a document, unless others read its file.
func (s *search) offer(d document, line int, layer, hint string, content []byte, r *Refusal) (bool, error) {
	if r != nil {
		s.refusals = append(s.refusals, r)
		return false, nil
	}
	w, r := d.put(content)
	if r == nil {
		r = guardFile(d.file, d.whole(), d.whole().docs[0])
	}
	if r != nil {
		s.refusals = append(s.refusals, r)
		return false, nil
	}
	if path.Ext(d.file) == ".json" && layer == "" {
		layer = d.layer
	}
	return s.attempt(suggestion{origin: origin{d.file, line, layer}, hint: hint, writes: []write{w}})
}

// whole is the text of the file that holds the document.
func (d document) whole() *text {
	if d.outer != nil {
		return d.outer
	}
	return d.t
}

// attempt proves an edit.
func (s *search) attempt(e suggestion) (bool, error) {
	own, _ := s.files.own(s.source)
	for _, w := range e.writes {
		// Whoever renders the Application sees it change, and nothing else;
		// the proof makes sure of that.
		if !own[w.file] && s.shared(w.file) {
			if s.sharedFile == "" {
				s.sharedFile = w.file
			}
			return false, nil
		}
	}
	if s.tries++; s.tries > maxTries {
		return false, nil
	}
	r, err := s.try(e)
	if r == nil && err == nil {
		return true, nil
	}
	if r != nil && r.Class == TouchesOthers && !slices.ContainsFunc(s.refusals, func(r *Refusal) bool { return r.Class == TouchesOthers }) {
		// What the value comes from, if not for this object alone.
		s.found = e.origin
	}
	if r != nil {
		s.refusals = append(s.refusals, r)
	}
	return false, err
}

// answer is the refusal that tells the most.
func (s *search) answer() *Refusal {
	if r := s.outsider(); r != nil {
		return r
	}
	for _, class := range []Class{Ambiguous, TouchesOthers, SharedSource, UnsupportedTool, MachineWritten, Encrypted} {
		if i := slices.IndexFunc(s.refusals, func(r *Refusal) bool { return r.Class == class }); i >= 0 {
			return s.refusals[i]
		}
	}
	if s.sharedFile != "" {
		return refuse(SharedSource, "Change it by hand in the overlay of this target.", "the value lives in %s, which others use too, and no override in the overlay has an effect on it", s.sharedFile)
	}
	if len(s.refusals) > 0 {
		return s.refusals[len(s.refusals)-1]
	}
	return refuse(NotFound, byHand, "no place was found that supplies %s", s.what())
}

// what names the change for people.
func (s *search) what() string {
	if s.change.isWhole() {
		return s.change.Object.String()
	}
	return s.change.Path.String()
}

// locate tells where the value seems to live, for those who look only.
func (s *search) locate() {
	for _, d := range s.docs {
		if !d.isOf(s.change.Object) || d.isKustomization() {
			continue
		}
		at, r := locate(d.root, s.change.Path)
		if r == nil && at.value != nil {
			s.found = origin{d.file, d.line(at.value), d.layer}
			return
		}
		if s.found.file == "" {
			s.found = origin{d.file, d.line(d.root), d.layer}
		}
	}
}

// target is the target's own kustomization.
func (s *search) target() (document, bool) {
	for _, d := range s.docs {
		if d.depth == 0 && d.isKustomization() {
			return d, true
		}
	}
	return document{}, false
}

// shapes adds or takes away keys and list items where the object is written.
func (s *search) shapes() (bool, error) {
	c := s.change
	if c.Op == Set && isScalar(c.Live) || !s.structure && (c.Op == Remove || !isScalar(c.Live)) {
		return false, nil
	}
	for _, holds := range []bool{true, false} {
		for _, d := range s.docs {
			if !d.isOf(c.Object) || d.isKustomization() || d.isPatch() && c.Op != Remove && !holds {
				continue
			}
			if _, r := locate(d.root, c.Path[:len(c.Path)-1]); (r == nil) != holds {
				continue
			}
			e, r := d.t.edit(d.file, d.root, c, s.structure)
			if done, err := s.offer(d, d.line(d.root)+e.line-d.root.Line, d.layer, e.hint, e.content, r); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}
