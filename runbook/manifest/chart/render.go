package chart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/template"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// Options are what a render takes besides the chart.
type Options struct {
	// Values override the chart's.
	Values map[string]any
	// Release is the release's name.
	Release   string
	Namespace string
	// KubeVersion is the cluster's version, DefaultKubeVersion if it is empty;
	// APIVersions are what the cluster serves besides the built-in kinds.
	KubeVersion string
	APIVersions []string
	// SkipCRDs leaves out the chart's crds directory, SkipTests its tests,
	// SkipSchema the check of the values.
	SkipCRDs, SkipTests, SkipSchema bool
	// Seed tells random things apart: what differs between two seeds is not
	// the same in any two renders.
	Seed   int
	Limits Limits
}

// DefaultKubeVersion is the cluster's version where nobody says otherwise, as
// in Helm 3.16.
const DefaultKubeVersion = "v1.31.0"

// Manifest is one document that the chart makes.
type Manifest struct {
	// Path is where the template is kept; empty if it is in an archive.
	Path string
	// Template is its name as Helm has it, such as web/templates/app.yaml.
	Template string
	Text     string
}

// render is one render.
type render struct {
	chart     *Chart
	budget    *budget
	options   Options
	root      *helm.Chart
	values    map[string]any
	top       map[string]any
	functions template.FuncMap
}

// Render gives what the chart makes, in the order of `helm template`: CRDs,
// then objects as they are to be created, then hooks. An error may quote the
// chart and its values, and must be cut before it is shown.
func (c *Chart) Render(ctx context.Context, o Options) (list []Manifest, err error) {
	defer func() {
		if r := recover(); r != nil {
			list, err = nil, errors.New("rendering breaks off")
		}
	}()
	r := &render{chart: c, budget: newBudget(ctx, o.Limits), options: o}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	all := map[string]one{}
	r.templates(r.root, all, r.top)
	e := &engine{render: r, included: map[string]int{}}
	texts, err := e.execute(all)
	if err != nil {
		return nil, err
	}
	return r.manifests(all, texts)
}

// prepare brings the chart and its values into the state in which templates
// see them.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/action/install.go, RunWithContext.
func (r *render) prepare() (err error) {
	if r.root, err = copied(r.chart.root); err != nil {
		return err
	}
	if strings.EqualFold(r.root.Metadata.Type, "library") {
		return errors.New("it is a library chart, which makes no objects by itself")
	}
	if missing := r.chart.Missing(); len(missing) > 0 {
		return MissingError{missing}
	}
	if err := chartutil.ValidateReleaseName(r.options.Release); err != nil {
		return fmt.Errorf("the release name: %w", err)
	}
	if !r.options.SkipSchema {
		if err := vetSchemas(r.root); err != nil {
			return err
		}
	}
	given, _ := clone(r.options.Values).(map[string]any)
	if given == nil {
		given = map[string]any{}
	}
	if err := chartutil.ProcessDependenciesWithMerge(r.root, given); err != nil {
		return fmt.Errorf("take in the subcharts: %w", err)
	}
	caps, err := r.capabilities()
	if err != nil {
		return err
	}
	release := chartutil.ReleaseOptions{Name: r.options.Release, Namespace: r.options.Namespace, Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(r.root, given, release, caps, r.options.SkipSchema)
	if err != nil {
		return fmt.Errorf("check the values: %w", err)
	}
	if want := r.root.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return fmt.Errorf("the chart wants Kubernetes %s, and this is %s", want, caps.KubeVersion.String())
	}
	r.top = top
	values, _ := top["Values"].(chartutil.Values)
	r.values = values
	return nil
}

// MissingError names dependencies that are not vendored with the chart.
type MissingError struct{ Names []string }

func (m MissingError) Error() string {
	return "the chart's dependencies are not in the repository: " + strings.Join(m.Names, ", ")
}

func (r *render) capabilities() (*chartutil.Capabilities, error) {
	caps := chartutil.DefaultCapabilities.Copy()
	version := r.options.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	v, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	caps.KubeVersion = *v
	caps.APIVersions = append(caps.APIVersions[:len(caps.APIVersions):len(caps.APIVersions)], r.options.APIVersions...)
	return caps, nil
}

// manifests takes the output apart and orders it.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/action/action.go, renderResources, and
// cmd/helm/template.go.
func (r *render) manifests(all map[string]one, texts map[string]string) (list []Manifest, err error) {
	for name := range texts {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(texts, name)
		}
	}
	hooks, objects, err := r.chart.outputs.sort(texts)
	if err != nil {
		return nil, fmt.Errorf("read what the templates make: %w", err)
	}
	if !r.options.SkipCRDs {
		for _, crd := range r.root.CRDObjects() {
			list = append(list, Manifest{Path: r.chart.pathOf(crd.File.Data), Template: crd.Filename, Text: string(crd.File.Data)})
		}
	}
	for _, m := range objects {
		list = append(list, Manifest{Path: all[m.Name].path, Template: m.Name, Text: m.Content})
	}
	for _, h := range hooks {
		test := false
		for _, event := range h.Events {
			test = test || event == "test"
		}
		if !test || !r.options.SkipTests {
			list = append(list, Manifest{Path: all[h.Path].path, Template: h.Path, Text: h.Manifest})
		}
	}
	return list, nil
}
