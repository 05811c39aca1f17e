package manifest

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// place is a source of values that can be made to give one.
type place struct {
	layer valueLayer
	// set is the value as that source has to say it.
	set valueSetting
}

// sources are all sources of values, the weakest first.
func (s *helmSearch) sources() (list []valueLayer) {
	for _, d := range s.release.chart.Defaults() {
		list = append(list, valueLayer{file: d.Path, kind: chartDefaults, values: d.Values, prefix: d.Prefix})
	}
	slices.Reverse(list)
	return append(list, s.release.layers...)
}

// below is a path in the values of the whole, as the source has it.
func (l valueLayer) below(p Path) (Path, bool) {
	if len(p) <= len(l.prefix) {
		return nil, len(l.prefix) == 0
	}
	for i, key := range l.prefix {
		if p[i].Key != key {
			return nil, false
		}
	}
	return p[len(l.prefix):], true
}

func (l valueLayer) says(p Path) bool {
	rel, ok := l.below(p)
	if !ok {
		return false
	}
	_, _, found := lookup(l.values, rel)
	return found
}

// places lists where a value may be set, the best first: where it is set now,
// if that is the target's own; else in what is stronger and the target's own.
func (s *helmSearch) places(set valueSetting) (list []place) {
	all := s.sources()
	root := listRoot(set.path)
	now := -1
	for i := len(all) - 1; i >= 0 && now < 0; i-- {
		if all[i].says(root) {
			now = i
		}
	}
	anew, ok := s.anew(set, root)
	add := func(i int, set valueSetting) {
		if rel, ok := all[i].below(set.path); ok && len(rel) > 0 {
			set.path = rel
			list = append(list, place{all[i], set})
		}
	}
	if now >= 0 && all[now].kind != chartDefaults {
		add(now, set)
	}
	// A values file of the target comes before its Application.
	for _, kinds := range [][]layerKind{{valuesFile, configText}, {inlineValues, inlineObject}} {
		for i := len(all) - 1; i > now && ok; i-- {
			if slices.Contains(kinds, all[i].kind) {
				add(i, anew)
			}
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		switch {
		case all[i].kind != chartDefaults || all[i].file == "" || i < now:
		case i == now || now < 0 && len(all[i].prefix) == 0:
			add(i, set)
		case now >= 0 && ok:
			add(i, anew) // a chart sets values of its subcharts
		}
	}
	inline := slices.ContainsFunc(all, func(l valueLayer) bool { return l.kind == inlineValues || l.kind == inlineObject })
	if s.source.Manifest != "" && !inline && ok && (now < 0 || all[now].kind < inlineValues) {
		list = append(list, place{valueLayer{file: s.source.Manifest, kind: inlineObject}, anew})
	}
	return list
}

// listRoot is the path up to the first list in it: Helm replaces lists as a
// whole.
func listRoot(p Path) Path {
	for i, e := range p {
		if e.Item != nil || e.Pos > 0 {
			return p[:i]
		}
	}
	return p
}

// anew is the value as a source has to say it that says nothing of it so far:
// lists are replaced as a whole, and what is taken away is null.
func (s *helmSearch) anew(set valueSetting, root Path) (valueSetting, bool) {
	if len(root) == len(set.path) {
		if set.remove {
			return valueSetting{path: root}, true
		}
		return set, true
	}
	list, _, found := lookup(s.values, root)
	if !found || len(root) == 0 {
		return set, false
	}
	list = clone(list)
	c := Change{Path: set.path[len(root):], Op: Set, Live: set.value}
	if set.remove {
		c.Op = Remove
	}
	holder := map[string]any{"list": list}
	c.Path = append(Path{Key("list")}, c.Path...)
	changed, err := c.expect(holder)
	if err != nil {
		return set, false
	}
	return valueSetting{path: root, value: changed["list"]}, true
}

// attemptWish proves a wish in one place after the other.
func (s *helmSearch) attemptWish(w wish) (bool, error) {
	var places [][]place
	most := 0
	for _, set := range w.settings {
		list := s.places(set)
		if len(list) == 0 {
			return false, nil
		}
		places = append(places, list)
		most = max(most, len(list))
	}
	for i := range most {
		e, r, err := s.suggestionAt(places, i)
		if err != nil {
			return false, err
		}
		if r != nil {
			s.refusals = append(s.refusals, r)
			continue
		}
		if e == nil {
			continue
		}
		if done, err := s.attempt(*e); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// suggestionAt makes the edits for all settings, each in its i-th best place;
// nil if one is not in the tree.
func (s *helmSearch) suggestionAt(places [][]place, i int) (*suggestion, *Refusal, error) {
	var out suggestion
	undo := func() {}
	defer func() { undo() }()
	for n, list := range places {
		p := list[min(i, len(list)-1)]
		w, e, r, err := s.write(p)
		if err != nil || r != nil {
			return nil, r, err
		}
		if w.file == "" {
			if s.outside == nil {
				s.outside = &p.layer
			}
			return nil, nil, nil
		}
		if n == 0 {
			out.origin, out.hint = e.origin, e.hint
		}
		out.writes = slices.DeleteFunc(out.writes, func(have write) bool { return have.file == w.file })
		out.writes = append(out.writes, w)
		undo()
		undo = s.files.lay(out.writes)
	}
	return &out, nil, nil
}

// write makes the edit for one place. The file is empty if it is not in the
// tree.
func (s *helmSearch) write(p place) (write, suggestion, *Refusal, error) {
	out := suggestion{origin: origin{layer: p.layer.said()}}
	if p.layer.kind == fileParameter {
		text, ok := p.set.value.(string)
		if !ok || p.layer.file == "" {
			return write{}, out, nil, nil
		}
		out.file, out.line = p.layer.file, 1
		return write{p.layer.file, []byte(text)}, out, nil, nil
	}
	d, set, found, err := s.documentOf(p)
	if err != nil || !found {
		return write{}, out, nil, err
	}
	content, line, hint, r := d.setValue(set)
	if r != nil {
		return write{}, out, r, nil
	}
	whole := d.whole()
	if d.root != nil || d.outer != nil {
		var top *yaml.Node
		if len(whole.docs) > 0 {
			top = whole.docs[0]
		}
		if r := guardFile(d.file, whole, top); r != nil {
			return write{}, out, r, nil
		}
	}
	w, r := d.put(content)
	if r != nil {
		return write{}, out, r, nil
	}
	out.file, out.hint = d.file, hint
	if out.line = line; d.outer != nil {
		out.line = d.node.Line
		if d.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			out.line += line
		}
	}
	if strings.HasPrefix(path.Base(d.file), ".argocd-source") && hint == "" {
		out.hint = "Argo CD Image Updater writes this file, too, and may write over the value with the next image."
	}
	return w, out, nil, nil
}

// documentOf finds the YAML in which a source of values is written, and the
// value as it is to be there.
func (s *helmSearch) documentOf(p place) (d document, set valueSetting, found bool, err error) {
	set = p.set
	switch p.layer.kind {
	case chartDefaults, valuesFile:
		t, err := s.files.parsed(p.layer.file)
		if err != nil {
			return d, set, false, err
		}
		d = document{file: p.layer.file, t: t}
		if len(t.docs) > 0 {
			d.root = t.docs[0]
		}
		return d, set, true, nil
	case parameterValue:
		d, found, err = s.optionsNode("parameters")
		if err != nil || !found {
			return d, set, false, err
		}
		items := contentOf(d.root)
		text, ok := textOf(set.value)
		if rel, _, isLeaf := soleLeaf(p.layer.values); p.layer.parameter >= len(items) || !ok || set.remove || !isLeaf || !rel.Equal(set.path) {
			return d, set, false, nil
		}
		d.root = resolve(items[p.layer.parameter])
		return d, valueSetting{path: Path{Key("value")}, value: strings.ReplaceAll(text, `\`, `\\`)}, true, nil
	case inlineValues:
		d, found, err = s.optionsNode("values")
		if err != nil || !found {
			return d, set, false, err
		}
		inner := parseText([]byte(d.root.Value))
		d = document{file: d.file, outer: d.t, node: d.root, t: inner}
		if len(inner.docs) > 0 {
			d.root = inner.docs[0]
		}
		return d, set, true, nil
	}
	if p.layer.kind == configText {
		d, found, err = s.files.configText(p.layer)
		return d, set, found, err
	}
	if d, found, err = s.optionsNode("valuesObject"); found || err != nil || s.source.Manifest == "" {
		return d, set, found, err
	}
	t, doc, err := s.files.application(s.source)
	if err != nil {
		return d, set, false, err
	}
	if s.source.Release {
		set.path = append(Path{Key("values")}, set.path...)
		n := resolve(child(doc, "spec"))
		return document{file: s.source.Manifest, t: t, root: n}, set, n != nil, nil
	}
	n := sourceOf(doc, s.source)
	set.path = append(Path{Key("helm"), Key("valuesObject")}, set.path...)
	return document{file: s.source.Manifest, t: t, root: n}, set, n != nil, nil
}

// soleLeaf is the one scalar in a parameter's values, and its path.
func soleLeaf(v any) (at Path, value any, ok bool) {
	for {
		m, isMap := v.(map[string]any)
		if !isMap {
			return at, v, isScalar(v)
		}
		if len(m) != 1 {
			return nil, nil, false
		}
		for key, item := range m {
			at, v = at.Child(Key(key)), item
		}
	}
}

// optionsNode finds what an Application says under a key of its options for
// Helm: in a file beside the chart, or in its manifest.
func (s *helmSearch) optionsNode(key string) (d document, found bool, err error) {
	if s.source.Release {
		if key != "valuesObject" {
			return d, false, nil
		}
		t, doc, err := s.files.application(s.source)
		if err != nil {
			return d, false, err
		}
		n := resolve(child(resolve(child(doc, "spec")), "values"))
		return document{file: s.source.Manifest, t: t, root: n}, n != nil, nil
	}
	files := overrideFiles(s.source, s.release.dir)
	slices.Reverse(files)
	for _, file := range files {
		if !s.files.exists(file) {
			continue
		}
		t, err := s.files.parsed(file)
		if err != nil {
			return d, false, err
		}
		if len(t.docs) == 0 {
			continue
		}
		if n := resolve(child(resolve(child(t.docs[0], "helm")), key)); n != nil {
			return document{file: file, t: t, root: n}, true, nil
		}
	}
	if s.source.Manifest == "" {
		return d, false, nil
	}
	t, n, err := s.files.helmNode(s.source)
	if err != nil || n == nil {
		return d, false, err
	}
	n = resolve(child(n, key))
	return document{file: s.source.Manifest, t: t, root: n}, n != nil, nil
}
