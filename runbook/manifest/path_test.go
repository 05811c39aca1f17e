package manifest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	for text, want := range map[string]Path{
		"":                                     {},
		"spec.replicas":                        {Key("spec"), Key("replicas")},
		"spec.containers[name=web].image":      {Key("spec"), Key("containers"), Item("name", "web"), Key("image")},
		`metadata.annotations["a.b/c"]`:        {Key("metadata"), Key("annotations"), Key("a.b/c")},
		`["a.b"].c`:                            {Key("a.b"), Key("c")},
		`data["1"]`:                            {Key("data"), Key("1")},
		`data[""]`:                             {Key("data"), Key("")},
		"rules[0].host":                        {Key("rules"), At(0), Key("host")},
		"ports[port=80,protocol=TCP].nodePort": {Key("ports"), {Item: map[string]string{"port": "80", "protocol": "TCP"}}, Key("nodePort")},
		"finalizers[=a.b/c]":                   {Key("finalizers"), Item("", "a.b/c")},
		`env[name="a,b]"].value`:               {Key("env"), Item("name", "a,b]"), Key("value")},
		`args[=""]`:                            {Key("args"), Item("", "")},
	} {
		got, err := ParsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !got.Equal(want) || got.String() != text {
			t.Errorf("%s: got %#v, written %s", text, got, got)
		}
	}
}

func TestPathsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{
		".", "a.", ".a", "a..b", "a[", "a[]", "a[0", `a["b]`, "a[b]", "a[=]", "a[name=]", "a[name=x", "a[name=x,name=y]",
		"a[99999999999]", "a b", "a.b=c", "a]b", `a"b`, "12", `a["\x"]`, strings.Repeat("a.", 50_000),
	} {
		if p, err := ParsePath(text); err == nil {
			t.Errorf("%.40q was read as %v", text, p)
		}
	}
}

func TestPathsInJSONAreText(t *testing.T) {
	raw, err := json.Marshal(Change{Object: web, Path: Path{Key("spec"), Key("a.b")}, Op: Set, Live: 1})
	if err != nil || !strings.Contains(string(raw), `"path":"spec[\"a.b\"]"`) {
		t.Fatalf("%s, %v", raw, err)
	}
	var back Change
	if err := json.Unmarshal(raw, &back); err != nil || !back.Path.Equal(Path{Key("spec"), Key("a.b")}) {
		t.Errorf("%+v, %v", back, err)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.replicas", `a["b.c"][name=x,y="z"][0].d`, `[=""]`, `[""]`, "[", "é.ü", "a[\"\\ud800\"]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || !again.Equal(p) {
			t.Errorf("%q is written as %q and read back as %#v, %v", text, p, again, err)
		}
	})
}
