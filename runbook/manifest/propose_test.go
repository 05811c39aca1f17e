package manifest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {a.b/c: one}
spec:
  replicas: 3 # three is enough
  template:
    spec:
      containers:
        - name: proxy
          image: envoy:1.30
        - name: web
          image: "registry.example.com/web:1.2.3"
          env:
            - name: MODE
              value: 'slow'
          resources:
            limits:
              cpu: 1
`

var web = Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}

// tree is a repository with one file in apps/.
func tree(content string) fstest.MapFS {
	return fstest.MapFS{"apps/web.yaml": {Data: []byte(content)}}
}

var target = Source{Name: "payments-web", Dir: "apps", Namespace: "payments"}

func change(t *testing.T, path string, git, live any) Change {
	t.Helper()
	p, err := ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	op := Set
	if git == nil {
		op = Add
	}
	return Change{Object: web, Path: p, Op: op, Git: git, Live: live}
}

// edit is one case: a text in the file that must become another one, and
// nothing else.
type edit struct {
	file, path string
	git, live  any
	old, new   string
}

func TestEditsMoveNoByteOutsideTheValue(t *testing.T) {
	for name, c := range map[string]edit{
		"a number before a comment":                      {deployment, "spec.replicas", int64(3), int64(6), "replicas: 3 #", "replicas: 6 #"},
		"a number as JSON has it":                        {deployment, "spec.replicas", float64(3), float64(6), "replicas: 3 #", "replicas: 6 #"},
		"a string in double quotes":                      {deployment, "spec.template.spec.containers[name=web].image", "registry.example.com/web:1.2.3", "registry.example.com/web:1.2.4", `web:1.2.3"`, `web:1.2.4"`},
		"a string without quotes":                        {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "envoy:1.31", "envoy:1.30", "envoy:1.31"},
		"a string in single quotes":                      {deployment, "spec.template.spec.containers[name=web].env[name=MODE].value", "slow", "it's fast", "'slow'", "'it''s fast'"},
		"a number that is a string live":                 {deployment, "spec.template.spec.containers[name=web].resources.limits.cpu", "1", "2", "cpu: 1\n", "cpu: \"2\"\n"},
		"a key with dots, in brackets":                   {deployment, `metadata.annotations["a.b/c"]`, "one", "two, three", "{a.b/c: one}", `{a.b/c: "two, three"}`},
		"a string that YAML takes for a boolean":         {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "yes", "image: envoy:1.30", `image: "yes"`},
		"a string that YAML takes for a number":          {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "706798e8", "image: envoy:1.30", `image: "706798e8"`},
		"a string that YAML takes for base 60":           {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "12:30:45", "image: envoy:1.30", `image: "12:30:45"`},
		"a string that YAML takes for a date":            {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "2001-01-01", "image: envoy:1.30", `image: "2001-01-01"`},
		"a string with a colon and a hash":               {deployment, "spec.template.spec.containers[name=proxy].image", "envoy:1.30", "a: b #c", "image: envoy:1.30", `image: "a: b #c"`},
		"a string that becomes more lines":               {deployment, "spec.template.spec.containers[name=web].env[name=MODE].value", "slow", "a\nb", "'slow'", `"a\nb"`},
		"Windows line endings":                           {crlf(deployment), "spec.replicas", int64(3), int64(6), "replicas: 3 #", "replicas: 6 #"},
		"a byte order mark":                              {"\ufeff" + deployment, "spec.replicas", int64(3), int64(6), "replicas: 3 #", "replicas: 6 #"},
		"no line ending at the end":                      {strings.TrimSuffix(deployment, "\n"), "spec.template.spec.containers[name=web].resources.limits.cpu", int64(1), int64(2), "cpu: 1", "cpu: 2"},
		"letters beyond ASCII before the value":          {flowSpec("{größe: ä, replicas: 3}"), "spec.replicas", int64(3), int64(6), "replicas: 3}", "replicas: 6}"},
		"tabs before a comment":                          {flowSpec("{replicas:\t3}\t# x"), "spec.replicas", int64(3), int64(6), "\t3}", "\t6}"},
		"a tag and an anchor in front":                   {flowSpec("\n  replicas: &n !!int 3\n"), "spec.replicas", int64(3), int64(6), "!!int 3", "!!int 6"},
		"the alias of another value":                     {flowSpec("\n  minReadySeconds: &n 3\n  replicas: *n\n"), "spec.replicas", int64(3), int64(6), "replicas: *n", "replicas: 6"},
		"a value merged in":                              {flowSpec("\n  <<: {replicas: 3}\n  paused: true\n"), "spec.replicas", int64(3), int64(6), "paused: true\n", "paused: true\n  replicas: 6\n"},
		"an explicit null":                               {flowSpec("\n  replicas: null # later\n"), "spec.replicas", nil, int64(6), "null", "6"},
		"a key with nothing behind it":                   {flowSpec("\n  replicas: # later\n  paused: true\n"), "spec.replicas", nil, int64(6), "replicas:", "replicas: 6"},
		"a value over several lines":                     {flowSpec("\n  note: one\n    two\n\n    three # x\n  paused: true\n"), "spec.note", "one two\nthree", "four", "one\n    two\n\n    three", "four"},
		"a block of text, one line of it":                {flowSpec("\n  note: |\n    one\n\n      two  \n    three\n  paused: true\n"), "spec.note", "one\n\n  two  \nthree\n", "one\n\n  2  \nthree\n", "      two  \n", "      2  \n"},
		"a block of text, a line more":                   {flowSpec("\n  note: |-\n    one\n    two\n# end\n"), "spec.note", "one\ntwo", "one\nmore\ntwo", "    one\n", "    one\n    more\n"},
		"a block of text at the file's end":              {flowSpec("\n  note: |-\n    one\n    two"), "spec.note", "one\ntwo", "one\n2", "    two", "    2"},
		"a folded text, one word of it":                  {flowSpec("\n  note: >-\n    one two\n    three four\n"), "spec.note", "one two three four", "one two 3 four", "three", "3"},
		"a second document":                              {"# nothing\n---\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: web}\ndata: {replicas: \"3\"}\n---\n" + deployment + "...\n", "spec.replicas", int64(3), int64(6), "replicas: 3 #", "replicas: 6 #"},
		"an item of a List":                              {"apiVersion: v1\nkind: List\nitems:\n" + indent(deployment), "spec.replicas", int64(3), int64(6), "replicas: 3 #", "replicas: 6 #"},
		"a key that is not there yet":                    {deployment, "spec.paused", nil, true, "              cpu: 1\n", "              cpu: 1\n  paused: true\n"},
		"a key more in brackets":                         {deployment, `metadata.annotations["d.e/f"]`, nil, "2", "{a.b/c: one}", `{a.b/c: one, d.e/f: "2"}`},
		"a key in empty brackets":                        {flowSpec("{}"), "spec.replicas", nil, int64(6), "{}", "{replicas: 6}"},
		"a key in an item of a list":                     {deployment, "spec.template.spec.containers[name=proxy].tty", nil, true, "envoy:1.30\n", "envoy:1.30\n          tty: true\n"},
		"a key at the end of a file without line ending": {flowSpec("\n  paused: true"), "spec.replicas", nil, int64(6), "paused: true", "paused: true\n  replicas: 6"},
		"a default that the cluster filled in":           {deployment, "spec.minReadySeconds", int64(0), int64(9), "              cpu: 1\n", "              cpu: 1\n  minReadySeconds: 9\n"},
		"a port whose protocol is left out":              {flowSpec("\n  ports:\n  - port: 80\n    nodePort: 1\n  - port: 80\n    protocol: UDP\n    nodePort: 2\n"), "spec.ports[port=80,protocol=TCP].nodePort", int64(1), int64(3), "nodePort: 1", "nodePort: 3"},
		"an octal number":                                {flowSpec("\n  mode: 0644\n"), "spec.mode", int64(420), int64(384), "0644", "384"},
		"a marker of the image automation":               {flowSpec("\n  image: a:1 # {\"$imagepolicy\": \"flux-system:a\"}\n"), "spec.image", "a:1", "a:2", "a:1", "a:2"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(c.file, c.old) != 1 {
				t.Fatalf("the case is wrong: %q is there %d times", c.old, strings.Count(c.file, c.old))
			}
			want := strings.Replace(c.file, c.old, c.new, 1)
			p, err := Propose(t.Context(), Request{Tree: tree(c.file), Target: target, Changes: []Change{change(t, c.path, c.git, c.live)}})
			if err != nil {
				t.Fatal(err)
			}
			if v := p.Changes[0]; !v.Proven {
				t.Fatalf("refused: %s: %s (%s)", v.Class, v.Why, v.Hint)
			}
			if got := string(p.Edits[0].Content); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if p.Proof.Target.Differences != 0 {
				t.Errorf("%d differences left: %v", p.Proof.Target.Differences, p.Proof.Target.Unexpected)
			}
			applyPatch(t, c.file, want, p.Edits[0])
		})
	}
}

// applyPatch has Git itself apply the diff.
func applyPatch(t *testing.T, before, want string, e Edit) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, e.File)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "--whitespace=nowarn", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(e.Patch())
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, e.Patch())
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("after git apply:\n%s\nwant\n%s", got, want)
	}
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func flowSpec(spec string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: payments}\nspec: " + spec
}

// indent makes an object an item of a list.
func indent(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = "    " + lines[i]
	}
	return "  -" + strings.TrimPrefix(strings.Join(lines, "\n"), "   ") + "\n"
}
