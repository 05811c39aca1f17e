package propose

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestABaseThatIsDeployedIsLeftAlone has a base that an overlay takes in and
// that an Application, or Flux, deploys as well.
func TestABaseThatIsDeployedIsLeftAlone(t *testing.T) {
	const live = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: blue}\n"
	for name, c := range map[string]struct{ deployed, file string }{
		"by nobody":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "base/web.yaml"},
		"by an Application": {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {source: {path: base}}\n", "prod/kustomization.yaml"},
		"by Flux":           {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web}\nspec: {path: ./base}\n", "prod/kustomization.yaml"},
		"by a template":     {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {path: {{ .x }}}}\n", "base/web.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string]string{
				"repo/base/kustomization.yaml": "resources: [web.yaml]\n",
				"repo/base/web.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: red}\n",
				"repo/prod/kustomization.yaml": "resources:\n- ../base\n",
				"repo/clusters/web.yaml":       c.deployed,
				"live.yaml":                    live,
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Run(t.Context(), Options{Repo: filepath.Join(dir, "repo"), Path: "prod", Live: filepath.Join(dir, "live.yaml"), Now: time.Now, Write: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != "proven" || len(r.Edits) != 1 || r.Edits[0].File != c.file {
				t.Fatalf("%s: %+v", r.Verdict, r)
			}
			if now, err := os.ReadFile(filepath.Join(dir, "repo", c.file)); err != nil || string(now) != r.Edits[0].Content {
				t.Errorf("it was not written: %v\n%s", err, now)
			}
		})
	}
}
