package manifest

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"gopkg.in/yaml.v3"
)

// fluxRelease is what is followed of a HelmRelease's spec.
//
// Source: https://fluxcd.io/flux/components/helm/helmreleases/
type fluxRelease struct {
	ReleaseName     string `yaml:"releaseName"`
	TargetNamespace string `yaml:"targetNamespace"`
	Chart           struct {
		Spec struct {
			ValuesFiles              []string `yaml:"valuesFiles"`
			IgnoreMissingValuesFiles bool     `yaml:"ignoreMissingValuesFiles"`
		} `yaml:"spec"`
	} `yaml:"chart"`
	ValuesFrom    []fluxValues   `yaml:"valuesFrom"`
	Values        map[string]any `yaml:"values"`
	PostRenderers []any          `yaml:"postRenderers"`
	Install       struct {
		CRDs string `yaml:"crds"`
	} `yaml:"install"`
}

type fluxValues struct {
	Kind       string `yaml:"kind"`
	Name       string `yaml:"name"`
	ValuesKey  string `yaml:"valuesKey"`
	TargetPath string `yaml:"targetPath"`
	Optional   bool   `yaml:"optional"`
}

// fluxRelease reads the HelmRelease of a source, with the edits made so far.
func (f *files) fluxRelease(src Source) (rel fluxRelease, namespace string, err error) {
	_, doc, err := f.application(src)
	if err != nil {
		return rel, "", err
	}
	spec := resolve(child(doc, "spec"))
	if spec == nil || spec.Decode(&rel) != nil {
		return rel, "", refuse(Unreadable, "Mend the file first.", "the HelmRelease in %s can't be read", src.Manifest)
	}
	if len(rel.PostRenderers) > 0 {
		return rel, "", refuse(UnsupportedTool, byHand, "the HelmRelease %s changes what its chart makes by postRenderers, which can't be followed here", src.Name)
	}
	if n := resolve(child(resolve(child(doc, "metadata")), "namespace")); n != nil {
		namespace = n.Value
	}
	return rel, namespace, nil
}

// releaseOptions are a HelmRelease's options, as an Application would have
// them.
//
// Source: helm-controller v1, api/v2/helmrelease_types.go, GetReleaseName and
// GetReleaseNamespace.
func (f *files) releaseOptions(src Source) (HelmOptions, error) {
	rel, namespace, err := f.fluxRelease(src)
	if err != nil {
		return HelmOptions{}, err
	}
	o := HelmOptions{
		ReleaseName: firstOf(rel.ReleaseName, src.appName()), Namespace: firstOf(rel.TargetNamespace, namespace),
		IgnoreMissingValueFiles: rel.Chart.Spec.IgnoreMissingValuesFiles, SkipCrds: rel.Install.CRDs == "Skip",
	}
	if rel.ReleaseName == "" && rel.TargetNamespace != "" {
		o.ReleaseName = rel.TargetNamespace + "-" + src.appName()
	}
	for _, file := range rel.Chart.Spec.ValuesFiles {
		o.ValueFiles = append(o.ValueFiles, "/"+file)
	}
	var values any = rel.Values
	if err := remarshal(values, &o.ValuesObject); err != nil {
		return HelmOptions{}, refuse(Unreadable, "Mend the file first.", "the values in %s can't be read", src.Manifest)
	}
	return o, nil
}

// valuesFrom finds the values that a HelmRelease takes from ConfigMaps: those
// that are beside it, as manifests or as files that become one.
func (f *files) valuesFrom(src Source) (list []valueLayer, err error) {
	rel, _, err := f.fluxRelease(src)
	if err != nil {
		return nil, err
	}
	for _, from := range rel.ValuesFrom {
		if from.Kind != "ConfigMap" {
			return list, refuse(NotInGit, "Change the values where they are kept.", "the HelmRelease %s takes values from the %s %s, which is not read", src.Name, from.Kind, from.Name)
		}
		if from.TargetPath != "" {
			return list, refuse(UnsupportedTool, byHand, "the HelmRelease %s takes the one value %s from the ConfigMap %s, which can't be followed here", src.Name, from.TargetPath, from.Name)
		}
		l, found, err := f.configValues(path.Dir(src.Manifest), from.Name, firstOf(from.ValuesKey, "values.yaml"))
		switch {
		case err != nil:
			return list, err
		case found:
			list = append(list, l)
		case !from.Optional:
			return list, refuse(NotInGit, "Change the values where they are kept.", "the ConfigMap %s, from which the HelmRelease %s takes values, is not beside it in the repository", from.Name, src.Name)
		}
	}
	return list, nil
}

// configValues finds a ConfigMap's values in a directory or one above it.
func (f *files) configValues(dir, name, key string) (l valueLayer, found bool, err error) {
	for {
		entries, err := f.entries(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l, false, err
		}
		for _, e := range entries {
			if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" && e.Name() != "Kustomization" {
				continue
			}
			if l, found, err = f.configIn(path.Join(dir, e.Name()), name, key); found || err != nil {
				return l, found, err
			}
		}
		if dir == "." {
			return l, false, nil
		}
		dir = path.Dir(dir)
	}
}

// configIn looks for a ConfigMap, or what generates it, in one file.
func (f *files) configIn(file, name, key string) (l valueLayer, found bool, err error) {
	t, err := f.parsed(file)
	if err != nil || t.err != nil {
		return l, false, nil // it is no manifest
	}
	for _, doc := range t.docs {
		if slices.Contains(kustomizationNames(), path.Base(file)) {
			if l, found, err = f.generatedValues(file, doc, name, key); found || err != nil {
				return l, found, err
			}
		}
		l = valueLayer{file: file, kind: configText, config: name, key: key}
		d, found, err := f.configText(l)
		if err != nil || !found {
			continue
		}
		if l.values, err = readValues([]byte(d.node.Value)); err != nil {
			return l, false, refuse(Unreadable, "Mend the file first.", "the values in %s can't be read", file)
		}
		return l, true, nil
	}
	return l, false, nil
}

// generatedValues finds the file of which a generator makes the values.
func (f *files) generatedValues(file string, doc *yaml.Node, name, key string) (l valueLayer, found bool, err error) {
	for _, g := range contentOf(child(doc, "configMapGenerator")) {
		g = resolve(g)
		if !scalarIs(child(g, "name"), name) {
			continue
		}
		for _, item := range contentOf(child(g, "files")) {
			as, from := splitFile(resolve(item).Value)
			if as != key {
				continue
			}
			at := path.Join(path.Dir(file), from)
			if !fs.ValidPath(at) {
				continue
			}
			content, err := f.read(at)
			if err != nil {
				return l, false, refuse(NotFound, "Look at the generator.", "%s names the file %s, which can't be read", file, at)
			}
			values, err := readValues(content)
			if err != nil {
				return l, false, refuse(Unreadable, "Mend the file first.", "the values in %s can't be read", at)
			}
			return valueLayer{file: at, kind: valuesFile, values: values}, true, nil
		}
	}
	return l, false, nil
}

// splitFile reads a generator's file: [key=]path.
func splitFile(text string) (key, file string) {
	for i := range text {
		if text[i] == '=' {
			return text[:i], text[i+1:]
		}
	}
	return path.Base(text), text
}

// configText finds the text in a ConfigMap that holds values.
func (f *files) configText(l valueLayer) (d document, found bool, err error) {
	t, err := f.parsed(l.file)
	if err != nil || t.err != nil {
		return d, false, err
	}
	for _, doc := range t.docs {
		if !scalarIs(child(doc, "kind"), "ConfigMap") || !scalarIs(child(resolve(child(doc, "metadata")), "name"), l.config) {
			continue
		}
		n := resolve(child(resolve(child(doc, "data")), l.key))
		if n == nil || n.Kind != yaml.ScalarNode {
			continue
		}
		d = document{file: l.file, outer: t, node: n, t: parseText([]byte(n.Value))}
		if len(d.t.docs) > 0 {
			d.root = d.t.docs[0]
		}
		return d, true, nil
	}
	return d, false, nil
}
