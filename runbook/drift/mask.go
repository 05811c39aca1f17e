package drift

import (
	"regexp"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// The masks are made like Argo CD's own, which whoever writes to Git refuses:
// nothing but plus signs. They differ so that a change still shows as one.
const (
	gitMask  = "++++++++"
	liveMask = "++++++++++++"
)

var (
	masks = regexp.MustCompile(`^\+{8,}$`)
	// inside finds credentials within a longer text: an assignment to a name
	// like password, a private key, an address with a password in it.
	inside = regexp.MustCompile(`(?i)(passw(or)?d|passphrase|secret|token|api_?-?key|access_?-?key|credential)[a-z0-9_"'-]*\s*[:=]|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s@]+@`)
	// reference is the end of a field's name that says where a secret is,
	// which is no secret.
	reference = regexp.MustCompile(`(Name|Ref|Refs|Path|Secrets|File|Class)$`)
)

// hide masks both sides of a change if either may hold a credential. It
// rather masks once too often: masked values can still be undone, only not
// written to Git.
func hide(o manifest.Object, c *Change) {
	if !secretive(o, c.Path, c.Git) && !secretive(o, c.Path, c.Live) {
		return
	}
	c.Masked = true
	if c.Git != nil {
		c.Git = gitMask
	}
	if c.Live != nil {
		c.Live = liveMask
	}
}

// secretive tells whether a value may hold a credential.
func secretive(o manifest.Object, path manifest.Path, v any) bool {
	if isSecret(o) && (len(path) == 0 || path[0].Key == "data" || path[0].Key == "stringData") {
		return v != nil
	}
	return holds(nameOf(path), v)
}

func isSecret(o manifest.Object) bool {
	return o.Kind == "Secret" && o.Group() == ""
}

// nameOf is the name that a value goes by: of an environment variable its
// own, of anything else the last key.
func nameOf(path manifest.Path) string {
	name := ""
	for _, e := range path {
		switch {
		case e.Item["name"] != "":
			name = e.Item["name"]
		case e.Key != "" && e.Key != "value":
			name = e.Key
		}
	}
	return name
}

func holds(name string, v any) bool {
	switch v := v.(type) {
	case string:
		named := cluster.LooksSecret(name) && !reference.MatchString(name)
		return v != "" && (named || masks.MatchString(v) || inside.MatchString(v))
	case []any:
		for _, item := range v {
			if holds(name, item) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if key == "value" {
				key = text(v, "name")
			}
			if holds(key, item) {
				return true
			}
		}
	}
	return false
}

// whole is an object as it is shown and stored: without what only the API
// server writes, and a mask in the place of a Secret.
func whole(o manifest.Object, m map[string]any, mask string) any {
	if isSecret(o) {
		return mask
	}
	out := map[string]any{}
	for key, v := range m {
		if key != "status" && key != "metadata" {
			out[key] = v
		}
	}
	meta := map[string]any{}
	for _, key := range []string{"name", "namespace", "labels", "annotations"} {
		if v, ok := child(m, "metadata")[key]; ok {
			meta[key] = v
		}
	}
	if notes := child(meta, "annotations"); has(notes, lastApplied) {
		kept := map[string]any{}
		for key, v := range notes {
			if key != lastApplied {
				kept[key] = v
			}
		}
		meta["annotations"] = kept
	}
	out["metadata"] = meta
	return out
}

// objectOf names an object of Argo CD's. The version is the one in Git, which
// the cluster may serve as another.
func objectOf(m argocd.Managed) manifest.Object {
	o := manifest.Object{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
	for _, state := range []map[string]any{m.Target, m.Live} {
		if o.APIVersion == "" {
			o.APIVersion = text(state, "apiVersion")
		}
	}
	if o.APIVersion == "" {
		o.APIVersion = strings.TrimPrefix(m.Group+"/v1", "/")
	}
	return o
}
