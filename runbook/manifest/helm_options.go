package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// HelmOptions are what an Application says of its chart: spec.source.helm.
//
// Source: argo-cd v2.14.21, pkg/apis/application/v1alpha1/types.go,
// ApplicationSourceHelm.
type HelmOptions struct {
	ReleaseName             string              `json:"releaseName,omitempty"`
	ValueFiles              []string            `json:"valueFiles,omitempty"`
	Parameters              []HelmParameter     `json:"parameters,omitempty"`
	FileParameters          []HelmFileParameter `json:"fileParameters,omitempty"`
	Values                  string              `json:"values,omitempty"`
	ValuesObject            map[string]any      `json:"valuesObject,omitempty"`
	IgnoreMissingValueFiles bool                `json:"ignoreMissingValueFiles,omitempty"`
	SkipCrds                bool                `json:"skipCrds,omitempty"`
	SkipTests               bool                `json:"skipTests,omitempty"`
	SkipSchemaValidation    bool                `json:"skipSchemaValidation,omitempty"`
	Namespace               string              `json:"namespace,omitempty"`
	KubeVersion             string              `json:"kubeVersion,omitempty"`
	APIVersions             []string            `json:"apiVersions,omitempty"`
	// Version is Helm's own, of which Argo CD knows one; PassCredentials is
	// for chart repositories.
	Version         string `json:"version,omitempty"`
	PassCredentials bool   `json:"passCredentials,omitempty"`
}

// HelmParameter is one value, as `helm --set name=value` takes it.
type HelmParameter struct {
	Name        string `json:"name,omitempty"`
	Value       string `json:"value,omitempty"`
	ForceString bool   `json:"forceString,omitempty"`
}

// HelmFileParameter is a value that is the content of a file.
type HelmFileParameter struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
}

// SetHelm takes over an Application's spec.source.helm, decoded; nil if it
// has none. Fields that are not known make it an error: what they would change
// is not known either.
func (src *Source) SetHelm(options any) error {
	if options == nil {
		return nil
	}
	text, ok := encodeJSON(options)
	if !ok {
		return fmt.Errorf("read the options for Helm: they are no JSON")
	}
	o, err := readHelm(text)
	if err != nil {
		return err
	}
	src.Helm = o
	return nil
}

func readHelm(text string) (*HelmOptions, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	o := &HelmOptions{}
	if err := decoder.Decode(o); err != nil {
		// The decoder's words may quote a value.
		return nil, fmt.Errorf("read the options for Helm: they have a field that is not known or of another type")
	}
	return o, nil
}
