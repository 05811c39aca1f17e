package manifest

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"
)

// vet refuses what Kustomize must not be given: what would have it reach for
// the network or another program, what leads out of the tree, and what grows
// without bound in memory. It sees each file before Kustomize does, and reads
// a kustomization with Kustomize's own types, so that the two can't disagree.
func (f *files) vet(name string, content []byte) error {
	if key := hexDigest([]byte(name + "\x00" + string(content))); !f.vetted[key] {
		if err := vetFile(name, content); err != nil {
			return err
		}
		f.vetted[key] = true
	}
	return nil
}

func vetFile(name string, content []byte) error {
	if err := vetAliases(name, content); err != nil {
		return err
	}
	if slices.Contains(kustomizationNames(), path.Base(name)) {
		return vetKustomization(name, content)
	}
	if bytes.Contains(content, []byte("builtin")) {
		return vetTexts(name, content)
	}
	return nil
}

// vetKustomization looks at every field that Kustomize takes for a path or
// an address.
func vetKustomization(name string, content []byte) error {
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		return refuse(Unreadable, "Mend the file first: Kustomize can't read it either.", "%s is no kustomization that can be read", name)
	}
	k.FixKustomization()
	if len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 {
		return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s renders a Helm chart, which can't be rendered here", name)
	}
	if len(k.OpenAPI) > 0 {
		return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s brings its own OpenAPI schema, which can't be followed here", name)
	}
	for _, text := range pathsIn(&k) {
		if err := vetPath(name, text); err != nil {
			return err
		}
	}
	for _, text := range slices.Concat(k.Generators, k.Transformers, k.Validators) {
		if strings.Contains(text, "\n") {
			if err := vetTexts(name, []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pathsIn lists what a kustomization names to be loaded.
func pathsIn(k *types.Kustomization) (list []string) {
	list = slices.Concat(k.Resources, k.Components, k.Crds, k.Configurations, k.Generators, k.Transformers, k.Validators)
	//lint:ignore SA1019 deprecated fields are in use, and Kustomize reads them
	for _, p := range k.PatchesStrategicMerge {
		list = append(list, string(p))
	}
	//lint:ignore SA1019 deprecated fields are in use, and Kustomize reads them
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) {
		list = append(list, p.Path)
	}
	for _, r := range k.Replacements {
		list = append(list, r.Path)
	}
	generators := make([]types.KvPairSources, 0, len(k.ConfigMapGenerator)+len(k.SecretGenerator))
	for _, g := range k.ConfigMapGenerator {
		generators = append(generators, g.KvPairSources)
	}
	for _, g := range k.SecretGenerator {
		generators = append(generators, g.KvPairSources)
	}
	for _, g := range generators {
		list = append(append(list, g.EnvSources...), g.EnvSource)
		for _, file := range g.FileSources {
			_, value, found := strings.Cut(file, "=")
			if !found {
				value = file
			}
			list = append(list, value)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// remote matches what Kustomize may take for an address to load from. It
// takes in more than Kustomize does.
//
// Source: kustomize api v0.17.2, internal/git/repospec.go, extractHost, and
// internal/loader/fileloader.go, IsRemoteFile.
var remote = regexp.MustCompile(`(?i)^(git::)?([a-z][a-z0-9+.-]*://|[a-z][a-z0-9-]*@|(www\.)?github\.com[/:]|https?:)`)

func vetPath(name, text string) error {
	if remote.MatchString(text) {
		return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s loads %.100q, and nothing is fetched here", name, text)
	}
	// More than one line is an inline patch or generator, and no path.
	if !strings.Contains(text, "\n") && leadsOut(path.Dir(name), text) {
		return refuse(Unreadable, "Mend the path first.", "%s names %.100q, which leads out of the repository", name, text)
	}
	return nil
}

// leadsOut tells whether a path in a file of a directory is outside of the
// tree.
func leadsOut(dir, text string) bool {
	joined := path.Join(dir, text)
	return path.IsAbs(text) || joined == ".." || strings.HasPrefix(joined, "../")
}

// vetTexts refuses any text in a file that may be an address: a plugin's
// configuration names files in fields of its own.
func vetTexts(name string, content []byte) error {
	docs, err := parseDocs(content)
	if err != nil {
		return nil // what can't be read is for Kustomize to refuse
	}
	for _, doc := range docs {
		kind, version := child(doc, "kind"), child(doc, "apiVersion")
		if version == nil || kind == nil || version.Value != "builtin" {
			continue
		}
		if scalarIs(kind, "HelmChartInflationGenerator") {
			return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s renders a Helm chart, which can't be rendered here", name)
		}
		for _, text := range textsIn(doc, nil) {
			if remote.MatchString(text) || strings.HasPrefix(text, "../") && leadsOut(path.Dir(name), text) {
				return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s may load %.100q, and nothing is fetched here", name, text)
			}
		}
	}
	return nil
}

// textsIn lists all scalars below a node. Aliases are not followed: what they
// stand for is below the node, too.
func textsIn(n *yaml.Node, list []string) []string {
	if n.Kind == yaml.ScalarNode {
		return append(list, n.Value)
	}
	for _, c := range n.Content {
		list = textsIn(c, list)
	}
	return list
}

// maxExpanded bounds the nodes that a file's aliases may become.
const maxExpanded = 500_000

// vetAliases refuses a file whose aliases would grow into more than memory
// holds: Kustomize writes each of them out.
func vetAliases(name string, content []byte) error {
	if !bytes.Contains(content, []byte("*")) || !bytes.Contains(content, []byte("&")) {
		return nil
	}
	docs, err := parseDocs(content)
	if err != nil {
		return nil // what can't be read is for Kustomize to refuse
	}
	sizes := map[*yaml.Node]int{}
	for _, doc := range docs {
		if expandedSize(doc, sizes, 0) > maxExpanded {
			return refuse(TooLarge, "Write the aliases out.", "the aliases in %s stand for more than %d values", name, maxExpanded)
		}
	}
	return nil
}

// expandedSize counts the nodes below one with all aliases written out, up to
// a little over the bound.
func expandedSize(n *yaml.Node, sizes map[*yaml.Node]int, depth int) int {
	if size, ok := sizes[n]; ok {
		return size
	}
	if depth > 1000 {
		return maxExpanded + 1
	}
	size := 1
	if n.Kind == yaml.AliasNode {
		size += expandedSize(n.Alias, sizes, depth+1)
	}
	for _, c := range n.Content {
		if size += expandedSize(c, sizes, depth+1); size > maxExpanded {
			break
		}
	}
	sizes[n] = size
	return size
}
