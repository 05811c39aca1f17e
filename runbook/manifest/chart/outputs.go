package chart

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
)

// outputs keeps what was read in the templates' output: from one render to
// the next, most of it is the same.
type outputs struct {
	mu    sync.Mutex
	known map[treeKey]sorted
}

// sorted is the output of one template, taken apart.
type sorted struct {
	hooks   []*release.Hook
	objects []releaseutil.Manifest
	err     error
}

// sort takes the output of all templates apart, in the order in which Helm
// creates objects.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/releaseutil/manifest_sorter.go and
// kind_sorter.go.
func (o *outputs) sort(texts map[string]string) (hooks []*release.Hook, objects []releaseutil.Manifest, err error) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s := o.one(name, texts[name])
		if s.err != nil {
			return nil, nil, s.err
		}
		hooks, objects = append(hooks, s.hooks...), append(objects, s.objects...)
	}
	slices.SortStableFunc(objects, func(a, b releaseutil.Manifest) int { return byKind(a.Head.Kind, b.Head.Kind) })
	slices.SortStableFunc(hooks, func(a, b *release.Hook) int { return byKind(a.Kind, b.Kind) })
	return hooks, objects, nil
}

func (o *outputs) one(name, text string) sorted {
	key := treeKey{name, text}
	o.mu.Lock()
	s, ok := o.known[key]
	o.mu.Unlock()
	if ok {
		return s
	}
	s.hooks, s.objects, s.err = releaseutil.SortManifests(map[string]string{name: text}, nil, releaseutil.InstallOrder)
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) < maxTrees {
		o.known[key] = s
	}
	return s
}

// byKind orders kinds as Helm creates them; those that it does not know come
// last, by name.
func byKind(a, b string) int {
	i, j := slices.Index(releaseutil.InstallOrder, a), slices.Index(releaseutil.InstallOrder, b)
	switch {
	case i < 0 && j < 0:
		return strings.Compare(a, b)
	case i < 0:
		return 1
	case j < 0:
		return -1
	}
	return i - j
}
