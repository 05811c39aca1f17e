package cluster

import (
	"bytes"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// Manager is one entry of an object's managed fields: which client wrote
// which fields, and when it last changed any of them.
type Manager struct {
	// Name is what the client called itself. It says with which tool, never
	// who.
	Name string
	// Operation is Apply or Update.
	Operation string
	// Subresource is the one that was written through, such as scale.
	Subresource string
	// At has whole seconds.
	At time.Time
	// Fields are the paths that it owns, with merge keys for list items.
	Fields *fieldpath.Set
}

// Managers reads an object's managed fields. Entries that can't be read are
// left out: they are evidence, and what is unreadable is none.
func Managers(obj map[string]any) []Manager {
	if obj == nil {
		return nil
	}
	var list []Manager
	u := unstructured.Unstructured{Object: obj}
	for _, entry := range u.GetManagedFields() {
		if m, ok := manager(entry); ok {
			list = append(list, m)
		}
	}
	return list
}

func manager(entry metav1.ManagedFieldsEntry) (Manager, bool) {
	m := Manager{Name: entry.Manager, Operation: string(entry.Operation), Subresource: entry.Subresource, Fields: &fieldpath.Set{}}
	if entry.Time != nil {
		m.At = entry.Time.UTC()
	}
	if entry.FieldsV1 == nil {
		return m, false
	}
	return m, m.Fields.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) == nil
}
