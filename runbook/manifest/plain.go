package manifest

import (
	"context"
	"path"
)

// plainRenderer is Argo CD's source of type directory.
type plainRenderer struct{}

func (plainRenderer) library() string {
	return "plain YAML and JSON, read as Argo CD 2.14 reads a directory"
}

func (plainRenderer) render(ctx context.Context, f *files, src Source) ([]Resource, error) {
	members, err := f.list(ctx, src)
	if err != nil {
		return nil, err
	}
	var all []Resource
	for _, m := range members.found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		content, err := f.read(m.real)
		if err != nil {
			return nil, err
		}
		list, err := f.decode(m, content)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func (plainRenderer) reads(ctx context.Context, f *files, src Source) (reach, error) {
	members, err := f.list(ctx, src)
	if err != nil {
		return reach{}, err
	}
	out := newReach()
	for _, m := range members.found {
		out.files[m.real] = true
	}
	out.listed(members.dirs)
	return out, nil
}

// suggest edits the manifest that holds the object; there is no other place.
func (r plainRenderer) suggest(_ context.Context, q *question) (*Refusal, error) {
	if q.change.isWhole() {
		return r.suggestWhole(q)
	}
	return r.suggestField(q)
}

func (plainRenderer) suggestField(q *question) (*Refusal, error) {
	r := q.object()
	q.found = origin{file: r.File, layer: "plain YAML"}
	if path.Ext(r.File) == ".json" {
		q.found.layer = "JSON"
	}
	content, err := q.files.read(r.File)
	if err != nil {
		return nil, err
	}
	t := parseText(content)
	root, err := nodeOf(t, r)
	if err != nil {
		return refuse(Unreadable, byHand, "%s can't be edited: %v", r.File, err), nil
	}
	q.found.line = root.Line
	e, refusal := q.edit(t, root)
	// Where two places fit, which value is there now is a guess.
	if refusal != nil && refusal.Class == Ambiguous {
		return refusal, nil
	}
	if r := q.checkValue(); r != nil {
		return r, nil
	}
	if refusal != nil {
		return refusal, nil
	}
	refusal, err = q.try(e.suggestion(q.found))
	if refusal != nil {
		refusal = e.explain(refusal)
	}
	return refusal, err
}
