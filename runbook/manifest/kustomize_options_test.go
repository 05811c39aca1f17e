package manifest

import (
	"strings"
	"testing"
)

const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
spec:
  source:
    path: prod
    kustomize:
      namePrefix: eu-
      images:
        - example.test/web=mirror.test/web:1.5 # promoted
        - example.test/proxy:3.1
      replicas:
        - name: web
          count: 4
      patches:
        - target: {kind: Deployment}
          patch: |-
            - op: add
              path: /spec/minReadySeconds
              value: 7
`

func TestApplicationOptionsAreEditedInTheApplication(t *testing.T) {
	for name, c := range map[string]struct {
		path     string
		live     any
		old, new string
	}{
		"an image that is renamed": {"spec.template.spec.containers[name=web].image", "mirror.test/web:1.6", "web:1.5", "web:1.6"},
		"an image":                 {"spec.template.spec.containers[name=proxy].image", "example.test/proxy:3.2", "proxy:3.1", "proxy:3.2"},
		"replicas":                 {"spec.replicas", int64(6), "count: 4", "count: 6"},
		"a patch":                  {"spec.minReadySeconds", int64(9), "value: 7", "value: 9"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := shop(map[string]string{"apps/shop.yaml": application, "base/kustomization.yaml": "resources:\n- web.yaml\n"})
			target := Source{Name: "shop", Dir: "prod", Namespace: "shop", Manifest: "apps/shop.yaml"}
			ch := webIn(t, c.path, Set, c.live)
			ch.Object.Name = "eu-web"
			p := ask(t, tree, target, ch, test, Source{Name: "apps", Dir: "apps"})
			v := p.Changes[0]
			if !v.Proven {
				t.Fatalf("refused: %s: %s", v.Class, v.Why)
			}
			if want := strings.Replace(application, c.old, c.new, 1); p.Edits[0].File != "apps/shop.yaml" || string(p.Edits[0].Content) != want {
				t.Errorf("%s:\n%s", p.Edits[0].File, p.Edits[0].Content)
			}
			if !strings.HasPrefix(v.Layer, "Application") {
				t.Errorf("layer %q", v.Layer)
			}
		})
	}
}

func TestApplicationOptionsThatAreNotInTheTree(t *testing.T) {
	for name, c := range map[string]struct {
		options any
		path    string
		live    any
		class   Class
	}{
		"an image that the Application sets": {map[string]any{"images": []any{"example.test/web:1.5"}}, "spec.template.spec.containers[name=web].image", "example.test/web:1.6", NotInGit},
		"replicas that it sets":              {map[string]any{"replicas": []any{map[string]any{"name": "web", "count": "4"}}}, "spec.replicas", int64(6), NotInGit},
		"another image":                      {map[string]any{"images": []any{"example.test/proxy:1.5"}}, "spec.template.spec.containers[name=web].image", "example.test/web:1.6", ""},
		"a prefix":                           {map[string]any{"namePrefix": "eu-"}, "spec.replicas", int64(6), ""},
		"labels":                             {map[string]any{"commonLabels": map[string]any{"a": "b"}}, "spec.replicas", int64(6), ""},
		"a component":                        {map[string]any{"components": []any{"../component"}}, "spec.minReadySeconds", int64(9), ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := shop(map[string]string{"component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n      path: /spec/minReadySeconds\n      value: 7\n"})
			target := prod
			if err := target.SetKustomize(c.options); err != nil {
				t.Fatal(err)
			}
			ch := webIn(t, c.path, Set, c.live)
			if target.Kustomize.NamePrefix != "" {
				ch.Object.Name = "eu-web"
			}
			v := ask(t, tree, target, ch, test).Changes[0]
			if v.Class != c.class || v.Proven != (c.class == "") {
				t.Errorf("proven %v, %s: %s", v.Proven, v.Class, v.Why)
			}
		})
	}
}

func TestApplicationOptionsThatAreNotKnown(t *testing.T) {
	var src Source
	if err := src.SetKustomize(map[string]any{"surprise": true}); err == nil {
		t.Error("an unknown option was passed over")
	}
	src = prod
	if err := src.SetKustomize(map[string]any{"images": []any{"a=b:$ARGOCD_APP_REVISION"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := RenderDir(t.Context(), shop(nil), src, Limits{}); !isRefusal(err) {
		t.Errorf("a variable was taken as it is: %v", err)
	}
}
