package drift

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// newcomers are objects that carry the Application's mark since a moment ago:
// Argo CD's list can't be taken as whole before it has them. Only kinds that
// the Application has already are looked at; all others reach the list when
// Argo CD sees them.
func (s *Surveyor) newcomers(ctx context.Context, ref argocd.Ref, objects []argocd.Managed) (map[string]bool, error) {
	type place struct{ apiVersion, kind, namespace string }
	places := map[place]bool{}
	for _, m := range objects {
		o := objectOf(m)
		if o.Namespace != "" && !m.Hook && !isSecret(o) && o.APIVersion != "" {
			places[place{o.APIVersion, o.Kind, o.Namespace}] = true
		}
	}
	var mu sync.Mutex
	found := map[string]bool{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(abreast)
	for p := range places {
		g.Go(func() error {
			items, err := s.Live.List(ctx, p.apiVersion, p.kind, p.namespace)
			_, denied := errors.AsType[*cluster.Denied](err)
			_, none := errors.AsType[*cluster.NotFound](err)
			if denied || none {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			for _, item := range items {
				if s.young(item) && marksOf(ref, item) {
					found[identity(manifest.Object{APIVersion: p.apiVersion, Kind: p.kind, Namespace: p.namespace, Name: item.GetName()})] = true
				}
			}
			return err
		})
	}
	return found, g.Wait()
}

// marksOf tells whether an object carries the mark of an Application.
func marksOf(ref argocd.Ref, item unstructured.Unstructured) bool {
	if len(item.GetOwnerReferences()) > 0 {
		return false
	}
	tracked, _, _ := strings.Cut(item.GetAnnotations()["argocd.argoproj.io/tracking-id"], ":")
	label := item.GetLabels()["app.kubernetes.io/instance"]
	for _, name := range []string{ref.Name, ref.Namespace + "_" + ref.Name} {
		if tracked == name || label == name {
			return true
		}
	}
	return false
}

// young tells whether an object was made or written to a moment ago.
func (s *Surveyor) young(item unstructured.Unstructured) bool {
	last := item.GetCreationTimestamp().Time
	for _, m := range item.GetManagedFields() {
		if m.Time != nil && m.Time.After(last) {
			last = m.Time.Time
		}
	}
	return s.Now().Sub(last) < young+time.Second
}

// knowsAll tells whether Argo CD's list has all of these.
func knowsAll(objects []argocd.Managed, wanted map[string]bool) bool {
	left := len(wanted)
	for _, m := range objects {
		if wanted[identity(objectOf(m))] {
			left--
		}
	}
	return left <= 0
}
