package manifest

import (
	"bytes"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// guard refuses what must never be written, whatever a rendering shows.
func guard(c Change, structure bool) *Refusal {
	switch {
	case c.Object.Kind == "Secret" && c.Object.Group() == "":
		return refuse(Encrypted, "Change the secret where it is kept: its SealedSecret, ExternalSecret, vault or encrypted file.", "%s is a Secret: its values must not pass through here", c.Object)
	case c.Object.Kind == "SealedSecret":
		return refuse(Encrypted, "Seal the new value with kubeseal and commit that.", "%s is encrypted", c.Object)
	case isMasked(c.Live) || isMasked(c.Git):
		return refuse(Masked, "Change the value by hand, from where it is kept.", "the value of %s is masked: the mask must not be written to Git", c.Path)
	case isClusterOwn(c.Path):
		return refuse(NotForGit, "Leave it out of Git; the cluster keeps it by itself.", "%s belongs to the cluster", c.Path)
	case c.isWhole():
		return guardWhole(c, structure)
	case isIdentity(c.Path):
		return refuse(Structure, "Change the manifest by hand.", "%s names the object: with another one it would be another object", c.Path)
	case structure && (c.Op == Remove || c.Live != nil):
		return nil
	case c.Op == Remove || c.Live == nil:
		return refuse(Structure, "Take "+c.Path.String()+" out of the manifest by hand.", "fields can't be removed so far, only values changed")
	case !isScalar(c.Live):
		return refuse(Structure, "Edit "+c.Path.String()+" by hand.", "%s is a map or a list, and only single values can be changed so far", c.Path)
	}
	return nil
}

// mask matches what Argo CD and Helm show in place of secrets.
//
// Source: gitops-engine, pkg/diff/diff.go, replacement (Argo CD masks with
// plus signs, more of them for each further value); helm-controller issue 925.
var mask = regexp.MustCompile(`^(\++|\*+|\*\*\* \((before|after)\))$`)

func isMasked(v any) bool {
	s, ok := v.(string)
	return ok && len(s) >= 8 && mask.MatchString(s)
}

// isClusterOwn tells whether a field is the cluster's or a controller's
// bookkeeping, which no manifest should state.
func isClusterOwn(path Path) bool {
	if len(path) == 0 {
		return false
	}
	if path[0].Key == "status" {
		return true
	}
	last := path[len(path)-1].Key
	if last == "kubectl.kubernetes.io/restartedAt" || last == "creationTimestamp" {
		return true
	}
	if path[0].Key != "metadata" || len(path) < 2 {
		return false
	}
	switch path[1].Key {
	case "resourceVersion", "uid", "generation", "managedFields", "selfLink", "ownerReferences", "deletionTimestamp":
		return true
	}
	switch last {
	case "kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision", "argocd.argoproj.io/tracking-id":
		return true
	}
	return false
}

func isIdentity(path Path) bool {
	switch path.String() {
	case "apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.generateName":
		return true
	}
	return false
}

// scaler finds an autoscaler among rendered objects that owns the replicas of
// an object.
func scaler(list []Resource, o Object) (Object, bool) {
	for _, r := range list {
		kind, _ := r.Content["kind"].(string)
		if kind != "HorizontalPodAutoscaler" && kind != "ScaledObject" {
			continue
		}
		ref, _, _ := lookup(r.Content, Path{Key("spec"), Key("scaleTargetRef")})
		target, _ := ref.(map[string]any)
		of, _ := target["kind"].(string)
		if of == "" {
			of = "Deployment" // KEDA's default
		}
		own := r.Object()
		if target["name"] == o.Name && of == o.Kind && (own.Namespace == o.Namespace || own.Namespace == "" || o.Namespace == "") {
			return own, true
		}
	}
	return Object{}, false
}

// guardFile refuses files that people or programs keep out of reach.
func guardFile(name string, t *text, root *yaml.Node) *Refusal {
	if child(resolve(root), "sops") != nil || bytes.Contains(t.content, []byte("ENC[AES256_GCM,")) {
		return refuse(Encrypted, "Edit it with: sops "+name, "%s is encrypted with SOPS, and its checksum covers all values", name)
	}
	for line := range strings.Lines(string(t.content[:min(len(t.content), 4096)])) {
		line = strings.TrimSpace(strings.TrimPrefix(line, string(bom)))
		if line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			break
		}
		if upper := strings.ToUpper(line); strings.Contains(upper, "DO NOT EDIT") {
			return refuse(MachineWritten, "Change what the file is generated from.", "%s says of itself that it must not be edited", name)
		}
	}
	return nil
}

// imagePolicy matches the marker with which Flux's image automation finds the
// values that it owns.
//
// Source: https://fluxcd.io/flux/guides/image-update/#configure-image-update-for-custom-resources
var imagePolicy = regexp.MustCompile(`\{\s*"\$imagepolicy"\s*:\s*"([^"]+)"`)

// robot says which program will write over a value, by the comments on its
// line and the one before.
func (t *text) robot(at int) string {
	line := t.lineOf(at)
	if m := imagePolicy.FindStringSubmatch(line); m != nil {
		return "Flux's image automation owns this value (policy " + m[1] + ") and will write over it with the next image."
	}
	if start := t.lineStart(at); start > 0 {
		if before := strings.TrimSpace(t.lineOf(start - 1)); strings.HasPrefix(before, "#") && strings.Contains(before, "renovate:") {
			return "Renovate owns this value and will propose the next version over it."
		}
	}
	return ""
}
