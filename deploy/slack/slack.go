// Package slack carries the manifest of the Slack app, so that the binary can
// print the one that fits it.
package slack

import _ "embed"

//go:embed manifest.yaml
var manifest string

// Manifest is the manifest of the Slack app, in YAML.
func Manifest() string { return manifest }
