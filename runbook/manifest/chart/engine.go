package chart

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// one is a template that is rendered: a file of a chart.
type one struct {
	text string
	// path is where the file is kept.
	path   string
	values map[string]any
	base   string
}

// engine executes the templates of one render.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/engine/engine.go.
type engine struct {
	*render
	included map[string]int
}

// execute renders all templates, and gives their output by name.
func (e *engine) execute(all map[string]one) (map[string]string, error) {
	root := template.New("gotpl").Option("missingkey=zero")
	functions := e.budget.functions(e.options.Seed)
	maps.Copy(functions, template.FuncMap{
		enterName: e.budget.enter, leaveName: e.budget.leave, tickName: e.budget.tick,
		"include": e.include(root), "tpl": e.tpl(root),
	})
	e.functions = functions
	root.Funcs(functions)
	names := slices.SortedFunc(maps.Keys(all), deepFirst)
	for _, name := range names {
		if err := e.add(root, name, all[name].text); err != nil {
			return nil, err
		}
	}
	out := make(map[string]string, len(names))
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		one := all[name]
		one.values["Template"] = map[string]any{"Name": name, "BasePath": one.base}
		w := &writer{budget: e.budget, left: &e.budget.output}
		e.budget.depth = 0
		if err := root.ExecuteTemplate(w, name, one.values); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, e.cause(err))
		}
		out[name] = withoutNoValue(w)
	}
	return out, nil
}

// deepFirst orders templates as Helm does: those of deep subcharts first, so
// that what a parent defines wins.
func deepFirst(a, b string) int {
	if x, y := strings.Count(a, "/"), strings.Count(b, "/"); x != y {
		return y - x
	}
	return strings.Compare(b, a)
}

// withoutNoValue is a text without what text/template writes for what is not
// there.
func withoutNoValue(w *writer) string { return strings.ReplaceAll(string(w.buf), "<no value>", "") }

// cause is what broke a render: a bound, if one was reached on the way.
func (e *engine) cause(err error) error {
	if e.budget.failed != nil {
		return e.budget.failed
	}
	return err
}

// add parses a text and adds what it defines.
func (e *engine) add(t *template.Template, name, text string) error {
	found, err := e.chart.trees.parse(name, text, e.functions)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	for name, tree := range found {
		if _, err := t.AddParseTree(name, tree); err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
	}
	return nil
}

// maxSame bounds how often a template may be within itself, as Helm does.
const maxSame = 1000

func (e *engine) include(t *template.Template) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if err := e.budget.step(); err != nil {
			return "", err
		}
		if e.included[name] > maxSame {
			return "", fmt.Errorf("the template %s is within itself", name)
		}
		e.included[name]++
		w := &writer{budget: e.budget}
		err := t.ExecuteTemplate(w, name, data)
		e.included[name]--
		if err == nil {
			err = e.budget.spend(len(w.buf))
		}
		return string(w.buf), err
	}
}

func (e *engine) tpl(parent *template.Template) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
		// A text without actions need not be copied and parsed for.
		if !strings.Contains(text, "{{") {
			return strings.ReplaceAll(text, "<no value>", ""), e.budget.spend(len(text))
		}
		if _, err := e.budget.enter(); err != nil {
			return "", err
		}
		defer func() { e.budget.depth-- }()
		t, err := parent.Clone()
		if err != nil {
			return "", errors.New("a template can't be copied")
		}
		t.Option("missingkey=zero").Funcs(template.FuncMap{"include": e.include(t), "tpl": e.tpl(t)})
		// The text is a template of its own, whatever it defines.
		t = t.New(parent.Name())
		if err := e.add(t, parent.Name(), text); err != nil {
			return "", err
		}
		w := &writer{budget: e.budget}
		if err := t.Execute(w, data); err != nil {
			return "", err
		}
		out := withoutNoValue(w)
		return out, e.budget.spend(len(out))
	}
}

// templates lists the templates of a chart and its subcharts, each with the
// values that it sees.
func (r *render) templates(c *helm.Chart, all map[string]one, parent map[string]any) map[string]any {
	meta := struct {
		helm.Metadata
		IsRoot bool
	}{*c.Metadata, c.IsRoot()}
	subcharts := map[string]any{}
	next := map[string]any{
		"Chart": meta, "Files": newContents(c.Files), "Release": parent["Release"], "Capabilities": parent["Capabilities"],
		"Values": chartutil.Values{}, "Subcharts": subcharts,
	}
	if c.IsRoot() {
		next["Values"] = parent["Values"]
	} else if v, err := chartutil.Values(parent).Table("Values." + c.Name()); err == nil {
		next["Values"] = v
	}
	for _, d := range c.Dependencies() {
		subcharts[d.Name()] = r.templates(d, all, next)
	}
	id := c.ChartFullPath()
	for _, t := range c.Templates {
		if t == nil || strings.EqualFold(c.Metadata.Type, "library") && !strings.HasPrefix(path.Base(t.Name), "_") {
			continue
		}
		all[path.Join(id, t.Name)] = one{text: string(t.Data), path: r.chart.pathOf(t.Data), values: next, base: path.Join(id, "templates")}
	}
	return next
}
