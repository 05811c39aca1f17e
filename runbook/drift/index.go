package drift

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"reconcilebot/runbook/cluster"
)

// ByHand tells whether a write may be somebody's manual change: not a
// controller's and not a program's that has an account of its own, but a
// person's, also through Argo CD's UI, where the cluster sees argocd-server.
func ByHand(w cluster.Write) bool {
	switch {
	case w.Object.Subresource != "" && w.Object.Subresource != "scale":
		return false
	case clientOf(w) == "argocd-server":
		return w.Object.APIGroup != "argoproj.io"
	}
	return !strings.HasPrefix(w.User, "system:") && authorOf(clientOf(w)) != gitops
}

const (
	// indexed is how long a list of who owns what is taken as it is, unknown
	// how soon it is made again for an object that is not on it.
	indexed = time.Minute
	unknown = 2 * time.Second
)

// index knows which target owns which object. It is safe for concurrent use.
type index struct {
	mu     sync.Mutex
	made   time.Time
	owners map[string][]Target
}

// Owners says which targets have the object of a write among theirs, as their
// controller lists them. A child, such as a ReplicaSet, is none of them. What
// was created a moment ago may not be listed yet.
func (s *Surveyor) Owners(ctx context.Context, w cluster.Write) ([]Target, error) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	age := s.Now().Sub(s.index.made)
	found := s.index.of(w)
	if age < unknown || len(found) > 0 && age < indexed {
		return found, nil
	}
	apps, err := s.Argo.Apps(ctx)
	if err != nil {
		return found, err
	}
	owners := map[string][]Target{}
	for _, app := range apps {
		t := Target{s.Name, Application, app.Namespace, app.Name}
		refs := []cluster.ObjectRef{{APIVersion: "argoproj.io/v1alpha1", Kind: Application, Namespace: app.Namespace, Name: app.Name}}
		for _, r := range app.Resources {
			refs = append(refs, cluster.ObjectRef{APIVersion: strings.TrimPrefix(r.Group+"/"+r.Version, "/"), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
		}
		for _, ref := range refs {
			for _, key := range ref.Keys("") {
				if !slices.Contains(owners[key], t) {
					owners[key] = append(owners[key], t)
				}
			}
		}
	}
	s.index.made, s.index.owners = s.Now(), owners
	return s.index.of(w), nil
}

func (x *index) of(w cluster.Write) (found []Target) {
	for _, key := range w.Keys() {
		found = append(found, x.owners[key]...)
	}
	return found
}
