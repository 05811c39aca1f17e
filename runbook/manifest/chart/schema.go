package chart

import (
	"encoding/json"
	"errors"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
)

// errRemoteSchema is why a chart with such a schema is not rendered.
var errRemoteSchema = errors.New("the schema of its values refers to another file or host, which is not asked here")

// vetSchemas makes sure that checking the values reads nothing: the library
// that does it follows references to files and hosts.
func vetSchemas(c *helm.Chart) error {
	if len(c.Schema) > 0 {
		var schema any
		if err := json.Unmarshal(c.Schema, &schema); err != nil {
			return errors.New("the schema of its values is no JSON")
		}
		if refersOut(schema) {
			return errRemoteSchema
		}
	}
	for _, d := range c.Dependencies() {
		if err := vetSchemas(d); err != nil {
			return err
		}
	}
	return nil
}

func refersOut(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			text, isText := item.(string)
			if strings.HasSuffix(key, "$ref") && isText && !strings.HasPrefix(text, "#") {
				return true
			}
			if key == "$schema" && isText && !strings.Contains(text, "json-schema.org/") {
				return true
			}
			if refersOut(item) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if refersOut(item) {
				return true
			}
		}
	}
	return false
}
