package manifest

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// shared is a repository with an application in apps/web and others around.
func shared() fstest.MapFS {
	return fstest.MapFS{
		"apps/web/web.yaml":                 {Data: []byte(deployment)},
		"apps/linked/web.yaml":              {Data: []byte("../web/web.yaml"), Mode: fs.ModeSymlink},
		"apps/other/other.yaml":             {Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: other}\n")},
		"overlays/prod/kustomization.yaml":  {Data: []byte("resources:\n- ../../apps/web\n")},
		"overlays/top/kustomization.yaml":   {Data: []byte("resources:\n- ../prod\n")},
		"overlays/alone/kustomization.yaml": {Data: []byte("resources:\n- ../../apps/other/other.yaml\n")},
		"charts/web/Chart.yaml":             {Data: []byte("name: web\n")},
	}
}

func TestConsumersOfAnEditedFile(t *testing.T) {
	for name, c := range map[string]struct {
		consumer    Source
		accepted    []string
		class       Class
		unbuildable bool
	}{
		"the target itself":               {consumer: Source{Name: "web", Dir: "apps/web"}},
		"another directory":               {consumer: Source{Name: "other", Dir: "apps/other"}},
		"the same directory":              {consumer: Source{Name: "eu", Dir: "apps/web"}, class: SharedSource},
		"a directory above":               {consumer: Source{Name: "all", Dir: "apps", Recurse: true}, class: SharedSource},
		"a directory above, not in depth": {consumer: Source{Name: "all", Dir: "apps"}},
		"one that leaves the file out":    {consumer: Source{Name: "all", Dir: "apps", Recurse: true, Exclude: "{web/*,linked/*}"}},
		"a link to the file":              {consumer: Source{Name: "linked", Dir: "apps/linked"}, class: SharedSource},
		"an overlay of the directory":     {consumer: Source{Name: "prod", Dir: "overlays/prod"}, class: UnsupportedTool, unbuildable: true},
		"an overlay of an overlay":        {consumer: Source{Name: "top", Dir: "overlays/top", Unsupported: "a source of type Kustomize"}, class: UnsupportedTool, unbuildable: true},
		"an accepted overlay":             {consumer: Source{Name: "prod", Dir: "overlays/prod"}, accepted: []string{"prod"}},
		"an overlay of something else":    {consumer: Source{Name: "alone", Dir: "overlays/alone"}},
		"a chart elsewhere":               {consumer: Source{Name: "chart", Dir: "charts/web"}},
		"a chart that reads it":           {consumer: Source{Name: "chart", Dir: "charts/web", Reads: []string{"apps/web/web.yaml"}}, class: UnsupportedTool, unbuildable: true},
		"a directory that is gone":        {consumer: Source{Name: "gone", Dir: "nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Propose(t.Context(), Request{
				Tree: shared(), Target: Source{Name: "web", Dir: "apps/web"}, Consumers: []Source{c.consumer}, Accepted: c.accepted,
				Changes: []Change{change(t, "spec.replicas", int64(3), int64(6))},
			})
			if err != nil {
				t.Fatal(err)
			}
			v := p.Changes[0]
			if v.Proven != (c.class == "") || v.Class != c.class || (len(p.Edits) == 1) != v.Proven {
				t.Errorf("proven %t, %s: %s; want %q", v.Proven, v.Class, v.Why, c.class)
			}
			if c.class != "" && !strings.Contains(v.Why, c.consumer.Name) {
				t.Errorf("%q does not name %s", v.Why, c.consumer.Name)
			}
			if got := len(p.Proof.Consumers.Unbuildable) > 0; got != c.unbuildable {
				t.Errorf("unbuildable: %v", p.Proof.Consumers.Unbuildable)
			}
		})
	}
}

func TestRenderDirReadsWhatArgoCDReads(t *testing.T) {
	files := fstest.MapFS{
		"d/a.yaml":          {Data: []byte("# comment only\n---\n\n---\nkind: A\napiVersion: v1\nmetadata: {name: a1}\n---\nkind: A\napiVersion: v1\nmetadata: {name: a2}\n")},
		"d/b.yml":           {Data: []byte("apiVersion: v1\nkind: List\nitems:\n- {kind: B, apiVersion: v1, metadata: {name: b1}}\n- {kind: B, apiVersion: v1, metadata: {name: b2}}\n")},
		"d/c.json":          {Data: []byte(`{"kind":"C","apiVersion":"v1","metadata":{"name":"c"}}`)},
		"d/d.txt":           {Data: []byte("kind: D")},
		"d/link.yaml":       {Data: []byte("../shared/e.yaml"), Mode: fs.ModeSymlink},
		"d/missing.yaml":    {Data: []byte("../nowhere.yaml"), Mode: fs.ModeSymlink},
		"d/none.yaml":       {Data: []byte("kind: ConfigMapList\napiVersion: v1\nitems: null\n")},
		"d/skipped.yaml":    {Data: []byte("# +argocd:skip-file-rendering\nkind: S\napiVersion: v1\nmetadata: {name: s}\n")},
		"d/sub/f.yaml":      {Data: []byte("kind: F\napiVersion: v1\nmetadata: {name: f}\n")},
		"d/values.yaml":     {Data: []byte("replicas: 3\n")},
		"shared/e.yaml":     {Data: []byte("kind: E\napiVersion: v1\nmetadata: {name: e}\n")},
		"d/sub/deep/g.yaml": {Data: []byte("kind: G\napiVersion: v1\nmetadata: {name: g}\n")},
	}
	for name, c := range map[string]struct {
		src  Source
		want string
	}{
		"flat":                   {Source{Dir: "d"}, "A/a1 A/a2 B/b1 B/b2 C/c E/e"},
		"recursive":              {Source{Dir: "./d/", Recurse: true}, "A/a1 A/a2 B/b1 B/b2 C/c E/e G/g F/f"},
		"included":               {Source{Dir: "d", Recurse: true, Include: "*.yml"}, "B/b1 B/b2"},
		"a star matches slashes": {Source{Dir: "d", Recurse: true, Include: "sub*"}, "G/g F/f"},
		"excluded":               {Source{Dir: "d", Recurse: true, Exclude: "{a.yaml,sub/*}"}, "B/b1 B/b2 C/c E/e"},
		"exclusion goes first":   {Source{Dir: "d", Include: "*.json", Exclude: "c.*"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := RenderDir(t.Context(), files, c.src, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range list {
				got = append(got, r.Object().String())
			}
			if !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
	list, err := RenderDir(t.Context(), files, Source{Dir: "d"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if list[1].File != "d/a.yaml" || list[1].Line != 9 || list[3].Line != 5 || list[5].File != "shared/e.yaml" {
		t.Errorf("origins: %+v", list)
	}
}
