package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// KustomizeOptions are what an Application changes of its kustomization
// before it is built: spec.source.kustomize.
//
// Source: argo-cd v2.14.21, pkg/apis/application/v1alpha1/types.go,
// ApplicationSourceKustomize.
type KustomizeOptions struct {
	NamePrefix                string             `json:"namePrefix,omitempty"`
	NameSuffix                string             `json:"nameSuffix,omitempty"`
	Namespace                 string             `json:"namespace,omitempty"`
	Images                    []string           `json:"images,omitempty"`
	Replicas                  []KustomizeReplica `json:"replicas,omitempty"`
	CommonLabels              map[string]string  `json:"commonLabels,omitempty"`
	CommonAnnotations         map[string]string  `json:"commonAnnotations,omitempty"`
	ForceCommonLabels         bool               `json:"forceCommonLabels,omitempty"`
	ForceCommonAnnotations    bool               `json:"forceCommonAnnotations,omitempty"`
	LabelWithoutSelector      bool               `json:"labelWithoutSelector,omitempty"`
	CommonAnnotationsEnvsubst bool               `json:"commonAnnotationsEnvsubst,omitempty"`
	Patches                   []any              `json:"patches,omitempty"`
	Components                []string           `json:"components,omitempty"`
	// KubeVersion and APIVersions are for charts.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Version is the name of a kustomize program that Argo CD is configured
	// with.
	Version string `json:"version,omitempty"`
}

// KustomizeReplica is a number of replicas; Count is a number or its text.
type KustomizeReplica struct {
	Name  string `json:"name"`
	Count any    `json:"count"`
}

// isEmpty tells whether the options change nothing.
func (o *KustomizeOptions) isEmpty() bool {
	if o == nil {
		return true
	}
	text, _ := encodeJSON(o)
	return text == "{}"
}

// apply gives a kustomization as Argo CD has it after the options.
//
// Source: argo-cd v2.14.21, util/kustomize/kustomize.go, Build, which calls
// `kustomize edit`.
func (o *KustomizeOptions) apply(content []byte) ([]byte, error) {
	k := map[string]any{}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("read the kustomization: %w", err)
	}
	for key, value := range map[string]string{"namePrefix": o.NamePrefix, "nameSuffix": o.NameSuffix, "namespace": o.Namespace} {
		if value != "" {
			k[key] = value
		}
	}
	for _, text := range o.Images {
		entry, err := imageEntry(text)
		if err != nil {
			return nil, err
		}
		k["images"] = putNamed(k["images"], entry)
	}
	for _, r := range o.Replicas {
		var count json.Number
		if err := json.Unmarshal([]byte(strings.Trim(fmt.Sprint(r.Count), `"`)), &count); err != nil {
			return nil, fmt.Errorf("the replicas of %s are no number", r.Name)
		}
		k["replicas"] = putNamed(k["replicas"], map[string]any{"name": r.Name, "count": count})
	}
	if err := o.metadata(k); err != nil {
		return nil, err
	}
	k["patches"] = appended(k["patches"], o.Patches)
	for _, c := range o.Components {
		k["components"] = appended(k["components"], []any{c})
	}
	for key, value := range k {
		if list, ok := value.([]any); ok && len(list) == 0 {
			delete(k, key)
		}
	}
	return yaml.Marshal(k)
}

// metadata sets the labels and annotations.
func (o *KustomizeOptions) metadata(k map[string]any) error {
	if o.LabelWithoutSelector && len(o.CommonLabels) > 0 {
		k["labels"] = appended(k["labels"], []any{map[string]any{"pairs": o.CommonLabels}})
	} else if err := addPairs(k, "commonLabels", o.CommonLabels, o.ForceCommonLabels); err != nil {
		return err
	}
	return addPairs(k, "commonAnnotations", o.CommonAnnotations, o.ForceCommonAnnotations)
}

func addPairs(k map[string]any, key string, pairs map[string]string, force bool) error {
	if len(pairs) == 0 {
		return nil
	}
	all, _ := k[key].(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range pairs {
		if _, there := all[name]; there && !force {
			return fmt.Errorf("%s has %s already, and the Application does not force it", key, name)
		}
		all[name] = value
	}
	k[key] = all
	return nil
}

// putNamed puts an entry in the place of the one of its name.
func putNamed(list any, entry map[string]any) []any {
	all, _ := list.([]any)
	for i, have := range all {
		if have, ok := have.(map[string]any); ok && have["name"] == entry["name"] {
			for key, value := range have {
				if entry[key] == "*" {
					entry[key] = value
				}
			}
			all[i] = entry
			return all
		}
	}
	return append(slices.Clip(all), entry)
}

func appended(list any, more []any) []any {
	all, _ := list.([]any)
	return append(slices.Clip(all), more...)
}

// imageEntry reads an image of an Application: [name=]image[:tag][@digest].
//
// Source: kustomize v5, commands/edit/set/setimage.go, parse.
func imageEntry(text string) (map[string]any, error) {
	name, value, renamed := strings.Cut(text, "=")
	if !renamed {
		value = name
	}
	i := parseImage(value)
	if i.name == "" || !renamed && i.tag == "" && i.digest == "" {
		return nil, fmt.Errorf("the image %.100q has neither another name nor a tag", text)
	}
	entry := map[string]any{"name": name}
	if renamed {
		entry["newName"] = i.name
	} else {
		entry["name"] = i.name
	}
	if i.tag != "" {
		entry["newTag"] = i.tag
	}
	if i.digest != "" {
		entry["digest"] = i.digest
	}
	return entry, nil
}

// unsupported says which of the options can't be followed here; empty if all
// can.
func (o *KustomizeOptions) unsupported() string {
	text, _ := encodeJSON(map[string]any{"images": o.Images, "labels": o.CommonLabels})
	switch {
	case strings.Contains(text, "$"):
		return "variables in the images or labels of its Application"
	case o.CommonAnnotationsEnvsubst && strings.Contains(fmt.Sprint(o.CommonAnnotations), "$"):
		return "variables in the annotations of its Application"
	}
	return ""
}

// SetKustomize takes over an Application's spec.source.kustomize, decoded; nil
// if it has none. Fields that are not known make it an error: what they would
// change is not known either.
func (src *Source) SetKustomize(options any) error {
	if options == nil {
		return nil
	}
	text, ok := encodeJSON(options)
	if !ok {
		return fmt.Errorf("read the options for Kustomize: they are no JSON")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	src.Kustomize = &KustomizeOptions{}
	if err := decoder.Decode(src.Kustomize); err != nil {
		src.Kustomize = nil
		return fmt.Errorf("read the options for Kustomize: %w", err)
	}
	return nil
}
