package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// suggest looks for the value that supplies a field: first among values that
// are what the field is, then among those of which it is made, those that are
// passed on as a whole, those that are named alike, and last in files that
// templates read. The value is changed in the source of values that is the
// nearest to the target.
func (helmRenderer) suggest(ctx context.Context, q *question) (*Refusal, error) {
	if r := q.checkValue(); r != nil {
		return r, nil
	}
	s, err := newHelmSearch(ctx, q)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", q.source.Name, err)
	}
	if q.change.isWhole() {
		return s.whole(), nil
	}
	for i, step := range []func() []wish{s.equal, s.parts, s.passed, s.within, s.alike, s.entries} {
		done, err := s.tryAll(ctx, step())
		if done || err != nil {
			return nil, err
		}
		if i == 0 {
			s.exact = len(s.refusals)
		}
	}
	if done, err := s.contents(ctx); done || err != nil {
		return nil, err
	}
	return s.answer(ctx)
}

// helmSearch is the work on one change of what a chart renders.
type helmSearch struct {
	search
	release *release
	// values are those that templates see, leaves their scalars.
	values map[string]any
	leaves []leaf
	// named are the values that templates name.
	named []named
	tried map[string]bool
	// exact counts the refusals of values that are what the field is.
	exact int
	words map[string]bool
	// outside is the first source of values that is not in the tree and that
	// supplies what was looked for.
	outside *valueLayer
	// git is the field as it is rendered, nil if it is not.
	git any
}

// leaf is one scalar among the values.
type leaf struct {
	path  Path
	value any
	score int
}

// named is a value that a template names, with what it is now.
type named struct {
	path  Path
	value any
	score int
}

// wish is a set of values that may make the change true.
type wish struct {
	settings []valueSetting
	score    int
}

// valueSetting is one value as it is to be.
type valueSetting struct {
	path   Path
	value  any
	remove bool
}

func newHelmSearch(ctx context.Context, q *question) (*helmSearch, error) {
	s := &helmSearch{search: search{question: q}, tried: map[string]bool{}}
	var err error
	if s.release, err = q.files.release(q.source); err != nil {
		return nil, err
	}
	if s.values, err = s.release.chart.Values(ctx, s.release.render); err != nil {
		return nil, helmRefusal(ctx, s.release, err)
	}
	if q.at >= 0 {
		s.git, _, _ = lookup(q.object().Content, q.change.Path)
		s.found = origin{file: q.object().File, layer: "template"}
	}
	s.words = s.wordsOf()
	s.walk(s.values, nil)
	for _, ref := range s.release.chart.References() {
		path := make(Path, len(ref.Keys))
		for i, key := range ref.Keys {
			path[i] = Key(key)
		}
		path = unshadowed(path)
		value, _, _ := lookup(s.values, path)
		score := s.score(path)
		if ref.Template != "" && q.at >= 0 && ref.Template == q.object().File {
			score += 2
		}
		s.named = append(s.named, named{path, value, score})
	}
	slices.SortStableFunc(s.named, func(a, b named) int { return b.score - a.score })
	return s, nil
}

// maxLeaves bounds the values that are looked at.
const maxLeaves = 20_000

func (s *helmSearch) walk(v any, at Path) {
	if len(s.leaves) >= maxLeaves {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range nameFirst(v) {
			next := at.Child(Key(key))
			// What a subchart gets of the globals is set once, above.
			if len(at) > 0 && key == "global" {
				continue
			}
			s.walk(v[key], next)
		}
	case []any:
		for i, item := range v {
			s.walk(item, at.Child(At(i)))
		}
	default:
		s.leaves = append(s.leaves, leaf{at, v, s.score(at)})
	}
}

// unshadowed is where a value is set: globals are the whole chart's.
func unshadowed(path Path) Path {
	for i, e := range path {
		if e.Key == "global" && i > 0 {
			return path[i:]
		}
	}
	return path
}

// wordsOf are the words that name what changes.
func (s *helmSearch) wordsOf() map[string]bool {
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) }) {
			words[w] = true
		}
	}
	for _, e := range s.change.Path {
		add(e.Key)
		for _, v := range e.Item {
			add(v)
		}
	}
	add(s.change.Object.Kind)
	add(s.change.Object.Name)
	return words
}

func isWord(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// score tells how alike the names of a value and of the changed field are.
func (s *helmSearch) score(path Path) (n int) {
	field := lastKey(s.change.Path)
	for i := len(path) - 1; i >= 0; i-- {
		key := strings.ToLower(path[i].Key)
		if key == "" {
			continue
		}
		switch {
		case i == len(path)-1 && key == field:
			n += 6
		case i == len(path)-1 && field != "" && (strings.Contains(key, field) || strings.Contains(field, key)):
			n += 4
		case s.words[key]:
			n += 2
		default:
			for w := range s.words {
				if len(w) > 3 && (strings.Contains(key, w) || strings.Contains(w, key) && len(key) > 3) {
					n++
					break
				}
			}
		}
	}
	return n
}

// lastKey is the last key of a path, in small letters.
func lastKey(path Path) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Key != "" {
			return strings.ToLower(path[i].Key)
		}
	}
	return ""
}

// maxWishes bounds what is tried in one step.
const maxWishes = 16

// tryAll proves wishes, the best first.
func (s *helmSearch) tryAll(ctx context.Context, list []wish) (bool, error) {
	slices.SortStableFunc(list, func(a, b wish) int { return b.score - a.score })
	n := 0
	for _, w := range list {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		key := w.key()
		if s.tried[key] {
			continue
		}
		s.tried[key] = true
		if n++; n > maxWishes {
			return false, nil
		}
		if done, err := s.attemptWish(w); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (w wish) key() string {
	var b strings.Builder
	for _, set := range w.settings {
		text, _ := encodeJSON(set.value)
		fmt.Fprintf(&b, "%s=%s %v\n", set.path, text, set.remove)
	}
	return b.String()
}

// whole refuses to add or take away objects: what makes a chart render one is
// seldom one value.
func (s *helmSearch) whole() *Refusal {
	return refuse(Structure, "Change the chart, or the values that switch the object on and off, by hand.", "%s is made by a chart, and objects of a chart can't be added or taken away so far", s.change.Object)
}

// answer is the refusal that tells the most.
func (s *helmSearch) answer(ctx context.Context) (*Refusal, error) {
	if r, err := s.unstable(ctx); r != nil || err != nil {
		return r, err
	}
	for _, class := range []Class{TouchesOthers, MachineWritten, Encrypted, UnsupportedTool} {
		if i := slices.IndexFunc(s.refusals, func(r *Refusal) bool { return r.Class == class }); i >= 0 {
			return s.refusals[i], nil
		}
	}
	if s.outside != nil {
		return refuse(NotInGit, "Change the Application itself, where it is kept.", "the value comes from the %s, which is not in this repository", s.outside.said()), nil
	}
	if i := slices.IndexFunc(s.refusals, func(r *Refusal) bool { return r.Class == SharedSource }); i >= 0 {
		return s.refusals[i], nil
	}
	if s.sharedFile != "" {
		return refuse(SharedSource, "Give this target a values file of its own, and set the value there.", "the value lives in %s, which others use too", s.sharedFile), nil
	}
	if i := slices.IndexFunc(s.refusals[:s.exact], func(r *Refusal) bool { return strings.HasPrefix(r.Why, noRender) }); i >= 0 {
		return s.refusals[i], nil // such as a schema that forbids the value
	}
	if r := s.hardCoded(); r != nil {
		return r, nil
	}
	if len(s.refusals) > 0 {
		return s.refusals[len(s.refusals)-1], nil
	}
	return refuse(NotFound, "Change the chart, or its values, by hand.", "no value of the chart was found that supplies %s", s.change.Path), nil
}

// unstable is the refusal for a field that is another in every render.
func (s *helmSearch) unstable(ctx context.Context) (*Refusal, error) {
	other, err := s.files.run(ctx, s.release, 1)
	if isRefusal(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, at, _ := lookup(s.object().Content, s.change.Path)
	for _, m := range differences(s.rendered, other) {
		if m.resource == s.at && m.path != nil && (within(m.path, at) || within(at, m.path)) {
			return refuse(NonDeterministic, "Give the value a place in the values of the chart, or of a Secret that is kept elsewhere.", "%s is another in every render: the chart draws it at random or from the time", s.change.Path), nil
		}
	}
	return nil, nil
}
