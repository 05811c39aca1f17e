package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"reconcilebot/runbook/spell"
)

// decoder fills values from nodes, notes what does not fit, and goes on.
type decoder struct{ *notes }

var (
	// tokenText matches what looks like a secret itself: tokens of Slack, GitHub
	// and Jira, secrets of webhooks, signed tokens as Argo CD and Kubernetes
	// issue them, and keys.
	tokenText = regexp.MustCompile(`xox[a-z]-|xapp-|gh[pousr]_[A-Za-z0-9]{8}|whsec_|ATATT3|github_pat_|eyJ[A-Za-z0-9_-]{8,}\.|-----BEGIN`)
	// tokenKey matches keys under which people put one.
	tokenKey = regexp.MustCompile(`(?i)(token|secret|password|passwd|apikey)$`)
)

const duration = "time.Duration"

// value fills v from n. An empty value leaves what v had.
func (d decoder) value(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && tokenText.MatchString(n.Value) {
		d.add(key, "holds a secret in plain text. Take it out and replace it where it was issued, since it has been seen; then name a file with …File or an environment variable with …Env")
		return
	}
	if n.Tag == "!!null" {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), key)
	case reflect.Struct:
		if group, ok := v.Addr().Interface().(*Group); ok && n.Kind == yaml.SequenceNode {
			// The short form of a group is its list alone.
			d.items(n, reflect.ValueOf(&group.Members).Elem(), key)
			return
		}
		d.fields(n, v, key)
	case reflect.Map:
		d.entries(n, v, key)
	case reflect.Slice:
		d.items(n, v, key)
	default:
		d.scalar(n, v, key)
	}
}

// fields fills a struct from a mapping, by its yaml tags.
func (d decoder) fields(n *yaml.Node, v reflect.Value, key string) {
	known := map[string]reflect.Value{}
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag.Get("yaml"); tag != "-" {
			known[tag] = v.Field(i)
		}
	}
	d.pairs(n, key, func(name, at string, value *yaml.Node) {
		field, ok := known[name]
		switch {
		case ok:
			d.value(value, field, at)
		case tokenKey.MatchString(name):
			d.add(at, "secrets do not belong in this file; name a file with %sFile or an environment variable with %sEnv", name, name)
		default:
			names := slices.Sorted(maps.Keys(known))
			d.add(at, "unknown key%s; known here: %s", spell.Hint(name, names), strings.Join(names, ", "))
		}
	})
}

// entries fills a map from a mapping whose keys people choose.
func (d decoder) entries(n *yaml.Node, v reflect.Value, key string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, key, func(name, at string, value *yaml.Node) {
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(value, one, at)
		v.SetMapIndex(reflect.ValueOf(name), one)
	})
}

// pairs walks a mapping, noting the line of each key.
func (d decoder) pairs(n *yaml.Node, key string, each func(name, at string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.add(key, "should be keys with values, is %s", kindOf(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		name, at := n.Content[i].Value, n.Content[i].Value
		if key != "" {
			at = key + "." + name
		}
		if line, twice := d.lines[at]; twice {
			d.problems = append(d.problems, Problem{d.file, n.Content[i].Line, at, fmt.Sprintf("is there already, on line %d; keep one", line)})
			continue
		}
		d.lines[at] = n.Content[i].Line
		each(name, at, n.Content[i+1])
	}
}

// items fills a list.
func (d decoder) items(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.SequenceNode {
		d.add(key, "should be a list, is %s; write [a, b] or one item per line after a dash", kindOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", key, i)
		d.lines[at] = item.Line
		d.value(item, v.Index(i), at)
	}
}

// scalar fills a string, a number, a duration, or true and false.
func (d decoder) scalar(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.ScalarNode {
		d.add(key, "should be a single value, is %s", kindOf(n))
		return
	}
	switch {
	case v.Type().String() == duration:
		length, err := time.ParseDuration(n.Value)
		if err != nil {
			d.add(key, "%q is not a length of time; write it like 90s, 30m or 24h", n.Value)
			return
		}
		v.SetInt(int64(length))
	case v.Kind() == reflect.Int:
		number, err := strconv.Atoi(n.Value)
		if err != nil {
			d.add(key, "%q is not a whole number", n.Value)
			return
		}
		v.SetInt(int64(number))
	case v.Kind() == reflect.Bool:
		yes, err := strconv.ParseBool(n.Value)
		if err != nil {
			d.add(key, "%q is neither true nor false", n.Value)
			return
		}
		v.SetBool(yes)
	case n.Tag != "!!str":
		d.add(key, "%s would be read as %s, not as text; put it in quotes", n.Value, strings.TrimPrefix(n.Tag, "!!"))
	default:
		v.SetString(n.Value)
	}
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}
