package writeback

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is a kind of change that people make with kubectl.
type kind struct {
	name string
	// structural changes add or take away more than one value.
	structural bool
	// change changes an object in place, if the kind fits it.
	change func(rng *rand.Rand, object map[string]any) bool
}

// mutation is a change of one object.
type mutation struct {
	kind kind
	// name is the object's, in the render.
	name string
	was  map[string]any
	live map[string]any
}

// lines bounds the lines of a file that the change may rewrite: what it takes
// away, and a few more where an image's parts stand on lines of their own.
func (m mutation) lines() int {
	if m.kind.structural || m.kind.name == "configmap value" {
		before, _ := json.MarshalIndent(m.was, "", " ")
		after, _ := json.MarshalIndent(m.live, "", " ")
		return 4 + max(0, strings.Count(string(before), "\n")-strings.Count(string(after), "\n")) + 2
	}
	return 4
}

var kinds = []kind{
	{"image", false, setImage},
	{"env add", true, addEnv},
	{"replicas", false, setReplicas},
	{"annotation add", true, addAnnotation},
	{"resources", false, setResources},
	{"env remove", true, removeEnv},
	{"env value", false, setEnv},
	{"configmap value", false, setConfig},
	{"args", true, addArg},
	{"probe", false, setProbe},
	{"key remove", true, removeKey},
	{"any scalar", false, setAny},
	{"block add", true, addBlock},
	{"any scalar", false, setAny},
	{"container add", true, addContainer},
	{"configmap key add", true, addConfig},
	{"any scalar", false, setAny},
	{"configmap key remove", true, removeConfig},
	{"hpa bounds", false, setScaler},
	{"label add", true, addLabel},
}

// mutate changes one object of a render that the kind fits.
func mutate(rng *rand.Rand, k kind, objects render) (mutation, bool) {
	names := slices.Sorted(maps.Keys(objects))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		switch objects[name]["kind"] {
		case "Secret", "SealedSecret", "CustomResourceDefinition":
			// Secrets are refused always, and nobody edits a definition.
			continue
		}
		live := clone(objects[name])
		if k.name == "replicas" && scaled(objects, live) {
			continue
		}
		if k.change(rng, live) {
			return mutation{k, name, objects[name], live}, true
		}
	}
	return mutation{}, false
}

func clone(object map[string]any) map[string]any {
	raw, _ := json.Marshal(object)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}

// scaled tells whether an autoscaler has an object's replicas.
func scaled(objects render, o map[string]any) bool {
	for _, s := range objects {
		ref, _ := dig(s, "spec", "scaleTargetRef").(map[string]any)
		meta, _ := o["metadata"].(map[string]any)
		if ref != nil && ref["name"] == meta["name"] {
			return true
		}
	}
	return false
}

func dig(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// pod is the pod specification in an object.
func pod(o map[string]any) map[string]any {
	for _, at := range [][]string{{"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
		if spec, ok := dig(o, at...).(map[string]any); ok && spec["containers"] != nil {
			return spec
		}
	}
	if spec, ok := o["spec"].(map[string]any); ok && o["kind"] == "Pod" {
		return spec
	}
	return nil
}

// container picks a container that fits.
func container(rng *rand.Rand, o map[string]any, fits func(map[string]any) bool) map[string]any {
	list, _ := pod(o)["containers"].([]any)
	var found []map[string]any
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && fits(c) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[rng.IntN(len(found))]
}

func setImage(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool { s, _ := c["image"].(string); return s != "" })
	if c == nil {
		return false
	}
	name, _, _ := strings.Cut(c["image"].(string), "@")
	if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
		name = name[:at]
	}
	switch rng.IntN(5) {
	case 0:
		c["image"] = name + "@sha256:" + strings.Repeat(fmt.Sprintf("%02x", rng.IntN(256)), 32)
	case 1:
		c["image"] = "mirror.example.test/" + name[strings.LastIndex(name, "/")+1:] + ":1." + fmt.Sprint(rng.IntN(90))
	default:
		c["image"] = name + ":1." + fmt.Sprint(10+rng.IntN(90))
	}
	return true
}

func setReplicas(rng *rand.Rand, o map[string]any) bool {
	n, ok := dig(o, "spec", "replicas").(float64)
	if !ok || pod(o) == nil {
		return false
	}
	o["spec"].(map[string]any)["replicas"] = n + float64(1+rng.IntN(5))
	return true
}

func setResources(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool {
		return dig(c, "resources", "limits", "memory") != nil || dig(c, "resources", "requests", "cpu") != nil
	})
	if c == nil {
		return false
	}
	if requests, ok := dig(c, "resources", "requests").(map[string]any); ok && requests["cpu"] != nil {
		requests["cpu"] = fmt.Sprintf("%dm", 1001+rng.IntN(900))
		return true
	}
	dig(c, "resources", "limits").(map[string]any)["memory"] = fmt.Sprintf("%dMi", 1025+rng.IntN(900))
	return true
}

// envs are the variables of a container that have a value of their own.
func envs(c map[string]any) (found []map[string]any) {
	list, _ := c["env"].([]any)
	for _, e := range list {
		if e, ok := e.(map[string]any); ok && e["value"] != nil {
			found = append(found, e)
		}
	}
	return found
}

func setEnv(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool { return len(envs(c)) > 0 })
	if c == nil {
		return false
	}
	list := envs(c)
	values := []string{"on", "1.10", "debug", "https://example.test/a?b=c#d", "706798e8", "a: b", ""}
	list[rng.IntN(len(list))]["value"] = values[rng.IntN(len(values))] + fmt.Sprint(rng.IntN(9))
	return true
}

func addEnv(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(map[string]any) bool { return true })
	if c == nil {
		return false
	}
	list, _ := c["env"].([]any)
	c["env"] = append(list, map[string]any{"name": fmt.Sprintf("ADDED_%d", rng.IntN(99)), "value": []string{"on", "x y", "12"}[rng.IntN(3)]})
	return true
}

func removeEnv(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool { list, _ := c["env"].([]any); return len(list) > 1 })
	if c == nil {
		return false
	}
	list := c["env"].([]any)
	i := rng.IntN(len(list))
	c["env"] = slices.Delete(list, i, i+1)
	return true
}

func addContainer(rng *rand.Rand, o map[string]any) bool {
	spec := pod(o)
	if spec == nil {
		return false
	}
	list, _ := spec["containers"].([]any)
	spec["containers"] = append(list, map[string]any{
		"name": fmt.Sprintf("debug-%d", rng.IntN(99)), "image": "registry.example.test/debug:1.0",
		"args": []any{"sleep", "60"}, "resources": map[string]any{"limits": map[string]any{"memory": "64Mi"}},
	})
	return true
}

func addArg(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool { list, _ := c["args"].([]any); return len(list) > 0 })
	if c == nil {
		return false
	}
	c["args"] = append(c["args"].([]any), fmt.Sprintf("--verbose=%d", rng.IntN(9)))
	return true
}

func setProbe(rng *rand.Rand, o map[string]any) bool {
	c := container(rng, o, func(c map[string]any) bool { return c["livenessProbe"] != nil || c["readinessProbe"] != nil })
	if c == nil {
		return false
	}
	for _, key := range []string{"livenessProbe", "readinessProbe"} {
		if p, ok := c[key].(map[string]any); ok {
			was, _ := p["periodSeconds"].(float64)
			p["periodSeconds"] = was + float64(7+rng.IntN(50))
			return true
		}
	}
	return false
}

func setScaler(rng *rand.Rand, o map[string]any) bool {
	spec, _ := o["spec"].(map[string]any)
	for _, key := range []string{"maxReplicas", "maxReplicaCount"} {
		if n, ok := spec[key].(float64); ok {
			spec[key] = n + float64(1+rng.IntN(9))
			return true
		}
	}
	return false
}

// annotations changes metadata.annotations or labels.
func addTo(rng *rand.Rand, o map[string]any, key string) bool {
	meta, _ := o["metadata"].(map[string]any)
	m, _ := meta[key].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	m[fmt.Sprintf("example.test/added-%d", rng.IntN(99))] = []string{"120", "true", "gold"}[rng.IntN(3)]
	meta[key] = m
	return true
}

func addAnnotation(rng *rand.Rand, o map[string]any) bool { return addTo(rng, o, "annotations") }

func addLabel(rng *rand.Rand, o map[string]any) bool { return addTo(rng, o, "labels") }

func addBlock(rng *rand.Rand, o map[string]any) bool {
	spec := pod(o)
	if spec == nil {
		return false
	}
	blocks := map[string]any{
		"nodeSelector":    map[string]any{"example.test/pool": "spare"},
		"tolerations":     []any{map[string]any{"key": "spare", "operator": "Exists"}},
		"securityContext": map[string]any{"runAsNonRoot": true},
		"hostAliases":     []any{map[string]any{"ip": "192.0.2.7", "hostnames": []any{"legacy.example.test"}}},
	}
	keys := slices.Sorted(maps.Keys(blocks))
	key := keys[rng.IntN(len(keys))]
	if spec[key] != nil {
		return false
	}
	spec[key] = blocks[key]
	return true
}

// removeKey takes a key out of a map in the specification that has more.
func removeKey(rng *rand.Rand, o map[string]any) bool {
	var found []map[string]any
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 1 {
				found = append(found, v)
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				collect(v[key])
			}
		case []any:
			for _, item := range v {
				collect(item)
			}
		}
	}
	collect(o["spec"])
	if len(found) == 0 {
		return false
	}
	m := found[rng.IntN(len(found))]
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch key {
		case "name", "containerPort", "port", "mountPath", "ip", "topologyKey", "protocol", "kind", "apiVersion", "key", "type", "image", "containers":
			// What names a list's item, or what an object can't be without.
		default:
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return false
	}
	delete(m, keys[rng.IntN(len(keys))])
	return true
}

func data(o map[string]any) (map[string]any, []string) {
	m, _ := o["data"].(map[string]any)
	if o["kind"] != "ConfigMap" || len(m) == 0 {
		return nil, nil
	}
	return m, slices.Sorted(maps.Keys(m))
}

func setConfig(rng *rand.Rand, o map[string]any) bool {
	m, keys := data(o)
	if m == nil {
		return false
	}
	key := keys[rng.IntN(len(keys))]
	text, ok := m[key].(string)
	if !ok {
		return false
	}
	lines := strings.Split(text, "\n")
	i := rng.IntN(len(lines))
	if lines[i] == "" && i > 0 {
		i--
	}
	lines[i] += fmt.Sprint("z", rng.IntN(9))
	m[key] = strings.Join(lines, "\n")
	return true
}

func addConfig(rng *rand.Rand, o map[string]any) bool {
	m, _ := data(o)
	if m == nil {
		return false
	}
	m[fmt.Sprintf("added-%d", rng.IntN(99))] = []string{"on", "1.10", "some text"}[rng.IntN(3)]
	return true
}

func removeConfig(rng *rand.Rand, o map[string]any) bool {
	m, keys := data(o)
	if len(keys) < 2 {
		return false
	}
	delete(m, keys[rng.IntN(len(keys))])
	return true
}

// setAny changes any value outside of what names the object.
func setAny(rng *rand.Rand, o map[string]any) bool {
	var put []func()
	var collect func(v any, set func(any))
	collect = func(v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				collect(v[key], func(n any) { v[key] = n })
			}
		case []any:
			for i := range v {
				if _, isText := v[i].(string); isText {
					continue // an atomic list's item, which the args are for
				}
				collect(v[i], func(n any) { v[i] = n })
			}
		case string:
			if v != "" && !strings.Contains(v, "\n") {
				put = append(put, func() { set(v + "z9") })
			}
		case float64:
			put = append(put, func() { set(v + 1) })
		case bool:
			put = append(put, func() { set(!v) })
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
		default:
			collect(o[key], func(n any) { o[key] = n })
		}
	}
	if len(put) == 0 {
		return false
	}
	put[rng.IntN(len(put))]()
	return true
}
