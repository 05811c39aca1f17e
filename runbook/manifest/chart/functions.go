package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// functions are those that Helm gives to templates, each with the bounds of
// the render around it. Those that need the engine are added by it.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/engine/funcs.go, funcMap.
func (b *budget) functions(seed int) template.FuncMap {
	all := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "hello"} {
		delete(all, name)
	}
	maps.Copy(all, template.FuncMap{
		"toToml":        toTOML,
		"toYaml":        toYAML,
		"fromYaml":      fromYAML,
		"fromYamlArray": fromYAMLArray,
		"toJson":        toJSON,
		"fromJson":      fromJSON,
		"fromJsonArray": fromJSONArray,
		// There is no cluster to look at, as for `helm template`.
		"lookup": func(string, string, string, string) (map[string]any, error) { return map[string]any{}, nil },
		// Helm asks no name servers, unless it is told so.
		"getHostByName": func(string) string { return "" },
		"required":      required,
		"fail":          func(text string) (string, error) { return "", fmt.Errorf("the chart says: %s", text) },
		// These are built into text/template, and make texts, too.
		"print":    fmt.Sprint,
		"println":  fmt.Sprintln,
		"printf":   fmt.Sprintf,
		"html":     template.HTMLEscaper,
		"js":       template.JSEscaper,
		"urlquery": template.URLQueryEscaper,
	})
	maps.Copy(all, fixed(seed))
	all["hello"] = func() string { return "Hello!" }
	for name, f := range all {
		all[name] = b.guarded(name, f)
	}
	return all
}

// guarded is a function that stays within the budget.
func (b *budget) guarded(name string, f any) any {
	v := reflect.ValueOf(f)
	before, builds, changes := bounds[name], builders[name], mutators[name]
	return reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
		// text/template turns a panic of a function into its error, and not
		// all functions have an error to give back.
		if err := b.step(); err != nil {
			panic(err)
		}
		if before != nil {
			if n, ok := before(args); !ok || n > b.limits.Text || n < 0 {
				panic(b.fail("a text grows too large"))
			}
		}
		var out []reflect.Value
		if v.Type().IsVariadic() {
			out = v.CallSlice(args)
		} else {
			out = v.Call(args)
		}
		if changes {
			clear(b.weights)
		}
		for _, r := range out {
			if err := b.account(r, builds || changes); err != nil {
				panic(err)
			}
		}
		return out
	}).Interface()
}

// account holds a result against the budget.
func (b *budget) account(r reflect.Value, builds bool) error {
	for r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	switch r.Kind() {
	case reflect.String:
		return b.spend(r.Len())
	case reflect.Slice, reflect.Map:
		if !builds {
			return nil
		}
		if err := b.spend(16 * r.Len()); err != nil {
			return err
		}
		return b.weigh(r.Interface())
	}
	return nil
}

// builders make values out of others, so that what they make may be larger
// than what they got; mutators change one in place.
var (
	builders = set(`dict list tuple append push mustAppend mustPush prepend mustPrepend concat chunk mustChunk deepCopy mustDeepCopy
		fromYaml fromYamlArray fromJson fromJsonArray mustFromJson split splitList splitn regexFindAll mustRegexFindAll regexSplit mustRegexSplit
		until untilStep values keys pluck toStrings sortAlpha`)
	mutators = set(`set unset merge mergeOverwrite mustMerge mustMergeOverwrite`)
)

func set(names string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

// required is Helm's, which takes an empty text for missing, too.
func required(warning string, v any) (any, error) {
	if v == nil || v == "" {
		return v, fmt.Errorf("the chart says: %s", warning)
	}
	return v, nil
}

func toYAML(v any) string {
	data, err := yaml.Marshal(v)
	if err != nil {
		return "" // as Helm does
	}
	return strings.TrimSuffix(string(data), "\n")
}

func toTOML(v any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(v); err != nil {
		return err.Error()
	}
	return b.String()
}

func toJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

func fromYAML(text string) map[string]any {
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func fromYAMLArray(text string) []any {
	a := []any{}
	if err := yaml.Unmarshal([]byte(text), &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}

func fromJSON(text string) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func fromJSONArray(text string) []any {
	a := []any{}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}
