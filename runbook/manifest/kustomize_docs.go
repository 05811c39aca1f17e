package manifest

import (
	"context"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// document is a piece of YAML in which a value may live: a document of a
// file, or one in a text within a file, such as an inline patch.
type document struct {
	file string
	// t holds root. For a text within a file, outer is the file's and node
	// the scalar that is the text.
	t, outer *text
	root     *yaml.Node
	node     *yaml.Node
	// depth is how many kustomizations away from the target it is.
	depth int
	layer string
}

// isKustomization tells whether the document is a kustomization itself.
func (d document) isKustomization() bool {
	return d.outer == nil && slices.Contains(kustomizationNames(), path.Base(d.file))
}

// isJSONPatch tells whether the document is a list of JSON patch operations.
func (d document) isJSONPatch() bool {
	return d.root.Kind == yaml.SequenceNode && len(d.root.Content) > 0 && child(resolve(d.root.Content[0]), "op") != nil
}

// isOf tells whether the document is the manifest of an object, or a patch to
// it. Prefixes and suffixes may have been added to the name.
func (d document) isOf(o Object) bool {
	kind, meta := child(d.root, "kind"), resolve(child(d.root, "metadata"))
	name := resolve(child(meta, "name"))
	return scalarIs(kind, o.Kind) && name != nil && name.Value != "" && strings.Contains(o.Name, name.Value)
}

// isPatch tells whether a kustomization takes the document as a patch.
func (d document) isPatch() bool { return strings.HasSuffix(d.layer, "patch") }

// line is where a node is in the file, counted from 1.
func (d document) line(n *yaml.Node) int {
	if d.outer == nil {
		return n.Line
	}
	if d.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return d.node.Line + n.Line
	}
	return d.node.Line
}

// put is the file with new content of the text that holds the document.
func (d document) put(content []byte) (write, *Refusal) {
	if d.outer == nil {
		return write{d.file, content}, nil
	}
	s, r := d.outer.spliceScalar(d.node, string(content), setting{})
	if r != nil {
		return write{}, r
	}
	whole := s.apply(d.outer.content)
	return write{d.file, whole}, verify(d.outer, whole, d.node, "")
}

// maxDocuments bounds the documents that are searched for a value.
const maxDocuments = 20_000

// documents lists everything that the target's kustomization may take values
// from, the nearest to the target first.
func (q *question) documents(ctx context.Context) ([]document, error) {
	dir, err := q.files.dirOf(q.source)
	if err != nil {
		return nil, err
	}
	g := newGrasp(q.files.unrecorded())
	if err := g.source(ctx, q.source, dir); err != nil {
		return nil, err
	}
	if g.refusal != nil {
		return nil, g.refusal
	}
	roles := g.roles()
	list, err := q.overrides()
	if err != nil {
		return nil, err
	}
	for _, file := range g.order {
		t, err := q.files.parsed(file)
		if err != nil {
			return nil, err
		}
		for _, root := range t.docs {
			d := document{file: file, t: t, root: root, depth: g.depth[file], layer: roles[file]}
			list = append(list, d)
			if d.isKustomization() {
				list = append(list, d.inline()...)
			}
		}
		if len(list) > maxDocuments {
			return nil, refuse(TooLarge, byHand, "%s takes in more than %d documents", q.source.Name, maxDocuments)
		}
	}
	slices.SortStableFunc(list, func(a, b document) int { return a.depth - b.depth })
	return list, nil
}

// inline lists the documents in the texts of a kustomization: patches that
// are written where they are used.
func (d document) inline() (list []document) {
	for _, key := range []string{"patches", "patchesStrategicMerge", "patchesJson6902", "transformers", "generators"} {
		for _, item := range contentOf(child(d.root, key)) {
			node := resolve(item)
			if node.Kind == yaml.MappingNode {
				node = resolve(child(node, "patch"))
			}
			if node == nil || node.Kind != yaml.ScalarNode || !strings.Contains(node.Value, ":") {
				continue
			}
			t := parseText([]byte(node.Value))
			for _, root := range t.docs {
				if root.Kind != yaml.ScalarNode {
					list = append(list, document{file: d.file, t: t, outer: d.t, root: root, node: node, depth: d.depth, layer: d.layer + " patch"})
				}
			}
		}
	}
	return list
}

func contentOf(n *yaml.Node) []*yaml.Node {
	if n = resolve(n); n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// roles says in people's words what each file is to the target.
func (g *grasp) roles() map[string]string {
	roles := map[string]string{}
	for _, file := range g.order {
		if !slices.Contains(kustomizationNames(), path.Base(file)) {
			continue
		}
		t, err := g.files.parsed(file)
		if err != nil || len(t.docs) == 0 {
			continue
		}
		root := t.docs[0]
		layer := "base"
		switch {
		case scalarIs(child(root, "kind"), "Component"):
			layer = "component"
		case g.depth[file] == 0:
			layer = "overlay"
		}
		roles[file] = layer
		for i := 0; i+1 < len(root.Content); i += 2 {
			what := " manifest"
			switch key := root.Content[i].Value; {
			case strings.HasPrefix(key, "patches"):
				what = " patch"
			case strings.HasSuffix(key, "Generator"):
				what = " generator"
			case key != "resources" && key != "bases":
				what = ""
			}
			for _, text := range textsIn(root.Content[i+1], nil) {
				_, value, ok := strings.Cut(text, "=")
				if !ok {
					value = text
				}
				if name := path.Join(path.Dir(file), value); g.out.files[name] && roles[name] == "" && len(text) < maxText {
					roles[name] = layer + what
				}
			}
		}
	}
	return roles
}
