package manifest

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// stall is a repository with one chart, and values for two environments.
func stall(more map[string]string) fstest.MapFS {
	files := map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: \"1.0\"\n",
		"chart/values.yaml": `replicas: 2
image:
  repository: example.test/web
  tag: "" # the chart's appVersion, if it is empty
env:
  - name: MODE
    value: slow
resources: {}
settings:
  color: red
note: |
  hello
  world
`,
		"chart/templates/_helpers.tpl": "{{- define \"web.image\" }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- with .Values.image.digest }}@{{ . }}{{ end }}{{ end }}\n",
		"chart/templates/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  {{- with .Values.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ .Values.replicas }}
  revisionHistoryLimit: 3
  minReadySeconds: {{ .Values.minReady | default 10 }}
  {{- if .Values.paused }}
  paused: true
  {{- end }}
  template:
    metadata:
      annotations:
        checksum/config: {{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}
    spec:
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: web
          image: {{ include "web.image" . }}
          env: {{- toYaml .Values.env | nindent 12 }}
          resources: {{- toYaml .Values.resources | nindent 12 }}
`,
		"chart/templates/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  {{- range $k, $v := .Values.settings }}
  {{ $k }}: {{ $v | quote }}
  {{- end }}
  note: {{ .Values.note | quote }}
  app.conf: |
    {{- .Files.Get "files/app.conf" | nindent 4 }}
  token: {{ randAlphaNum 12 | quote }}
`,
		"chart/files/app.conf": "port = 8080\nthreads = 20\n",
		"env/prod.yaml":        "# production\nreplicas: 3   # one per zone\n",
		"env/test.yaml":        "replicas: 1\n",
	}
	maps.Copy(files, more)
	tree := fstest.MapFS{}
	for name, content := range files {
		if content != "" {
			tree[name] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	return tree
}

// prodStall and testStall are two releases of the chart.
func prodStall(values ...string) Source {
	return Source{Name: "stall", Dir: "chart", Namespace: "shop", Helm: &HelmOptions{ValueFiles: append([]string{"/env/prod.yaml"}, values...)}}
}

var testStall = Source{Name: "stall-test", Dir: "chart", Namespace: "shop-test", Helm: &HelmOptions{ValueFiles: []string{"../env/test.yaml"}}}

const stallApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: stall
spec:
  source:
    path: chart
    helm:
`

// TestHelmEditsTheNearestValue has a change made where it belongs: what the
// edit takes away and what it writes, in which file. Another release of the
// same chart must not move.
func TestHelmEditsTheNearestValue(t *testing.T) {
	image, replicas := "spec.template.spec.containers[name=web].image", "spec.replicas"
	digest := "sha256:" + strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		more     map[string]string
		target   Source
		kind     string
		path     string
		op       Op
		live     any
		file     string
		old, new string
		layer    string
	}{
		"a value of the values file": {
			path: replicas, live: int64(5), file: "env/prod.yaml", old: "replicas: 3   # one", new: "replicas: 5   # one", layer: "values file",
		},
		"a default of the chart, set for this release": {
			path: image, live: "example.test/other:1.0", file: "env/prod.yaml", old: "per zone\n", new: "per zone\nimage:\n  repository: example.test/other\n",
		},
		"an empty tag, which the chart fills in": {
			path: image, live: "example.test/web:1.10", file: "env/prod.yaml", old: "per zone\n", new: "per zone\nimage:\n  tag: \"1.10\"\n",
		},
		"tag and digest together": {
			more: map[string]string{"env/prod.yaml": "replicas: 3\nimage:\n  tag: v1\n  digest: sha256:" + strings.Repeat("cd", 32) + "\n"},
			path: image, live: "example.test/web:v2@" + digest, file: "env/prod.yaml",
			old: "  tag: v1\n  digest: sha256:" + strings.Repeat("cd", 32), new: "  tag: v2\n  digest: " + digest,
		},
		"name and tag together": {
			more: map[string]string{"env/prod.yaml": "image: {repository: example.test/web, tag: v1}\n"},
			path: image, live: "mirror.test/web:v2", file: "env/prod.yaml", old: "{repository: example.test/web, tag: v1}", new: "{repository: mirror.test/web, tag: v2}",
		},
		"a value that only the template has a default for": {
			path: "spec.minReadySeconds", live: int64(30), file: "env/prod.yaml", old: "per zone\n", new: "per zone\nminReady: 30\n",
		},
		"a switch": {
			path: "spec.paused", op: Add, live: true, file: "env/prod.yaml", old: "per zone\n", new: "per zone\npaused: true\n",
		},
		"an item added to a list of the chart, which is replaced as a whole": {
			path: "spec.template.spec.containers[name=web].env[name=ZONE]", op: Add, live: map[string]any{"name": "ZONE", "value": "b"}, file: "env/prod.yaml",
			old: "per zone\n", new: "per zone\nenv:\n- name: MODE\n  value: slow\n- name: ZONE\n  value: b\n",
		},
		"an item of a list of the values file": {
			more: map[string]string{"env/prod.yaml": "env:\n  - name: MODE\n    value: fast\n  - name: ZONE\n    value: a\n"},
			path: "spec.template.spec.containers[name=web].env[name=ZONE].value", live: "b", file: "env/prod.yaml", old: "value: a", new: "value: b",
		},
		"an item taken away": {
			more: map[string]string{"env/prod.yaml": "env:\n  - name: MODE\n    value: fast\n  - name: ZONE\n    value: a\n"},
			path: "spec.template.spec.containers[name=web].env[name=ZONE]", op: Remove, file: "env/prod.yaml", old: "  - name: ZONE\n    value: a\n",
		},
		"a block that is passed on": {
			path: "spec.template.spec.containers[name=web].resources.limits", op: Add, live: map[string]any{"memory": "1Gi"}, file: "env/prod.yaml",
			old: "per zone\n", new: "per zone\nresources:\n  limits:\n    memory: 1Gi\n",
		},
		"a block in the place of an empty one": {
			more: map[string]string{"env/prod.yaml": "resources: {} # as needed\nreplicas: 3\n"},
			path: "spec.template.spec.containers[name=web].resources.limits", op: Add, live: map[string]any{"memory": "1Gi"}, file: "env/prod.yaml",
			old: "resources: {} # as needed\n", new: "resources: # as needed\n  limits:\n    memory: 1Gi\n",
		},
		"a map that nobody sets": {
			path: "spec.template.spec.nodeSelector", op: Add, live: map[string]any{"disk": "ssd"}, file: "env/prod.yaml",
			old: "per zone\n", new: "per zone\nnodeSelector:\n  disk: ssd\n",
		},
		"an annotation": {
			path: `metadata.annotations["example.test/owner"]`, op: Add, live: "payments", file: "env/prod.yaml",
			old: "per zone\n", new: "per zone\nannotations:\n  example.test/owner: payments\n",
		},
		"a key of a map that is looped over": {
			kind: "ConfigMap", path: "data.size", op: Add, live: "big", file: "env/prod.yaml", old: "per zone\n", new: "per zone\nsettings:\n  size: big\n",
		},
		"a text that is quoted where it is written": {
			kind: "ConfigMap", path: "data.color", live: "yes", file: "env/prod.yaml", old: "per zone\n", new: "per zone\nsettings:\n  color: \"yes\"\n",
		},
		"a piece of a block of text": {
			more: map[string]string{"env/prod.yaml": "note: |\n  hello\n  world\n# end\n"},
			kind: "ConfigMap", path: "data.note", live: "hello\nmoon\n", file: "env/prod.yaml", old: "  world\n", new: "  moon\n",
		},
		"a file that the chart reads": {
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", App: "alone"},
			kind:   "ConfigMap", path: "data[\"app.conf\"]", live: "port = 8080\nthreads = 40\n", file: "chart/files/app.conf", old: "threads = 20", new: "threads = 40", layer: "file of the chart",
		},
		"an empty values file": {
			more: map[string]string{"env/prod.yaml": "# nothing yet\n"},
			path: replicas, live: int64(5), file: "env/prod.yaml", old: "# nothing yet\n", new: "# nothing yet\nreplicas: 5\n",
		},
		"the last values file wins": {
			more: map[string]string{"env/eu.yaml": "replicas: 4\n"}, target: prodStall("../env/eu.yaml"),
			path: replicas, live: int64(5), file: "env/eu.yaml", old: "4", new: "5",
		},
		"values as a text in the Application": {
			more:   map[string]string{"apps/stall.yaml": stallApp + "      valueFiles: [/env/prod.yaml]\n      values: |\n        # ours\n        replicas: 4\n        image:\n          tag: v1\n"},
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", Manifest: "apps/stall.yaml"},
			path:   replicas, live: int64(5), file: "apps/stall.yaml", old: "        replicas: 4\n", new: "        replicas: 5\n", layer: "values of the Application",
		},
		"values as an object in the Application": {
			more:   map[string]string{"apps/stall.yaml": stallApp + "      valuesObject:\n        replicas: 4\n"},
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", Manifest: "apps/stall.yaml"},
			path:   replicas, live: int64(5), file: "apps/stall.yaml", old: "        replicas: 4\n", new: "        replicas: 5\n", layer: "values of the Application",
		},
		"a parameter, which beats all of them": {
			more:   map[string]string{"apps/stall.yaml": stallApp + "      parameters:\n      - name: image.tag\n        value: \"12\"\n        forceString: true\n      valuesObject: {image: {tag: v1}}\n"},
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", Manifest: "apps/stall.yaml"},
			path:   image, live: "example.test/web:13", file: "apps/stall.yaml", old: `"12"`, new: `"13"`, layer: "Helm parameter",
		},
		"an Application without values of its own": {
			more:   map[string]string{"apps/stall.yaml": strings.TrimSuffix(stallApp, "    helm:\n")},
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", Manifest: "apps/stall.yaml"},
			path:   replicas, live: int64(5), file: "apps/stall.yaml", old: "    path: chart\n", new: "    path: chart\n    helm:\n      valuesObject:\n        replicas: 5\n",
		},
		"overrides beside the chart": {
			more: map[string]string{"chart/.argocd-source-stall.yaml": "helm:\n  parameters:\n  - name: image.tag\n    value: v7\n    forceString: true\n"},
			path: image, live: "example.test/web:v8", file: "chart/.argocd-source-stall.yaml", old: "value: v7", new: "value: v8", layer: "Helm parameter",
		},
		"a values file of another source of the same repository": {
			target: Source{Name: "stall", Dir: "chart", Namespace: "shop", Refs: map[string]string{"values": ""}, Helm: &HelmOptions{ValueFiles: []string{"$values/env/prod.yaml"}}},
			path:   replicas, live: int64(5), file: "env/prod.yaml", old: "replicas: 3", new: "replicas: 5",
		},
		"a subchart under its alias": {
			more: map[string]string{
				"chart/Chart.yaml":                     "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: \"1.0\"\ndependencies:\n- {name: db, alias: store, version: 1.0.0}\n",
				"chart/charts/db/Chart.yaml":           "apiVersion: v2\nname: db\nversion: 1.0.0\n",
				"chart/charts/db/values.yaml":          "tag: v1\n",
				"chart/charts/db/templates/store.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {externalName: '{{ .Values.tag }}.{{ .Chart.Name }}'}\n",
			},
			kind: "Service", path: "spec.externalName", live: "v2.store", file: "env/prod.yaml", old: "per zone\n", new: "per zone\nstore:\n  tag: v2\n",
		},
		"a global": {
			more: map[string]string{
				"chart/charts/db/Chart.yaml":           "apiVersion: v2\nname: db\nversion: 1.0.0\n",
				"chart/charts/db/templates/store.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {externalName: '{{ .Values.global.host }}'}\n",
				"env/prod.yaml":                        "global:\n  host: a.test\n",
				"env/test.yaml":                        "global: {host: t.test}\n",
			},
			kind: "Service", path: "spec.externalName", live: "b.test", file: "env/prod.yaml", old: "a.test", new: "b.test",
		},
		"a library chart beside it": {
			more: map[string]string{
				"chart/Chart.yaml":           "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: v1\ndependencies:\n- {name: lib, version: 1.0.0, repository: 'file://../lib'}\n",
				"lib/Chart.yaml":             "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n",
				"lib/templates/_service.tpl": "{{ define \"lib.service\" }}apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {externalName: '{{ .Values.host }}'}{{ end }}\n",
				"chart/templates/s.yaml":     "{{ include \"lib.service\" . }}\n",
				"env/prod.yaml":              "host: a.test\n",
			},
			kind: "Service", path: "spec.externalName", live: "b.test", file: "env/prod.yaml", old: "a.test", new: "b.test",
		},
		"a container in a text that is a template": {
			more: map[string]string{
				"chart/templates/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers: {{- tpl .Values.all . | nindent 6 }}\n",
				"env/prod.yaml":            "theme: winter\nall: |\n  - name: web\n    image: example.test/{{ .Values.theme }}:20261128\n",
				"env/test.yaml":            "all: '[]'\n",
			},
			path: image, live: "example.test/winter:20261129", file: "env/prod.yaml", old: ":20261128", new: ":20261129",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := stall(c.more)
			if c.target.Name == "" {
				c.target = prodStall()
			}
			change := webIn(t, c.path, c.op, c.live)
			if change.Op == "" {
				change.Op = Set
			}
			if c.kind != "" {
				change.Object.Kind, change.Object.APIVersion = c.kind, "v1"
			}
			consumers := []Source{testStall}
			if c.target.App == "alone" {
				consumers = nil
			}
			p := ask(t, tree, c.target, change, consumers...)
			v := p.Changes[0]
			if !v.Proven {
				t.Fatalf("%s: %s", v.Class, v.Why)
			}
			if len(p.Edits) != 1 || p.Edits[0].File != c.file {
				t.Fatalf("edits %+v; want one of %s", p.Edits, c.file)
			}
			before := string(tree[c.file].Data)
			if want := strings.Replace(before, c.old, c.new, 1); string(p.Edits[0].Content) != want {
				t.Errorf("got\n%s\nwant\n%s", p.Edits[0].Content, want)
			}
			if c.layer != "" && v.Layer != c.layer {
				t.Errorf("layer %q, want %q", v.Layer, c.layer)
			}
		})
	}
}

// TestHelmRefuses has what can't be done refused with its class, and nothing
// written.
func TestHelmRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		more      map[string]string
		target    Source
		consumers []Source
		kind      string
		path      string
		op        Op
		live      any
		class     Class
		why       string
	}{
		"what the template holds":     {path: "spec.revisionHistoryLimit", live: int64(5), class: HardCoded, why: "chart/templates/web.yaml itself, in line 10"},
		"what is drawn at random":     {kind: "ConfigMap", path: "data.token", live: "other", class: NonDeterministic, why: "another in every render"},
		"a default that others share": {target: Source{Name: "stall", Dir: "chart"}, consumers: []Source{testStall}, kind: "ConfigMap", path: "data.color", live: "blue", class: SharedSource, why: "chart/values.yaml"},
		"a file that others share":    {consumers: []Source{testStall}, kind: "ConfigMap", path: "data[\"app.conf\"]", live: "port = 8080\nthreads = 40\n", class: SharedSource, why: "chart/files/app.conf"},
		"a value of two objects": {
			more: map[string]string{"chart/templates/two.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {externalName: 'r{{ .Values.replicas }}'}\n"},
			path: "spec.replicas", live: int64(5), class: TouchesOthers, why: "spec.externalName of Service/web",
		},
		"values of an Application elsewhere": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{ValueFiles: []string{"/env/prod.yaml"}, Values: "replicas: 4\n"}},
			path:   "spec.replicas", live: int64(5), class: NotInGit, why: "values of the Application",
		},
		"a parameter of an Application elsewhere": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{Parameters: []HelmParameter{{Name: "replicas", Value: "4"}}}},
			path:   "spec.replicas", live: int64(5), class: NotInGit, why: "Helm parameter",
		},
		"a values file of another repository": {
			target: Source{Name: "stall", Dir: "chart", Refs: map[string]string{"v": "another repository, git.test/values"}, Helm: &HelmOptions{ValueFiles: []string{"$v/prod.yaml"}}},
			path:   "spec.replicas", live: int64(5), class: NotInGit, why: "another repository",
		},
		"a values file on a web server": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{ValueFiles: []string{"https://example.test/values.yaml"}}},
			path:   "spec.replicas", live: int64(5), class: UnsupportedTool, why: "another host",
		},
		"a values file outside": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{ValueFiles: []string{"../../etc/passwd"}}},
			path:   "spec.replicas", live: int64(5), class: Unreadable, why: "outside of the repository",
		},
		"a values file that is gone": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{ValueFiles: []string{"gone.yaml"}}},
			path:   "spec.replicas", live: int64(5), class: NotFound, why: "gone.yaml is not in the repository",
		},
		"a dependency elsewhere": {
			more: map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0, repository: 'https://charts.test'}]\n"},
			path: "spec.replicas", live: int64(5), class: UnsupportedTool, why: "not in the repository: db",
		},
		"a values file that a program writes": {
			more: map[string]string{"env/prod.yaml": "# Code generated by a robot. DO NOT EDIT.\nreplicas: 3\n"},
			path: "spec.replicas", live: int64(5), class: MachineWritten, why: "must not be edited",
		},
		"an encrypted values file": {
			more: map[string]string{"env/prod.yaml": "replicas: 3\nsops:\n  mac: x\n"},
			path: "spec.replicas", live: int64(5), class: Encrypted, why: "SOPS",
		},
		"a schema that forbids the value": {
			more: map[string]string{"chart/values.schema.json": `{"properties": {"replicas": {"maximum": 4}}}`},
			path: "spec.replicas", live: int64(5), class: ProofFailed, why: "can't be rendered any more",
		},
		"an endless template": {
			more: map[string]string{"chart/templates/bomb.yaml": "{{ range until 2000000000 }}{{ end }}"},
			path: "spec.replicas", live: int64(5), class: TooLarge, why: "more time or memory",
		},
		"a link that leads out": {
			more: map[string]string{"chart/templates/out.yaml": "../../../etc/passwd"},
			path: "spec.replicas", live: int64(5), class: Unreadable, why: "leads out of the repository",
		},
		"an unknown variable": {
			target: Source{Name: "stall", Dir: "chart", Helm: &HelmOptions{ValueFiles: []string{"/env/$ARGOCD_ENV_X.yaml"}}},
			path:   "spec.replicas", live: int64(5), class: UnsupportedTool, why: "$ARGOCD_ENV_X",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := stall(c.more)
			if f := tree["chart/templates/out.yaml"]; f != nil {
				f.Mode = 0o777 | 1<<27 // a symbolic link
			}
			if c.target.Name == "" {
				c.target = prodStall()
			}
			change := change(t, c.path, nil, c.live)
			change.Object.Namespace, change.Op = "", Set
			if c.kind != "" {
				change.Object.Kind, change.Object.APIVersion = c.kind, "v1"
			}
			if list, err := RenderDir(t.Context(), tree, c.target, Limits{}); err == nil {
				for _, r := range list {
					if o := r.Object(); o.Kind == change.Object.Kind {
						change.Git, _ = change.Path.Get(r.Content)
					}
				}
			}
			p, err := Propose(t.Context(), Request{Tree: tree, Target: c.target, Consumers: c.consumers, Changes: []Change{change}, Structure: true})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if v.Proven || len(p.Edits) > 0 {
				t.Fatalf("proven: %+v", p.Edits)
			}
			if v.Class != c.class || !strings.Contains(v.Why, c.why) {
				t.Errorf("%s: %s; want %s: %s", v.Class, v.Why, c.class, c.why)
			}
			if v.Hint == "" {
				t.Error("it does not say what to do")
			}
		})
	}
}

// TestHelmTellsWhatFollows has the checksum of a ConfigMap follow it.
func TestHelmTellsWhatFollows(t *testing.T) {
	c := webIn(t, "data.color", Set, "blue")
	c.Object.Kind, c.Object.APIVersion = "ConfigMap", "v1"
	p := ask(t, stall(nil), prodStall(), c, testStall)
	if !p.Changes[0].Proven {
		t.Fatalf("%s: %s", p.Changes[0].Class, p.Changes[0].Why)
	}
	if len(p.Proof.Target.Derived) != 1 || !strings.Contains(p.Proof.Target.Derived[0], "checksum/config of Deployment/web follows") {
		t.Errorf("derived: %q", p.Proof.Target.Derived)
	}
	if p.Proof.Consumers.Checked != 1 || !strings.HasPrefix(p.Proof.Renderer, "helm.sh/helm/v3 ") {
		t.Errorf("proof: %+v", p.Proof)
	}
}

const stallRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: stall, namespace: shop}
spec:
  chart:
    spec: {chart: chart, sourceRef: {kind: GitRepository, name: shop}}
`

// TestHelmReleaseValues has values of a HelmRelease changed where they are.
func TestHelmReleaseValues(t *testing.T) {
	target := Source{Name: "stall", Dir: "chart", Namespace: "shop", Manifest: "flux/stall.yaml", Release: true}
	from := "  valuesFrom:\n  - {kind: ConfigMap, name: stall-values}\n"
	for name, c := range map[string]struct {
		more           map[string]string
		file, old, new string
		class          Class
	}{
		"its own":           {map[string]string{"flux/stall.yaml": stallRelease + from + "  values:\n    replicas: 4 # ours\n", "flux/cm.yaml": "kind: ConfigMap\nmetadata: {name: stall-values}\ndata:\n  values.yaml: |\n    replicas: 3\n"}, "flux/stall.yaml", "replicas: 4 #", "replicas: 5 #", ""},
		"a ConfigMap's":     {map[string]string{"flux/stall.yaml": stallRelease + from, "flux/cm.yaml": "kind: ConfigMap\nmetadata: {name: stall-values}\ndata:\n  values.yaml: |\n    # here\n    replicas: 3\n"}, "flux/cm.yaml", "    replicas: 3", "    replicas: 5", ""},
		"a generator's":     {map[string]string{"flux/stall.yaml": stallRelease + from, "flux/kustomization.yaml": "resources: [stall.yaml]\nconfigMapGenerator:\n- name: stall-values\n  files: [values.yaml=v.yaml]\n", "flux/v.yaml": "replicas: 3\n"}, "flux/v.yaml", "3", "5", ""},
		"none so far":       {map[string]string{"flux/stall.yaml": stallRelease}, "flux/stall.yaml", "name: shop}}\n", "name: shop}}\n  values:\n    replicas: 5\n", ""},
		"a Secret's":        {map[string]string{"flux/stall.yaml": stallRelease + "  valuesFrom: [{kind: Secret, name: s}]\n"}, "", "", "", NotInGit},
		"a missing one's":   {map[string]string{"flux/stall.yaml": stallRelease + from}, "", "", "", NotInGit},
		"under one path":    {map[string]string{"flux/stall.yaml": stallRelease + "  valuesFrom: [{kind: ConfigMap, name: s, targetPath: a.b}]\n"}, "", "", "", UnsupportedTool},
		"changed afterward": {map[string]string{"flux/stall.yaml": stallRelease + "  postRenderers: [{kustomize: {}}]\n"}, "", "", "", UnsupportedTool},
	} {
		t.Run(name, func(t *testing.T) {
			tree := stall(c.more)
			change := webIn(t, "spec.replicas", Set, int64(5))
			if list, err := RenderDir(t.Context(), tree, target, Limits{}); err == nil {
				for _, r := range list {
					if r.Object().Kind == "Deployment" {
						change.Git, _ = change.Path.Get(r.Content)
					}
				}
			}
			flux := Source{Name: "flux", Dir: "flux"}
			p, err := Propose(t.Context(), Request{Tree: tree, Target: target, Consumers: []Source{testStall, flux}, Changes: []Change{change}, Structure: true})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if c.class != "" {
				if v.Class != c.class {
					t.Errorf("%s: %s; want %s", v.Class, v.Why, c.class)
				}
				return
			}
			if !v.Proven || len(p.Edits) != 1 || p.Edits[0].File != c.file {
				t.Fatalf("%s: %s: %+v", v.Class, v.Why, p.Edits)
			}
			if want := strings.Replace(c.more[c.file], c.old, c.new, 1); string(p.Edits[0].Content) != want {
				t.Errorf("got\n%s\nwant\n%s", p.Edits[0].Content, want)
			}
		})
	}
}
