package manifest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
)

// kustomizeRenderer renders with the library that kustomize is made of, in
// memory, without plugins, and without reaching for the network.
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

const kustomizeModule = "sigs.k8s.io/kustomize/api"

func (kustomizeRenderer) library() string {
	return kustomizeModule + " " + versionOf(kustomizeModule)
}

// versionOf is the version of a module that is built in.
func versionOf(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	for _, d := range info.Deps {
		if d.Path != module {
			continue
		}
		if d.Replace != nil {
			return d.Replace.Version
		}
		return d.Version
	}
	return "of unknown version"
}

func (kustomizeRenderer) render(ctx context.Context, f *files, src Source) ([]Resource, error) {
	dir, err := f.dirOf(src)
	if err != nil {
		return nil, err
	}
	options, err := f.options(src)
	if err != nil {
		return nil, err
	}
	if !options.isEmpty() {
		if why := options.unsupported(); why != "" {
			return nil, refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s has %s, which can't be followed here", src.Name, why)
		}
	}
	built, err := f.build(ctx, dir, options)
	if err != nil {
		return nil, err
	}
	list := make([]Resource, 0, len(built))
	for _, r := range built {
		object, err := decoded(r)
		if err != nil {
			return nil, refuse(Unreadable, byHand, "what %s renders can't be read", dir)
		}
		list = append(list, object)
	}
	return list, nil
}

// dirOf is a source's directory, links followed.
func (f *files) dirOf(src Source) (string, error) {
	dir, err := cleanDir(src.Dir)
	if err != nil || dir == "." {
		return dir, err
	}
	real, err := f.follow(dir)
	if err == nil && real == "" {
		return "", refuse(NotFound, "Look at the source's path.", "the directory %s is not in the repository", dir)
	}
	return real, err
}

var errSlow = errors.New("the build takes longer than it may")

// build runs Kustomize. Its panics, of which some inputs have it have some,
// are refusals.
func (f *files) build(ctx context.Context, dir string, o *KustomizeOptions) (list []*resource.Resource, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, f.limits.Build, errSlow)
	defer cancel()
	files := newKustomizeFS(bounded, f)
	if !o.isEmpty() {
		if files.first, err = f.follow(f.kustomizationIn(dir)); err != nil {
			return nil, err
		}
		files.options = o
	}
	defer func() {
		if r := recover(); r != nil {
			list, err = nil, refuse(Unreadable, "Mend the kustomization first.", "Kustomize breaks off on %s", dir)
		}
	}()
	options := krusty.MakeDefaultOptions()
	// As Flux has it, and Argo CD where it is told so. Nothing is outside of
	// the tree in any case.
	options.LoadRestrictions = types.LoadRestrictionsNone
	options.PluginConfig = types.DisabledPluginConfig()
	built, err := krusty.MakeKustomizer(options).Run(files, path.Join("/", dir))
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("build %s: %w", dir, context.Cause(ctx))
	case bounded.Err() != nil:
		return nil, refuse(TooLarge, "Edit it by hand.", "%s: %v", dir, errSlow)
	case files.refusal != nil:
		return nil, files.refusal
	case err != nil:
		if r, ok := errors.AsType[*Refusal](err); ok {
			return nil, r
		}
		return nil, refuse(Unreadable, "Mend the kustomization first: kustomize build fails on it too.", "%s can't be built: %s", dir, briefly(err))
	}
	return built.Resources(), nil
}

// briefly keeps an error of Kustomize short and free of content: it may quote
// whole files, and a secret with them.
func briefly(err error) string {
	text := err.Error()
	if strings.ContainsAny(text, "\n{}") || len(text) > 300 {
		first, _, _ := strings.Cut(text, ":")
		return fmt.Sprintf("%.100s (run kustomize build to see all)", strings.Map(printable, first))
	}
	return text
}

func printable(r rune) rune {
	if r < ' ' || strings.ContainsRune("{}'\"", r) {
		return -1
	}
	return r
}

// decoded turns an object of Kustomize into decoded JSON.
func decoded(r *resource.Resource) (Resource, error) {
	raw, err := r.MarshalJSON()
	if err != nil {
		return Resource{}, err
	}
	out := Resource{item: -1, hashed: r.NeedHashSuffix() || hashed.MatchString(r.GetName())}
	out.hashed = out.hashed && (r.GetKind() == "ConfigMap" || r.GetKind() == "Secret")
	if err := utiljson.Unmarshal(raw, &out.Content); err != nil {
		return Resource{}, err
	}
	return out, nil
}
