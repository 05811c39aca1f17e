package manifest

import (
	"testing"
	"unicode/utf8"
)

// FuzzSetValue writes values into values files of any shape: what comes out
// must read as what went in, with that one value changed.
func FuzzSetValue(f *testing.F) {
	for _, seed := range []string{
		"", "# nothing\n", "a: 1\n", "a: {}\n", "a: {} # c\nb: 2\n", "a:\nb: 1", "a: []\n", "a:\r\n  b: 1\r\n", "a: {b: {c: 1}}\n", "a: &x {}\nb: *x\n",
		"a:\n- b: 1\n", "a: |\n  b: 1\n", "---\n", "{}\n", "a: null\n", "a: ~ # none\nz: 1\n", "\xef\xbb\xbfa: 1\n", "a: ''\n", "- 1\n", "a: 1\n---\nb: 2\n",
	} {
		for _, path := range []string{"a", "a.b", "a.b.c", "z", "x[0]"} {
			f.Add([]byte(seed), path, "v1.0", false)
			f.Add([]byte(seed), path, "yes", true)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, text, value string, nested bool) {
		path, err := ParsePath(text)
		if err != nil || len(path) == 0 || !utf8.ValidString(value) {
			return // live values are JSON
		}
		parsed := parseText(content)
		d := document{file: "values.yaml", t: parsed}
		if parsed.err == nil && len(parsed.docs) > 0 {
			d.root = parsed.docs[0]
		}
		set := valueSetting{path: path, value: value}
		if nested {
			set.value = map[string]any{"k": value, "l": []any{value}}
		}
		out, _, _, r := d.setValue(set)
		if r != nil {
			return
		}
		was, err := readValues(content)
		if err != nil {
			return // Helm does not read it either, and the render refuses it
		}
		is, err := readValues(out)
		if err != nil {
			t.Fatalf("%q can't be read any more: %q", content, out)
		}
		got, _, found := lookup(is, path)
		if !found || !exact(got, set.value) {
			t.Fatalf("%q at %s is %v in %q, want %v", content, path, got, out, set.value)
		}
		if len(was) > len(is) {
			t.Fatalf("%q lost a key: %q", content, out)
		}
	})
}

// FuzzParameter has no parameter of an Application break the engine.
func FuzzParameter(f *testing.F) {
	for _, name := range []string{"replicas", "image.tag", "env[0].value", "a={", "a\\.b", "list[999999999]", "x.y[0][1]"} {
		f.Add(name, "1", true)
		f.Add(name, "{a,b}", false)
		f.Add(name, "a\\,b,c", false)
	}
	tree := stall(nil)
	f.Fuzz(func(t *testing.T, name, value string, forced bool) {
		src := Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{Parameters: []HelmParameter{{Name: name, Value: value, ForceString: forced}}}}
		if _, err := RenderDir(t.Context(), tree, src, Limits{}); err != nil && !isRefusal(err) {
			t.Fatal(err)
		}
	})
}
