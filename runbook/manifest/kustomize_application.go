package manifest

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// application finds the Application's manifest in its file in the tree, or
// the HelmRelease's.
func (f *files) application(src Source) (*text, *yaml.Node, error) {
	t, err := f.parsed(src.Manifest)
	if err != nil {
		return nil, nil, err
	}
	if t.err != nil {
		return nil, nil, refuse(Unreadable, "Mend the file first.", "%s can't be read", src.Manifest)
	}
	kind := "Application"
	if src.Release {
		kind = "HelmRelease"
	}
	for _, doc := range t.docs {
		meta := resolve(child(doc, "metadata"))
		if scalarIs(child(doc, "kind"), kind) && scalarIs(child(meta, "name"), src.appName()) {
			return t, doc, nil
		}
	}
	return nil, nil, refuse(NotFound, "Look at the target's file.", "%s does not hold the %s %s", src.Manifest, kind, src.Name)
}

// options are the Application's options for Kustomize: as its manifest in the
// tree has them with the edits made so far, if it is there.
func (f *files) options(src Source) (*KustomizeOptions, error) {
	if src.Manifest == "" {
		return src.Kustomize, nil
	}
	_, doc, err := f.application(src)
	if err != nil {
		return nil, err
	}
	n := resolve(child(sourceNode(doc), "kustomize"))
	if n == nil {
		return nil, nil
	}
	var plainValue any
	if err := n.Decode(&plainValue); err != nil {
		return nil, refuse(Unreadable, "Mend the file first.", "the options in %s can't be read", src.Manifest)
	}
	var o KustomizeOptions
	if err := remarshal(plainValue, &o); err != nil {
		return nil, refuse(Unreadable, "Mend the file first.", "the options in %s can't be read", src.Manifest)
	}
	return &o, nil
}

// sourceNode is spec.source of an Application.
func sourceNode(doc *yaml.Node) *yaml.Node {
	return resolve(child(resolve(child(doc, "spec")), "source"))
}

// overrides are the options as a document in which values may live.
func (q *question) overrides() ([]document, error) {
	if q.source.Manifest == "" {
		return nil, nil
	}
	t, doc, err := q.files.application(q.source)
	if err != nil {
		return nil, err
	}
	n := resolve(child(sourceNode(doc), "kustomize"))
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	d := document{file: q.source.Manifest, t: t, root: n, depth: -1, layer: "Application"}
	return append([]document{d}, d.inline()...), nil
}

// isOptions tells whether the document is an Application's options.
func (d document) isOptions() bool { return d.depth < 0 && d.outer == nil }

// optionImages edits an image among the Application's options, which is
// stronger than the kustomization's.
func (s *search) optionImages() (bool, error) {
	git, live, ok := s.imageChange()
	if !ok {
		return false, nil
	}
	for _, d := range s.docs {
		if !d.isOptions() {
			continue
		}
		for i, n := range contentOf(child(d.root, "images")) {
			text := resolve(n).Value
			name, value, renamed := strings.Cut(text, "=")
			if !renamed {
				value = text
			}
			if have := parseImage(value); have.name != git.name && name != git.name {
				continue
			}
			written := live.String()
			if renamed {
				written = name + "=" + written
			}
			if !renamed && live.name != git.name {
				written = git.name + "=" + written
			}
			e, r := d.t.edit(d.file, d.root, Change{Path: Path{Key("images"), At(i)}, Op: Set, Live: written}, false)
			if done, err := s.offer(d, e.line, "Application images", e.hint, e.content, r); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

func (i image) String() string {
	text := i.name
	if i.tag != "" {
		text += ":" + i.tag
	}
	if i.digest != "" {
		text += "@" + i.digest
	}
	return text
}

// outsider is the refusal for a value that an Application sets itself and
// whose manifest is not in the tree; nil if none of its options is in play.
func (s *search) outsider() *Refusal {
	o := s.source.Kustomize
	if s.source.Manifest != "" || o.isEmpty() {
		return nil
	}
	why := ""
	if git, _, ok := s.imageChange(); ok {
		for _, text := range o.Images {
			name, value, _ := strings.Cut(text, "=")
			if parseImage(value).name == git.name || parseImage(name).name == git.name {
				why = "the image " + text
			}
		}
	}
	if s.change.Path.String() == "spec.replicas" {
		for _, r := range o.Replicas {
			if strings.Contains(s.change.Object.Name, r.Name) {
				why = "the replicas of " + r.Name
			}
		}
	}
	if why == "" && len(o.Patches) == 0 {
		return nil
	}
	if why == "" {
		why = "patches of its own"
	}
	return refuse(NotInGit, "Change the Application itself, where it is kept.", "the Application %s sets %s, and its manifest is not in this repository", s.source.Name, why)
}
