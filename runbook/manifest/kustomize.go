package manifest

import (
	"context"
	"path"
)

// kustomizeRenderer renders with the library that Argo CD's kustomize is
// made of.
type kustomizeRenderer struct{}

// kustomizationNames are the names of a kustomization's file, in the order in
// which Kustomize looks for them.
//
// Source: kustomize api v0.17.2, konfig/general.go.
func kustomizationNames() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// kustomizationIn is the file of a directory's kustomization; empty if it has
// none.
func (f *files) kustomizationIn(dir string) string {
	for _, name := range kustomizationNames() {
		if file := path.Join(dir, name); f.exists(file) {
			return file
		}
	}
	return ""
}

func (kustomizeRenderer) library() string { return "kustomize" }

func (kustomizeRenderer) render(ctx context.Context, f *files, src Source) ([]Resource, error) {
	return nil, refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s is a Kustomize directory, which can't be rendered here", src.Dir)
}

func (kustomizeRenderer) reads(ctx context.Context, f *files, src Source) (reach, error) {
	return reach{}, refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s is a Kustomize directory, which can't be rendered here", src.Dir)
}

func (kustomizeRenderer) suggest(ctx context.Context, q *question) (*Refusal, error) {
	return nil, nil
}
