package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Keys are the names under which a write is to be found again: its object's
// uid, where the audit log tells it, and the object's name, because a deleted
// object's uid is known to nobody who looks for it.
func (w Write) Keys() []string {
	var keys []string
	if w.Object.UID != "" {
		keys = append(keys, w.Object.UID)
	}
	if w.Object.Name != "" {
		keys = append(keys, nameKey(w.Object.APIGroup, w.Object.Resource, w.Object.Namespace, w.Object.Name))
	}
	return keys
}

// Keys are the names under which writes to an object are found.
func (r ObjectRef) Keys(uid string) []string {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return nil
	}
	// The API server's own rule for a resource's name; kinds that break it
	// are still found by uid.
	resource, _ := meta.UnsafeGuessKindToResource(gv.WithKind(r.Kind))
	keys := []string{nameKey(gv.Group, resource.Resource, r.Namespace, r.Name)}
	if uid != "" {
		keys = append(keys, uid)
	}
	return keys
}

func nameKey(parts ...string) string { return strings.Join(parts, "|") }
