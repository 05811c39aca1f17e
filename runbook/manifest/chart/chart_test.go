package chart

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmengine "helm.sh/helm/v3/pkg/engine"
)

const meta = "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: 1.4.0\n"

// load makes a chart of files by name.
func load(t *testing.T, files map[string]string) *Chart {
	t.Helper()
	if files["Chart.yaml"] == "" {
		files["Chart.yaml"] = meta
	}
	var list []File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, File{Name: name, Data: []byte(files[name]), Path: "charts/web/" + name})
	}
	c, err := Load(list)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options() Options { return Options{Release: "web", Namespace: "prod"} }

// everything uses what charts use.
var everything = map[string]string{
	"values.yaml": "image: {repository: nginx, tag: ''}\nreplicas: 2\nlist: [b, a]\nmap: {x: 1, y: two}\ntemplate: 'v-{{ .Values.replicas }}-{{ include \"web.name\" . }}'\nsub: {color: red}\nglobal: {domain: example.test}\nbig: 1000000\nfloat: 0.5\nnothing: null\n",
	"templates/_helpers.tpl": `{{- define "web.name" -}}{{ .Release.Name }}-{{ .Chart.Name }}{{- end -}}
{{- define "web.labels" }}
app: {{ include "web.name" . }}
{{- with .Values.map }}
{{- range $k, $v := . }}
{{ $k }}: {{ $v | quote }}
{{- end }}
{{- end }}
{{- end }}`,
	"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "web.name" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- include "web.labels" . | nindent 4 }}
data:
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
  tpl: {{ tpl .Values.template . | quote }}
  nested: {{ tpl "{{ define \"x\" }}{{ . }}!{{ end }}{{ include \"x\" .Values.float }}" . | quote }}
  yaml: |
    {{- toYaml .Values.map | nindent 4 }}
  json: {{ toJson .Values.map | quote }}
  toml: {{ toToml .Values.map | quote }}
  lines: {{ range .Files.Lines "conf/a.txt" }}<{{ . }}>{{ end }}
  file: {{ .Files.Get "conf/a.txt" | quote }}
  glob: {{ range $p, $_ := .Files.Glob "conf/*" }}{{ $p }},{{ end }}
  sorted: {{ .Values.list | sortAlpha | join "," }}
  until: {{ range until 3 }}{{ . }}{{ if eq . 1 }}{{ continue }}{{ end }};{{ end }}
  seq: {{ seq 1 2 7 | quote }}
  ternary: {{ ternary "a" "b" (gt (int .Values.replicas) 1) }}
  big: {{ .Values.big }} {{ .Values.big | int }} {{ printf "%5d|%v" (int .Values.big) .Values.float | quote }}
  missing: "{{ .Values.not }}{{ .Values.nothing }}"
  dict: {{ dict "a" 1 "b" (list 1 2) | toJson | quote }}
  set: {{ $d := dict }}{{ $_ := set $d "k" "v" }}{{ merge $d (dict "k" "w" "z" 1) | toJson | quote }}
  regex: {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" | quote }}
  semver: {{ semverCompare ">=1.20-0" .Capabilities.KubeVersion.Version }}
  api: {{ .Capabilities.APIVersions.Has "apps/v1" }} {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}
  sum: {{ .Files.Get "conf/a.txt" | sha256sum }} {{ "x" | b64enc }}
  lookup: {{ (lookup "v1" "Secret" "a" "b") | toJson | quote }}
  template: {{ .Template.Name }} {{ .Template.BasePath }}
  sub: {{ .Subcharts.sub.Values.color }}
`,
	"templates/NOTES.txt":         "notes",
	"conf/a.txt":                  "one\ntwo\n",
	"charts/sub/Chart.yaml":       "apiVersion: v2\nname: sub\nversion: 0.1.0\n",
	"charts/sub/values.yaml":      "color: blue\nsize: 1\n",
	"charts/sub/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\ndata: {color: '{{ .Values.color }}', size: '{{ .Values.size }}', domain: '{{ .Values.global.domain }}', parent: '{{ include \"web.name\" . }}'}\n",
	"charts/sub/crds/crd.yaml":    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.test}\n",
	"templates/hook.yaml":         "apiVersion: v1\nkind: Pod\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: pre-install}\n",
	"templates/tests/test.yaml":   "apiVersion: v1\nkind: Pod\nmetadata:\n  name: test\n  annotations: {helm.sh/hook: test}\n",
}

// TestRendersAsHelmDoes holds the templates' output against Helm's own engine.
func TestRendersAsHelmDoes(t *testing.T) {
	c := load(t, maps.Clone(everything))
	var files []*loader.BufferedFile
	for name, text := range everything {
		files = append(files, &loader.BufferedFile{Name: name, Data: []byte(text)})
	}
	files = append(files, &loader.BufferedFile{Name: "Chart.yaml", Data: []byte(meta)})
	reference, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: DefaultKubeVersion, Major: "1", Minor: "31"}
	values, err := chartutil.ToRenderValues(reference, map[string]any{}, chartutil.ReleaseOptions{Name: "web", Namespace: "prod", Revision: 1, IsInstall: true}, caps)
	if err != nil {
		t.Fatal(err)
	}
	want, err := helmengine.Render(reference, values)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Render(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range got {
		if text, ok := want[m.Template]; ok && strings.TrimSpace(text) != strings.TrimSpace(m.Text) {
			t.Errorf("%s:\n%s\nHelm has:\n%s", m.Template, m.Text, text)
		}
	}
	var order []string
	for _, m := range got {
		order = append(order, m.Template)
	}
	if want := []string{"web/charts/sub/crds/crd.yaml", "web/charts/sub/templates/a.yaml", "web/templates/all.yaml", "web/templates/hook.yaml", "web/templates/tests/test.yaml"}; !slices.Equal(order, want) {
		t.Errorf("%v; want CRDs, objects, then hooks: %v", order, want)
	}
	if at := got[1].Path; at != "charts/web/charts/sub/templates/a.yaml" {
		t.Errorf("a template of the subchart is kept in %q", at)
	}
}

func TestWhatIsSkipped(t *testing.T) {
	o := options()
	o.SkipCRDs, o.SkipTests = true, true
	got, err := load(t, maps.Clone(everything)).Render(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range got {
		if strings.Contains(m.Template, "crds/") || strings.Contains(m.Template, "tests/") {
			t.Errorf("%s is not left out", m.Template)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d documents, want 3", len(got))
	}
}

// TestBombs renders charts that would take the process down.
func TestBombs(t *testing.T) {
	for name, template := range map[string]string{
		"an endless loop in loops":        `{{ range until 90000 }}{{ range until 90000 }}{{ range until 90000 }}{{ end }}{{ end }}{{ end }}`,
		"a loop that only sets":           `{{ $x := 0 }}{{ range until 99999 }}{{ range until 99999 }}{{ $x = . }}{{ end }}{{ end }}`,
		"a long count":                    `{{ range until 2000000000 }}x{{ end }}`,
		"a long count down":               `{{ untilStep 2000000000 0 -1 | len }}`,
		"a long sequence":                 `{{ seq 1 2000000000 }}`,
		"a text repeated":                 `{{ repeat 2000000000 "x" }}`,
		"a text indented":                 `{{ indent 2000000000 "x" }}`,
		"a text that doubles":             `{{ $x := "xxxxxxxxxx" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}{{ $x }}`,
		"a list that doubles":             `{{ $x := list "x" }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}`,
		"a list of lists":                 `{{ $x := list "x" }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`,
		"a map of maps":                   `{{ $x := dict "a" "x" }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ toYaml $x }}`,
		"a map that holds itself":         `{{ $x := dict }}{{ $_ := set $x "self" $x }}{{ $x }}`,
		"the context that holds itself":   `{{ $_ := set . "self" . }}{{ printf "%v" . }}`,
		"merged into itself":              `{{ $x := dict "a" (dict) }}{{ $_ := merge $x.a (dict "x" $x) }}{{ printf "%v" $x }}`,
		"a template within itself":        `{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`,
		"an include within itself":        `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`,
		"two includes within each other":  `{{ define "x" }}{{ include "y" . }}{{ end }}{{ define "y" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`,
		"a text that renders itself":      `{{ tpl .Values.self . }}`,
		"a replacement that multiplies":   `{{ $x := repeat 100000 "x" }}{{ replace "x" $x $x }}`,
		"a pattern that multiplies":       `{{ $x := repeat 100000 "x" }}{{ regexReplaceAll "x" $x $x }}`,
		"a wide format":                   `{{ printf "%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d" 1 1 1 1 1 1 1 1 1 1 }}`,
		"much output":                     `{{ $x := repeat 1000000 "x" }}{{ range until 1000 }}{{ $x }}{{ end }}`,
		"wrapped with a long text":        `{{ $x := repeat 100000 "x" }}{{ wrapWith 1 $x $x }}`,
		"compared with each other":        `{{ uniq (splitList "" (repeat 90000 "x")) }}`,
		"joined by a long text":           `{{ join (repeat 100000 "x") (until 90000) }}`,
		"many variables":                  `{{ $d := dict }}{{ range until 5000 }}{{ $_ := set $d (print .) (repeat 1000000 "x") }}{{ end }}`,
		"a template that calls and loops": `{{ define "x" }}{{ range until 10 }}{{ template "x" . }}{{ end }}{{ end }}{{ template "x" . }}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := load(t, map[string]string{"templates/a.yaml": template, "values.yaml": "self: '{{ tpl .Values.self . }}'\n"})
			o := options()
			o.Limits.Time = 2 * time.Second
			_, err := c.Render(t.Context(), o)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%v; want %v", err, ErrTooLarge)
			}
		})
	}
}

func TestRenderStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("somebody stopped it")
	cancel(stop)
	c := load(t, map[string]string{"templates/a.yaml": `{{ range until 99999 }}{{ range until 99999 }}{{ end }}{{ end }}`})
	if _, err := c.Render(ctx, options()); !errors.Is(err, stop) {
		t.Errorf("%v; want %v", err, stop)
	}
}

// TestRandomIsTheSame holds that two renders differ by their seed alone.
func TestRandomIsTheSame(t *testing.T) {
	for _, call := range []string{
		`randAlphaNum 20`, `randAlpha 20`, `randNumeric 20`, `randAscii 20`, `randBytes 20`, `randInt 0 1000`, `uuidv4`, `now`, `ago now`,
		`htpasswd "a" "b"`, `bcrypt "a"`, `genPrivateKey "rsa"`, `(genCA "a" 10).Cert`, `(genSelfSignedCert "a" nil nil 10).Key`,
		`(genSignedCert "a" nil nil 10 (genCA "a" 10)).Cert`, `encryptAES "a" "b"`, `shuffle "abcdef"`, `keys (dict "a" 1 "b" 2) | toJson`, `values (dict "a" 1 "b" 2) | toJson`,
	} {
		t.Run(call, func(t *testing.T) {
			c := load(t, map[string]string{"templates/a.yaml": fmt.Sprintf("kind: A\nv: {{ %s | quote }}\n", call)})
			var texts []string
			for _, seed := range []int{0, 0, 1} {
				o := options()
				o.Seed = seed
				got, err := c.Render(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, got[0].Text)
			}
			if texts[0] != texts[1] {
				t.Errorf("two renders differ: %q and %q", texts[0], texts[1])
			}
			if texts[0] == texts[2] && call != "ago now" {
				t.Errorf("another seed gives %q, too", texts[2])
			}
		})
	}
}

func TestNothingIsReachedFor(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a schema on another host": {"values.schema.json": `{"$ref": "http://127.0.0.1:1/schema.json"}`},
		"a schema in a file":       {"values.schema.json": `{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`},
		"a schema of a subchart":   {"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 0.1.0\n", "charts/sub/values.schema.json": `{"$ref": "other.json"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := load(t, files).Render(t.Context(), options()); !errors.Is(err, errRemoteSchema) {
				t.Errorf("%v; want %v", err, errRemoteSchema)
			}
		})
	}
	for _, call := range []string{`env "HOME"`, `expandenv "$HOME"`} {
		c := load(t, map[string]string{"templates/a.yaml": "{{ " + call + " }}"})
		if got, err := c.Render(t.Context(), options()); err == nil {
			t.Errorf("%s gives %v", call, got)
		}
	}
}

func TestWhatCanNotBeRendered(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a library":            {map[string]string{"Chart.yaml": meta + "type: library\n"}, "library chart"},
		"a missing dependency": {map[string]string{"Chart.yaml": meta + "dependencies: [{name: db, version: 1.0.0, repository: 'https://example.test'}]\n"}, "not in the repository: db"},
		"a newer Kubernetes":   {map[string]string{"Chart.yaml": meta + "kubeVersion: '>=1.99.0'\n"}, "wants Kubernetes >=1.99.0"},
		"a schema":             {map[string]string{"values.yaml": "a: 1\n", "values.schema.json": `{"properties": {"a": {"type": "string"}}}`}, "check the values"},
		"a required value":     {map[string]string{"templates/a.yaml": `{{ required "say a" .Values.a }}`}, "say a"},
		"a panicking regex":    {map[string]string{"templates/a.yaml": `{{ regexFindAll "(" "a" 1 }}`}, "regex"},
		"broken YAML":          {map[string]string{"templates/a.yaml": "a: b: c\n"}, "read what the templates make"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.files).Render(t.Context(), options())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}
