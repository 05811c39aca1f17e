package manifest

import (
	"bytes"
	"testing"

	"gopkg.in/yaml.v3"
)

// FuzzSplice edits each scalar and adds to each map of a file in turn. No
// input may make it panic, and no byte outside of an edit may move.
func FuzzSplice(f *testing.F) {
	for _, seed := range []string{
		deployment, crlf(deployment), "\ufeff" + deployment, flowSpec("{a: [1, 'b''c', \"d\\\"e\", *x]}"),
		"a: |\n  b\n\n  c\n", "a: >-\n  b c\n  d\n", "a: &x b\n  c\nd: *x\n<<: {e: f}\n", "- - a\n  -\n- ? b\n  : c\n", "{\"a\": {\"b\": 1}}\n",
		"a: !!str 1 # c\n---\n...\n---\nb: ~\n", "ä: ö\t# ü\n\tx", "a:\r  b: c\r", "a: |2-\n    b\n", "\u2028a: b\u0085c: d",
	} {
		f.Add([]byte(seed), "new value")
		f.Add([]byte(seed), "a: b #c\n")
	}
	f.Fuzz(func(t *testing.T, content []byte, value string) {
		if len(content) > 4096 || len(value) > 256 {
			return
		}
		parsed := parseText(content)
		if parsed.err != nil {
			return
		}
		var nodes []*yaml.Node
		for _, doc := range parsed.docs {
			nodes = places(doc, nodes)
		}
		for _, n := range nodes[:min(len(nodes), 30)] {
			checkSplice(t, parsed, n, value)
		}
	})
}

func places(n *yaml.Node, list []*yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		list = append(list, n)
	}
	for _, c := range n.Content {
		list = places(c, list)
	}
	return list
}

func checkSplice(t *testing.T, parsed *text, n *yaml.Node, value string) {
	for _, in := range []setting{{}, {flow: true}, {json: true}} {
		newKey := ""
		s, r := parsed.spliceScalar(n, value, in)
		if n.Kind == yaml.MappingNode {
			newKey = "key"
			s, r = parsed.spliceKey(n, newKey, value, in)
		}
		if r != nil {
			continue
		}
		edited := s.apply(parsed.content)
		if !bytes.HasPrefix(edited, parsed.content[:s.start]) || !bytes.HasSuffix(edited, parsed.content[s.end:]) {
			t.Fatalf("bytes outside of the edit moved")
		}
		_ = verify(parsed, edited, n, newKey)
	}
}

// FuzzPropose goes the whole way with a file that may hold anything. What is
// proven must be so for another reader, too.
func FuzzPropose(f *testing.F) {
	for _, spec := range []string{"\n  replicas: 3\n", "{replicas: 3}", "\n  <<: &a {replicas: 3}\n  b: *a\n", "\n  replicas: |\n    3\n", " # x\n  a: 1\n  replicas:\n"} {
		f.Add(spec, "spec.replicas", "6")
		f.Add(spec, "spec.new", "a\nb: c")
	}
	f.Fuzz(func(t *testing.T, spec, path, live string) {
		p, err := ParsePath(path)
		if err != nil || len(spec) > 4096 {
			return
		}
		before := []byte(flowSpec(spec))
		list, err := decode("web.yaml", before, 100)
		if err != nil || len(list) != 1 {
			return
		}
		was, _, _ := lookup(list[0].Content, p)
		out, err := Propose(t.Context(), Request{Tree: tree(string(before)), Target: target, Changes: []Change{{Object: web, Path: p, Op: Set, Git: was, Live: live}}})
		if err != nil || len(out.Edits) == 0 {
			return
		}
		after, err := decode("web.yaml", out.Edits[0].Content, 100)
		if err != nil || len(after) != 1 {
			t.Fatalf("%s\nbecame unreadable:\n%s", before, out.Edits[0].Content)
		}
		if now, _, ok := lookup(after[0].Content, p); !ok || now != live {
			t.Fatalf("%s is %v, not %q, in\n%s", path, now, live, out.Edits[0].Content)
		}
	})
}
