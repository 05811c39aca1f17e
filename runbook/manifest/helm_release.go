package manifest

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"
	"helm.sh/helm/v3/pkg/strvals"
	sigsyaml "sigs.k8s.io/yaml"

	"reconcilebot/runbook/manifest/chart"
)

// release is everything that one render of a chart takes.
type release struct {
	dir     string
	chart   *chart.Chart
	options HelmOptions
	// layers are the values that override the chart's, the weakest first.
	layers []valueLayer
	render chart.Options
}

// valueLayer is one source of values.
type valueLayer struct {
	// file holds the values; empty if they are not in the tree.
	file string
	// values are what it says.
	values map[string]any
	// kind is what it is.
	kind layerKind
	// config is the ConfigMap in the file that holds the values as a text, and
	// key where.
	config, key string
	// parameter is its place among the Application's parameters.
	parameter int
	// prefix are the keys below which its values count: those of a subchart.
	prefix []string
}

// layerKind tells sources of values apart.
type layerKind int

const (
	chartDefaults layerKind = iota
	valuesFile
	configText
	inlineValues
	inlineObject
	parameterValue
	fileParameter
)

// said is what people call a source of values.
func (l valueLayer) said() string {
	switch l.kind {
	case chartDefaults:
		if len(l.prefix) > 0 {
			return "default of a subchart"
		}
		return "default of the chart"
	case valuesFile:
		return "values file"
	case configText:
		return "values in a ConfigMap"
	case parameterValue, fileParameter:
		return "Helm parameter"
	}
	return "values of the Application"
}

// maxLayers bounds values files and parameters.
const maxLayers = 1000

// release reads what one render of a chart takes, with the edits made so far.
func (f *files) release(src Source) (*release, error) {
	dir, err := f.dirOf(src)
	if err != nil {
		return nil, err
	}
	r := &release{dir: dir}
	if r.options, err = f.helmOptions(src, dir); err != nil {
		return nil, err
	}
	if r.chart, err = f.chartIn(dir); err != nil {
		return nil, err
	}
	if len(r.options.ValueFiles)+len(r.options.Parameters)+len(r.options.FileParameters) > maxLayers {
		return nil, refuse(TooLarge, byHand, "%s has more than %d values files and parameters", src.Name, maxLayers)
	}
	if err := f.readLayers(src, r); err != nil {
		return nil, err
	}
	o := r.options
	r.render = chart.Options{
		Values: r.merged(), Release: firstOf(o.ReleaseName, src.appName()), Namespace: firstOf(o.Namespace, src.Namespace, "default"),
		KubeVersion: firstOf(o.KubeVersion, src.KubeVersion), APIVersions: o.APIVersions,
		SkipCRDs: o.SkipCrds, SkipTests: o.SkipTests, SkipSchema: o.SkipSchemaValidation,
		Limits: chart.Limits{Time: f.limits.Build},
	}
	if len(o.APIVersions) == 0 {
		r.render.APIVersions = src.APIVersions
	}
	return r, nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// appName is the Application's name.
func (src Source) appName() string { return firstOf(src.App, path.Base(src.Name)) }

// helmOptions are the Application's options for Helm: as its manifest in the
// tree has them with the edits made so far, if it is there, and with what
// files beside the chart change of them.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go,
// mergeSourceParameters.
func (f *files) helmOptions(src Source, dir string) (HelmOptions, error) {
	o := src.Helm
	if src.Release {
		return f.releaseOptions(src)
	}
	if src.Manifest != "" {
		_, n, err := f.helmNode(src)
		if err != nil {
			return HelmOptions{}, err
		}
		o = nil
		if n != nil {
			var decoded any
			if n.Decode(&decoded) != nil {
				return HelmOptions{}, refuse(Unreadable, "Mend the file first.", "the options in %s can't be read", src.Manifest)
			}
			with := Source{}
			if err := with.SetHelm(decoded); err != nil {
				return HelmOptions{}, refuse(Unreadable, "Mend the file first.", "the options in %s can't be read", src.Manifest)
			}
			o = with.Helm
		}
	}
	if o == nil {
		o = &HelmOptions{}
	}
	text, _ := encodeJSON(map[string]any{"helm": o})
	for _, name := range overrideFiles(src, dir) {
		if !f.exists(name) {
			continue
		}
		content, err := f.read(name)
		if err != nil {
			return HelmOptions{}, err
		}
		patch, err := sigsyaml.YAMLToJSON(content)
		if err != nil {
			return HelmOptions{}, refuse(Unreadable, "Mend the file first.", "%s can't be read", name)
		}
		merged, err := jsonpatch.MergePatch([]byte(text), patch)
		if err != nil {
			return HelmOptions{}, refuse(Unreadable, "Mend the file first.", "%s can't be read", name)
		}
		text = string(merged)
	}
	var whole struct {
		Helm any `json:"helm"`
	}
	if err := sigsyaml.Unmarshal([]byte(text), &whole); err != nil {
		return HelmOptions{}, refuse(Unreadable, byHand, "the options of %s can't be read", src.Name)
	}
	last := Source{}
	if err := last.SetHelm(whole.Helm); err != nil || last.Helm == nil {
		return HelmOptions{}, refuse(Unreadable, byHand, "the options of %s can't be read", src.Name)
	}
	return *last.Helm, nil
}

// overrideFiles change an Application's options from within the repository,
// the stronger one last.
//
// Source: https://argo-cd.readthedocs.io/en/stable/user-guide/parameters/#store-overrides-in-git
func overrideFiles(src Source, dir string) []string {
	return []string{path.Join(dir, ".argocd-source.yaml"), path.Join(dir, ".argocd-source-"+src.appName()+".yaml")}
}

// readLayers reads all values that override the chart's.
func (f *files) readLayers(src Source, r *release) error {
	o := r.options
	for _, name := range o.ValueFiles {
		file, err := f.valueFile(src, r.dir, name)
		if err != nil {
			return err
		}
		if file == "" {
			if o.IgnoreMissingValueFiles {
				continue
			}
			return refuse(NotFound, "Look at the values files of the Application.", "the values file %s is not in the repository", name)
		}
		content, err := f.read(file)
		if err != nil {
			return err
		}
		values, err := readValues(content)
		if err != nil {
			return refuse(Unreadable, "Mend the file first: Helm can't read it either.", "the values file %s can't be read", file)
		}
		r.layers = append(r.layers, valueLayer{file: file, kind: valuesFile, values: values})
	}
	if src.Release {
		from, err := f.valuesFrom(src)
		if err != nil {
			return err
		}
		r.layers = append(r.layers, from...)
	}
	inline := valueLayer{file: src.Manifest, kind: inlineValues}
	switch {
	case len(o.ValuesObject) > 0:
		inline.kind, inline.values = inlineObject, o.ValuesObject
	case o.Values != "":
		var err error
		if inline.values, err = readValues([]byte(o.Values)); err != nil {
			return refuse(Unreadable, "Mend the Application first: Helm can't read it either.", "the values of the Application %s can't be read", src.Name)
		}
	}
	if inline.values != nil {
		r.layers = append(r.layers, inline)
	}
	return f.readParameters(src, r)
}

// readParameters reads what `helm --set` sets, and in the order in which it
// does: those that are no strings first, then strings, then files.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/cli/values/options.go, MergeValues;
// argo-cd v2.14.21, util/helm/cmd.go, template.
func (f *files) readParameters(src Source, r *release) error {
	for _, forced := range []bool{false, true} {
		for i, p := range r.options.Parameters {
			if p.ForceString != forced {
				continue
			}
			values := map[string]any{}
			value, err := src.substitute(p.Value)
			if err != nil {
				return err
			}
			text := p.Name + "=" + escapeCommas(value)
			if forced {
				err = strvals.ParseIntoString(text, values)
			} else {
				err = strvals.ParseInto(text, values)
			}
			if err != nil {
				return refuse(Unreadable, "Mend the Application first.", "the parameter %.100s of %s can't be read", p.Name, src.Name)
			}
			r.layers = append(r.layers, valueLayer{file: src.Manifest, kind: parameterValue, parameter: i, values: values})
		}
	}
	for i, p := range r.options.FileParameters {
		file, err := f.valueFile(src, r.dir, p.Path)
		if err != nil {
			return err
		}
		if file == "" {
			return refuse(NotFound, "Look at the file parameters of the Application.", "the file %s is not in the repository", p.Path)
		}
		content, err := f.read(file)
		if err != nil {
			return err
		}
		values := map[string]any{}
		read := func([]rune) (any, error) { return string(content), nil }
		if err := strvals.ParseIntoFile(p.Name+"=file", values, read); err != nil {
			return refuse(Unreadable, "Mend the Application first.", "the file parameter %.100s of %s can't be read", p.Name, src.Name)
		}
		r.layers = append(r.layers, valueLayer{file: file, kind: fileParameter, parameter: i, values: values})
	}
	return nil
}

// escapeCommas writes a parameter's value as Argo CD hands it to Helm.
//
// Source: argo-cd v2.14.21, util/helm/cmd.go, cleanSetParameters.
func escapeCommas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	var before rune
	for _, c := range value {
		if c == ',' && before != '\\' {
			out.WriteByte('\\')
		}
		out.WriteRune(c)
		before = c
	}
	return out.String()
}

// merged are all values that override the chart's.
func (r *release) merged() map[string]any {
	out := map[string]any{}
	o := r.options
	for _, l := range r.layers {
		switch l.kind {
		case parameterValue:
			p := o.Parameters[l.parameter]
			out = setParameter(out, l, p)
		case fileParameter:
			text, _ := leafOf(l.values)
			// It was read once already.
			_ = strvals.ParseIntoFile(o.FileParameters[l.parameter].Name+"=file", out, func([]rune) (any, error) { return text, nil })
		default:
			out = mergeValues(out, l.values)
		}
	}
	return out
}

// setParameter sets a parameter as Helm does: an item of a list is set alone.
func setParameter(out map[string]any, l valueLayer, p HelmParameter) map[string]any {
	value := escapeCommas(p.Value)
	if p.ForceString {
		_ = strvals.ParseIntoString(p.Name+"="+value, out)
	} else {
		_ = strvals.ParseInto(p.Name+"="+value, out)
	}
	return out
}

// leafOf is the one text that a parameter's values hold.
func leafOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case map[string]any:
		for _, item := range v {
			if text, ok := leafOf(item); ok {
				return text, true
			}
		}
	case []any:
		for _, item := range v {
			if text, ok := leafOf(item); ok {
				return text, true
			}
		}
	}
	return "", false
}

// mergeValues lays values over others as `helm --values` does.
func mergeValues(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	for key, v := range a {
		out[key] = clone(v)
	}
	for key, v := range b {
		from, isMap := v.(map[string]any)
		to, wasMap := out[key].(map[string]any)
		if isMap && wasMap {
			out[key] = mergeValues(to, from)
			continue
		}
		out[key] = clone(v)
	}
	return out
}

// readValues reads a values file.
func readValues(content []byte) (values map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the parser gave up")
		}
	}()
	err = sigsyaml.Unmarshal(content, &values)
	return values, err
}

// scheme matches what is a URL and no path.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// valueFile finds a values file as Argo CD does, links followed; empty if it
// is not there.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go,
// getResolvedValueFiles; util/io/path/resolved.go.
func (f *files) valueFile(src Source, dir, name string) (string, error) {
	from := dir
	if ref, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") {
		if why, known := src.Refs[ref[1:]]; known {
			if why != "" {
				return "", refuse(NotInGit, "Change the values where they are kept.", "the values file %s is in %s", name, why)
			}
			from, name = ".", rest
		}
	}
	name, err := src.substitute(name)
	if err != nil {
		return "", err
	}
	if scheme.MatchString(name) {
		return "", refuse(UnsupportedTool, "Keep the values in the repository, or edit them by hand.", "the values file %.100s is on another host, which is not asked", name)
	}
	if path.IsAbs(name) {
		from, name = ".", strings.TrimLeft(name, "/")
	}
	name = path.Join(from, name)
	if !fs.ValidPath(name) || name == "." {
		return "", refuse(Unreadable, "Look at the values files of the Application.", "the values file %s is outside of the repository", name)
	}
	if f.edited[name] != nil {
		return name, nil
	}
	real, err := f.follow(name)
	if err != nil || real == "" {
		return "", err
	}
	st, err := f.stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case st.IsDir():
		return "", refuse(Unreadable, "Look at the values files of the Application.", "the values file %s is a directory", name)
	}
	return real, nil
}

// variable matches a variable of Argo CD's build environment.
var variable = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// substitute puts in what Argo CD knows of the Application.
//
// Source: https://argo-cd.readthedocs.io/en/stable/user-guide/build-environment/
func (src Source) substitute(text string) (out string, err error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	out = variable.ReplaceAllStringFunc(text, func(v string) string {
		switch name := strings.Trim(v, "${}"); name {
		case "ARGOCD_APP_NAME":
			return src.appName()
		case "ARGOCD_APP_NAMESPACE":
			if src.Namespace != "" {
				return src.Namespace
			}
		case "ARGOCD_APP_SOURCE_PATH":
			return src.Dir
		}
		err = refuse(UnsupportedTool, byHand, "%s uses the variable %s, whose value is not known here", src.Name, v)
		return v
	})
	return out, err
}
