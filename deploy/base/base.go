// Package base carries the rights that the bot is given in a cluster, so that
// the doctor asks for exactly those.
package base

import _ "embed"

//go:embed rbac.yaml
var rbac []byte

// RBAC is the ClusterRole and its binding, in YAML.
func RBAC() []byte { return rbac }
