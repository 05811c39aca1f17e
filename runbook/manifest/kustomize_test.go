package manifest

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// shop is a repository with one base and two overlays.
func shop(more map[string]string) fstest.MapFS {
	files := map[string]string{
		"base/kustomization.yaml": "resources:\n- web.yaml\n- config.yaml\n",
		"base/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: web
          image: example.test/web:1.0
          args: ["--port", "80"]
          env:
            - name: MODE
              value: slow
            - name: LEVEL
              value: info
        - name: proxy
          image: example.test/proxy:3.0
`,
		"base/config.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  color: red\n  size: big\n",
		"prod/kustomization.yaml": "namespace: shop\nresources:\n  - ../base\n",
		"test/kustomization.yaml": "namespace: shop-test\nresources:\n- ../base\n",
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

// prod is the target, test the other overlay.
var prod, test = Source{Name: "shop", Dir: "prod", Namespace: "shop"}, Source{Name: "shop-test", Dir: "test", Namespace: "shop-test"}

func webIn(t *testing.T, path string, op Op, live any) Change {
	t.Helper()
	c := change(t, path, nil, live)
	c.Object.Namespace, c.Op = "shop", op
	return c
}

// ask proposes a change for prod, with Git's value filled in.
func ask(t *testing.T, tree fs.FS, target Source, c Change, consumers ...Source) Proposal {
	t.Helper()
	list, err := RenderDir(t.Context(), tree, target, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if o := r.Object(); o.Kind == c.Object.Kind && o.Name == c.Object.Name {
			c.Git, _ = c.Path.Get(r.Content)
		}
	}
	p, err := Propose(t.Context(), Request{Tree: tree, Target: target, Consumers: consumers, Changes: []Change{c}, Structure: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKustomizeEditsTheNearestPlace has a change made where it belongs: what
// the edit takes away and what it writes, in which file.
func TestKustomizeEditsTheNearestPlace(t *testing.T) {
	image, replicas := "spec.template.spec.containers[name=web].image", "spec.replicas"
	mode := "spec.template.spec.containers[name=web].env[name=MODE].value"
	for name, c := range map[string]struct {
		more        map[string]string
		path        string
		op          Op
		live        any
		file        string
		old, new    string
		layer       string
		exclusively bool
	}{
		"the overlay's images": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n  - ../base\nimages:\n  - name: example.test/web # ours\n    newTag: \"1.5\"\n"},
			path: image, live: "example.test/web:1.6", file: "prod/kustomization.yaml", old: `"1.5"`, new: `"1.6"`, layer: "overlay images",
		},
		"images that rename": {
			more: map[string]string{"prod/kustomization.yaml": "resources: [../base]\nnamespace: shop\nimages:\n- name: example.test/web\n  newName: mirror.test/web\n  newTag: v1\n"},
			path: image, live: "mirror.test/web:v2", file: "prod/kustomization.yaml", old: "newTag: v1", new: "newTag: v2", layer: "overlay images",
		},
		"images that become a digest": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\nimages:\n- name: example.test/web\n  newTag: v1\n  newName: mirror.test/web\n"},
			path: image, live: "mirror.test/web@sha256:" + strings.Repeat("ab", 32), file: "prod/kustomization.yaml",
			old: "  newTag: v1\n  newName: mirror.test/web\n", new: "  newName: mirror.test/web\n  digest: sha256:" + strings.Repeat("ab", 32) + "\n", layer: "overlay images",
		},
		"a new entry of images": {
			path: image, live: "example.test/web:v2", file: "prod/kustomization.yaml",
			old: "  - ../base\n", new: "  - ../base\nimages:\n  - name: example.test/web\n    newTag: v2\n", layer: "overlay images",
		},
		"the overlay's replicas": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\nreplicas:\n- name: web\n  count: 4\n"},
			path: replicas, live: int64(5), file: "prod/kustomization.yaml", old: "count: 4", new: "count: 5", layer: "overlay replicas",
		},
		"new replicas, under a prefix": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nnamePrefix: eu-\nresources:\n- ../base\n"},
			path: replicas, live: int64(5), file: "prod/kustomization.yaml",
			old: "- ../base\n", new: "- ../base\nreplicas:\n- name: web\n  count: 5\n", layer: "overlay replicas",
		},
		"a strategic merge patch in a file": {
			more: map[string]string{
				"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\npatches:\n- path: slow.yaml\n",
				"prod/slow.yaml":          "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  minReadySeconds: 7 # long\n",
			},
			path: "spec.minReadySeconds", live: int64(9), file: "prod/slow.yaml", old: "7 #", new: "9 #", layer: "overlay patch",
		},
		"more in a patch that is there": {
			more: map[string]string{
				"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\npatchesStrategicMerge:\n- slow.yaml\n",
				"prod/slow.yaml":          "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  minReadySeconds: 7\n",
			},
			path: "spec.paused", op: Add, live: true, file: "prod/slow.yaml", old: "  minReadySeconds: 7\n", new: "  minReadySeconds: 7\n  paused: true\n", layer: "overlay patch",
		},
		"an inline patch": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n      path: /spec/minReadySeconds\n      value: 7\n"},
			path: "spec.minReadySeconds", live: int64(9), file: "prod/kustomization.yaml", old: "value: 7", new: "value: 9", layer: "overlay patch",
		},
		"a new patch": {
			path: "spec.minReadySeconds", op: Add, live: int64(9), file: "prod/kustomization.yaml",
			old: "  - ../base\n", new: "  - ../base\npatches:\n  - target:\n      kind: Deployment\n      name: web\n    patch: |-\n      apiVersion: apps/v1\n      kind: Deployment\n      metadata:\n        name: web\n      spec:\n        minReadySeconds: 9\n", layer: "overlay patch",
		},
		"a new patch by position, with a test": {
			path: mode, live: "fast", file: "prod/kustomization.yaml",
			old: "  - ../base\n", new: "  - ../base\npatches:\n  - target:\n      kind: Deployment\n      name: web\n    patch: |-\n      - op: test\n        path: /spec/template/spec/containers/0/name\n        value: web\n      - op: test\n        path: /spec/template/spec/containers/0/env/0/name\n        value: MODE\n      - op: replace\n        path: /spec/template/spec/containers/0/env/0/value\n        value: fast\n", layer: "overlay patch",
		},
		"a variable less": {
			path: "spec.template.spec.containers[name=web].env[name=LEVEL]", op: Remove, file: "prod/kustomization.yaml",
			old: "  - ../base\n", new: "  - ../base\npatches:\n  - target:\n      kind: Deployment\n      name: web\n    patch: |-\n      - op: test\n        path: /spec/template/spec/containers/0/name\n        value: web\n      - op: test\n        path: /spec/template/spec/containers/0/env/1/name\n        value: LEVEL\n      - op: remove\n        path: /spec/template/spec/containers/0/env/1\n", layer: "overlay patch",
		},
		"a base of its own": {
			path: mode, live: "fast", file: "base/web.yaml", old: "value: slow", new: "value: fast", layer: "base manifest", exclusively: true,
		},
		"arguments in a base of its own": {
			path: "spec.template.spec.containers[name=web].args", live: []any{"--port", "81", "-v"}, file: "base/web.yaml", old: `"80"]`, new: `"81", "-v"]`, layer: "base manifest", exclusively: true,
		},
		"a component": {
			more: map[string]string{
				"prod/kustomization.yaml":      "namespace: shop\nresources:\n- ../base\ncomponents:\n- ../component\n",
				"component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nreplicas:\n- name: web\n  count: 4\n",
			},
			path: replicas, live: int64(5), file: "component/kustomization.yaml", old: "count: 4", new: "count: 5", layer: "component replicas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := shop(c.more)
			ch := webIn(t, c.path, cmpOp(c.op), c.live)
			if strings.Contains(string(tree["prod/kustomization.yaml"].Data), "namePrefix") {
				ch.Object.Name = "eu-web"
			}
			consumers := []Source{test}
			if c.exclusively {
				consumers = nil
			}
			p := ask(t, tree, prod, ch, consumers...)
			v := p.Changes[0]
			if !v.Proven {
				t.Fatalf("refused: %s: %s", v.Class, v.Why)
			}
			if v.Layer != c.layer || v.File != c.file || len(p.Edits) != 1 {
				t.Errorf("found in %s (%s), with %d edits", v.File, v.Layer, len(p.Edits))
			}
			want := strings.Replace(string(tree[c.file].Data), c.old, c.new, 1)
			if got := string(p.Edits[0].Content); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func cmpOp(op Op) Op {
	if op == "" {
		return Set
	}
	return op
}

// generating has the ConfigMap made by generators.
func generating(overlay string) map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources:\n- web.yaml\nconfigMapGenerator:\n- name: web\n  literals:\n  - color=red\n  files:\n  - app.ini\n  envs:\n  - app.env\n",
		"base/config.yaml":        "",
		"base/app.ini":            "[a]\nb = 1\nc = 2\n",
		"base/app.env":            "# sizes\nsize=big\nweight=7\n",
		"base/web.yaml":           "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        envFrom:\n        - configMapRef:\n            name: web\n",
		"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\n" + overlay,
	}
}

func TestKustomizeEditsWhatAConfigMapIsGeneratedFrom(t *testing.T) {
	for name, c := range map[string]struct {
		overlay, key string
		op           Op
		live         any
		consumers    []Source
		file         string
		old, new     string
	}{
		"a literal":           {key: "color", live: "yes", file: "base/kustomization.yaml", old: "color=red", new: "color=yes"},
		"a literal less":      {key: "color", op: Remove, overlay: "configMapGenerator:\n- name: web\n  behavior: merge\n  literals:\n  - hue=1\n  - tint=2\n", file: "", old: "", new: ""},
		"a line of a file":    {key: "app.ini", live: "[a]\nb = 2\nc = 2\n", file: "base/app.ini", old: "b = 1", new: "b = 2"},
		"a line of variables": {key: "size", live: "a=b", file: "base/app.env", old: "size=big", new: "size=a=b"},
		"a line less":         {key: "size", op: Remove, file: "base/app.env", old: "size=big\n", new: ""},
		"a literal more":      {key: "depth", op: Add, live: "3", file: "base/kustomization.yaml", old: "  - color=red\n", new: "  - color=red\n  - depth=3\n"},
		"the overlay's own":   {key: "hue", live: "9", consumers: []Source{test}, overlay: "configMapGenerator:\n- name: web\n  behavior: merge\n  literals:\n  - hue=1\n", file: "prod/kustomization.yaml", old: "hue=1", new: "hue=9"},
		"a shared one":        {key: "color", live: "blue", consumers: []Source{test}, file: "prod/kustomization.yaml", old: "- ../base\n", new: "- ../base\nconfigMapGenerator:\n- name: web\n  behavior: merge\n  literals:\n  - color=blue\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := shop(generating(c.overlay))
			list, err := RenderDir(t.Context(), tree, prod, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			o := list[1].Object()
			if o.Kind != "ConfigMap" || !hashed.MatchString(o.Name) {
				t.Fatalf("rendered %s", o)
			}
			p := ask(t, tree, prod, Change{Object: o, Path: Path{Key("data"), Key(c.key)}, Op: cmpOp(c.op), Live: c.live}, c.consumers...)
			v := p.Changes[0]
			if c.file == "" {
				// The only literal of a list can't be taken away alone, but
				// the overlay can drop the key.
				if !v.Proven || v.File != "prod/kustomization.yaml" || !strings.Contains(p.Edits[0].After, "color: null") && !strings.Contains(p.Edits[0].After, "op: remove") {
					t.Fatalf("%v: %s %s", v.Proven, v.Class, v.Why)
				}
				return
			}
			if !v.Proven {
				t.Fatalf("refused: %s: %s", v.Class, v.Why)
			}
			want := strings.Replace(string(tree[c.file].Data), c.old, c.new, 1)
			if p.Edits[0].File != c.file || string(p.Edits[0].Content) != want {
				t.Errorf("%s is\n%s\nwant %s\n%s", p.Edits[0].File, p.Edits[0].Content, c.file, want)
			}
			if len(p.Proof.Target.Derived) != 1 || !strings.Contains(p.Proof.Target.Derived[0], o.Name) {
				t.Errorf("derived: %v", p.Proof.Target.Derived)
			}
		})
	}
}

func TestKustomizeRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		more  map[string]string
		path  string
		live  any
		class Class
		why   string
	}{
		"a value that feeds another": {
			more: map[string]string{
				"base/kustomization.yaml": "resources:\n- web.yaml\n- config.yaml\n",
				"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\nreplacements:\n- source: {kind: ConfigMap, name: web, fieldPath: data.color}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: [spec.paint]\n    options: {create: true}\n",
			},
			path: "spec.paint", live: "blue", class: SharedSource,
		},
		"an autoscaler": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\n- hpa.yaml\n", "prod/hpa.yaml": "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {kind: Deployment, name: web}}\n"},
			path: "spec.replicas", live: int64(5), class: Autoscaled,
		},
		"a generated overlay": {
			more: map[string]string{"prod/kustomization.yaml": "# Code generated by x. DO NOT EDIT.\nnamespace: shop\nresources:\n- ../base\n"},
			path: "spec.replicas", live: int64(5), class: MachineWritten,
		},
		"a key twice": {
			more: map[string]string{"prod/kustomization.yaml": "namespace: shop\nresources:\n- ../base\nimages:\n- name: other\n  newTag: v1\nimages:\n- name: example.test/web\n  newTag: v2\n"},
			path: "spec.template.spec.containers[name=web].image", live: "example.test/web:v3", class: Ambiguous, why: "twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := ask(t, shop(c.more), prod, webIn(t, c.path, Set, c.live), test)
			v := p.Changes[0]
			if v.Proven || v.Class != c.class || !strings.Contains(v.Why, c.why) || v.Hint == "" {
				t.Errorf("proven %v, %s: %s", v.Proven, v.Class, v.Why)
			}
		})
	}
}

// TestKustomizeIsGivenNothingThatReachesOut has kustomizations that want more
// than the tree.
func TestKustomizeIsGivenNothingThatReachesOut(t *testing.T) {
	for name, c := range map[string]struct {
		kustomization string
		more          fstest.MapFS
		class         Class
	}{
		"a remote base":                 {kustomization: "resources:\n- https://example.test/x?ref=v1\n", class: UnsupportedTool},
		"a remote base, by ssh":         {kustomization: "resources:\n- git@example.test:a/b.git\n", class: UnsupportedTool},
		"a remote base, by name":        {kustomization: "resources:\n- GitHub.com/a/b\n", class: UnsupportedTool},
		"a remote base, in other case":  {kustomization: "Resources:\n- HTTPS://example.test/x\n", class: UnsupportedTool},
		"a remote base, after a break":  {kustomization: "resources:\n- \"https://example.test/x\\n\"\n", class: UnsupportedTool},
		"a remote patch":                {kustomization: "resources: [a.yaml]\npatches:\n- path: http://example.test/p\n", class: UnsupportedTool},
		"a remote base by an alias":     {kustomization: "x: &u https://example.test/x\nresources: [*u]\n", class: Unreadable},
		"a remote file of a generator":  {kustomization: "configMapGenerator:\n- name: x\n  files: [\"k=https://example.test/x\"]\n", class: UnsupportedTool},
		"a remote file of a plugin":     {kustomization: "resources: [a.yaml]\ntransformers:\n- plugin.yaml\n", more: fstest.MapFS{"d/plugin.yaml": {Data: []byte("apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: https://example.test/p\n")}}, class: UnsupportedTool},
		"a remote file, inline":         {kustomization: "resources: [a.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: https://example.test/p\n", class: UnsupportedTool},
		"a program":                     {kustomization: "resources: [a.yaml]\ntransformers:\n- plugin.yaml\n", more: fstest.MapFS{"d/plugin.yaml": {Data: []byte("apiVersion: example.test/v1\nkind: X\nmetadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: ./x}\"}}\n")}}, class: Unreadable},
		"a chart":                       {kustomization: "helmCharts:\n- name: x\n  repo: https://example.test\n", class: UnsupportedTool},
		"a chart by a generator":        {kustomization: "generators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: x}\n", class: UnsupportedTool},
		"a schema":                      {kustomization: "openapi: {path: a.yaml}\n", class: UnsupportedTool},
		"a path out of the tree":        {kustomization: "resources:\n- ../../etc\n", class: Unreadable},
		"an absolute path":              {kustomization: "resources:\n- /etc/passwd\n", class: Unreadable},
		"a file out of the tree":        {kustomization: "configMapGenerator:\n- name: x\n  files: [../../../etc/passwd]\n", class: Unreadable},
		"a link out of the tree":        {kustomization: "resources:\n- link.yaml\n", more: fstest.MapFS{"d/link.yaml": {Data: []byte("../../etc/passwd"), Mode: fs.ModeSymlink}}, class: Unreadable},
		"a cycle":                       {kustomization: "resources:\n- ../e\n", more: fstest.MapFS{"e/kustomization.yaml": {Data: []byte("resources: [../d]\n")}}, class: Unreadable},
		"itself":                        {kustomization: "resources:\n- .\n", class: Unreadable},
		"two kustomizations":            {kustomization: "resources: [a.yaml]\n", more: fstest.MapFS{"d/Kustomization": {Data: []byte("resources: [a.yaml]\n")}}, class: Unreadable},
		"a name that is no expression":  {kustomization: "resources: [a.yaml]\nimages:\n- name: \"[\"\n  newTag: x\n", class: Unreadable},
		"a bomb":                        {kustomization: "resources: [bomb.yaml]\n", more: fstest.MapFS{"d/bomb.yaml": {Data: []byte("apiVersion: v1\nkind: X\nmetadata: {name: x}\n" + bomb())}}, class: TooLarge},
		"a kustomization that is a map": {kustomization: "resources: {}\n", class: Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"d/kustomization.yaml": {Data: []byte(c.kustomization)}, "d/a.yaml": {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a:1}]}\n")}}
			maps.Copy(tree, c.more)
			_, err := RenderDir(t.Context(), tree, Source{Name: "d", Dir: "d"}, Limits{})
			if !isRefusal(err) {
				t.Fatalf("it was rendered: %v", err)
			}
			r, _ := err.(*Refusal)
			if r.Class != c.class || r.Why == "" || r.Hint == "" {
				t.Errorf("got %s: %s", r.Class, r.Why)
			}
		})
	}
}

func TestKustomizeReadsNoMoreThanTheBounds(t *testing.T) {
	// Each kustomization takes in the next one twice, by two names.
	tree := fstest.MapFS{}
	for i := range 25 {
		next := strings.Repeat("n", i+2)
		tree[strings.Repeat("n", i+1)+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources:\n- ../" + next + "\n- ../a/../" + next + "\n")}
	}
	tree[strings.Repeat("n", 26)+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte("commonLabels: {a: b}\n")}
	tree["a/x"] = &fstest.MapFile{}
	_, err := RenderDir(t.Context(), tree, Source{Name: "n", Dir: "n"}, Limits{})
	if !isRefusal(err) {
		t.Errorf("got %v", err)
	}
}

func TestABuildThatTakesTooLongIsRefused(t *testing.T) {
	_, err := RenderDir(t.Context(), shop(nil), prod, Limits{Build: 1})
	if r, ok := err.(*Refusal); !ok || r.Class != TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestRootsAreWhatNoOtherTakesIn(t *testing.T) {
	tree := shop(map[string]string{
		"component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
		"broken/kustomization.yaml":    "resources: [\n",
		"remote/kustomization.yaml":    "resources:\n- https://example.test/x\n- ../base\n",
	})
	list, err := Roots(t.Context(), tree, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, s := range list {
		dirs = append(dirs, s.Dir)
	}
	if got := strings.Join(dirs, " "); got != "broken prod remote test" {
		t.Errorf("roots: %s", got)
	}
}

// TestConsumersThatCantBeBuilt has others that read a file and can't be
// rendered: the file is left alone, or they are accepted by name.
func TestConsumersThatCantBeBuilt(t *testing.T) {
	tree := shop(map[string]string{"remote/kustomization.yaml": "resources:\n- https://example.test/x\n- ../base\n"})
	remote := Source{Name: "remote", Dir: "remote"}
	c := webIn(t, "spec.template.spec.containers[name=web].env[name=MODE].value", Set, "fast")
	p := ask(t, tree, prod, c, remote)
	if v := p.Changes[0]; !v.Proven || v.File != "prod/kustomization.yaml" {
		t.Errorf("with one that can't be built: proven %v in %s: %s", v.Proven, v.File, v.Why)
	}
	c.Git = "slow"
	p, err := Propose(t.Context(), Request{Tree: tree, Target: prod, Consumers: []Source{remote}, Accepted: []string{"remote"}, Changes: []Change{c}})
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Changes[0]; !v.Proven || v.File != "base/web.yaml" {
		t.Errorf("with one that is accepted: proven %v in %s: %s", v.Proven, v.File, v.Why)
	}
}
