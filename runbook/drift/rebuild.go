package drift

import (
	"encoding/json"
	"maps"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// rebuild makes an object as it was after writes, oldest first, from what it
// is now and the requests. read tells whether all requests are known. A
// request that does not fit the object any more is left out.
//
// The audit log does not tell what kind of patch a request was. For the
// built-in kinds it is taken as a strategic merge patch, which is what kubectl
// sends by default; a list that is given as a whole comes out the same.
func rebuild(o manifest.Object, live map[string]any, writes []cluster.Write) (was map[string]any, read bool) {
	was, read = plain(live), true
	for _, w := range writes {
		if len(w.Body) == 0 {
			read = false
			continue
		}
		if next := redo(o, was, w); next != nil {
			was = next
		}
	}
	return was, read
}

// plain is a copy of an object without what the API server keeps for itself.
func plain(m map[string]any) map[string]any {
	out := maps.Clone(m)
	meta := maps.Clone(child(m, "metadata"))
	delete(meta, "managedFields")
	out["metadata"] = meta
	delete(out, "status")
	return out
}

// redo makes one write again; nil if it can't be made.
func redo(o manifest.Object, was map[string]any, w cluster.Write) map[string]any {
	var body any
	if kjson.Unmarshal(w.Body, &body) != nil {
		return nil
	}
	switch body := body.(type) {
	case []any:
		return redoOps(was, w.Body)
	case map[string]any:
		switch {
		case w.Object.Subresource == "scale":
			return merge(was, map[string]any{"spec": map[string]any{"replicas": child(body, "spec")["replicas"]}})
		case w.Object.Subresource != "":
			return nil
		case w.Verb == "patch":
			return redoPatch(o, was, body)
		case w.Verb == "update":
			return replace(was, body)
		}
	}
	return nil
}

// replace is an update: the whole object as the client had it. Of its metadata
// only what people write counts.
func replace(was, body map[string]any) map[string]any {
	out := plain(body)
	meta := maps.Clone(child(was, "metadata"))
	for _, key := range metadataFields {
		delete(meta, key)
		if v, ok := child(body, "metadata")[key]; ok {
			meta[key] = v
		}
	}
	out["metadata"] = meta
	return out
}

func redoPatch(o manifest.Object, was, body map[string]any) map[string]any {
	typed, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		return merge(was, body)
	}
	out, err := strategicpatch.StrategicMergeMapPatch(copied(was), copied(body), typed)
	if err != nil {
		return nil
	}
	return out
}

// copied is a deep copy: a patch takes apart what it is given.
func copied(m map[string]any) map[string]any {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	var out map[string]any
	if kjson.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// merge is a JSON merge patch (RFC 7386).
func merge(was, patch map[string]any) map[string]any {
	out := maps.Clone(was)
	if out == nil {
		out = map[string]any{}
	}
	for key, v := range patch {
		inner, isMap := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, key)
		case isMap:
			out[key] = merge(child(out, key), inner)
		default:
			out[key] = v
		}
	}
	return out
}

// redoOps is a JSON patch (RFC 6902). What it tested held then, and may not
// hold now.
func redoOps(was map[string]any, body []byte) map[string]any {
	ops, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil
	}
	kept := ops[:0]
	for _, op := range ops {
		if op.Kind() != "test" {
			kept = append(kept, op)
		}
	}
	raw, err := json.Marshal(was)
	if err != nil {
		return nil
	}
	if raw, err = kept.Apply(raw); err != nil {
		return nil
	}
	var out map[string]any
	if kjson.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
