package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

const (
	// looks and between bound how long Argo CD is given to see what is in the
	// cluster: five seconds, where a tenth of one is usual.
	looks   = 25
	between = 200 * time.Millisecond
	// abreast bounds the reads that are under way at once.
	abreast = 16
	// few is up to how many objects of a kind are read one by one.
	few = 20
)

// fresh lists an Application's objects as Argo CD judges them, not older than
// this call: the live objects' versions are read first, and Argo CD's must
// have reached them. why says what stands against it, if anything does.
func (s *Surveyor) fresh(ctx context.Context, ref argocd.Ref) (objects []argocd.Managed, why string, err error) {
	var now map[string]found
	var fresh map[string]bool
	for look := range looks {
		if look > 0 {
			if err := s.Pause(ctx, between); err != nil {
				return nil, "", err
			}
		}
		if objects, err = s.Argo.Managed(ctx, ref); err != nil {
			return nil, "", err
		}
		if now == nil {
			if now, err = s.read(ctx, objects); err != nil {
				return nil, "", err
			}
			if fresh, err = s.newcomers(ctx, ref, objects); err != nil {
				return nil, "", err
			}
		}
		// What bears the mark by another's doing may never be listed: after a
		// while it is not waited for.
		if look < looks/2 && !knowsAll(objects, fresh) {
			continue
		}
		i := slices.IndexFunc(objects, func(m argocd.Managed) bool { return !reached(m, now[identity(objectOf(m))]) })
		if i < 0 {
			return objects, "", nil
		}
		why = stale(objects[i], now[identity(objectOf(objects[i]))])
	}
	return nil, why, nil
}

func stale(m argocd.Managed, in found) string {
	o := objectOf(m)
	if m.Live != nil && in.object == nil {
		return fmt.Sprintf("Argo CD has %s and the cluster has not. Does this Application deploy to another cluster than the one it is configured under?", o)
	}
	return fmt.Sprintf("Argo CD has not looked at %s since it last changed. Ask again in a moment.", o)
}

// found is what the cluster has in an object's place.
type found struct {
	// known is false where we may not read it.
	known  bool
	object map[string]any
}

// read gets the objects from the cluster: one by one where there are few of a
// kind, in a list where there are many.
func (s *Surveyor) read(ctx context.Context, objects []argocd.Managed) (map[string]found, error) {
	type place struct{ apiVersion, kind, namespace string }
	places := map[place][]manifest.Object{}
	for _, m := range objects {
		o := objectOf(m)
		if m.Hook || isSecret(o) {
			continue
		}
		if m.Live != nil {
			o.APIVersion = text(m.Live, "apiVersion")
		}
		p := place{o.APIVersion, o.Kind, o.Namespace}
		places[p] = append(places[p], o)
	}
	r := reader{live: s.Live, found: map[string]found{}}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(abreast)
	for p, objects := range places {
		if len(objects) > few {
			g.Go(func() error { return r.list(ctx, p.apiVersion, p.kind, p.namespace, objects) })
			continue
		}
		for _, o := range objects {
			g.Go(func() error { return r.get(ctx, o) })
		}
	}
	return r.found, g.Wait()
}

// reader collects what is found. It is safe for concurrent use.
type reader struct {
	live live

	mu    sync.Mutex
	found map[string]found
}

func (r *reader) put(o manifest.Object, f found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[identity(o)] = f
}

// identity names an object without its API version, which may differ between
// Git and the cluster.
func identity(o manifest.Object) string { return o.Group() + "|" + o.String() }

func (r *reader) get(ctx context.Context, o manifest.Object) error {
	obj, err := r.live.Get(ctx, cluster.ObjectRef{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	if err != nil {
		return r.absent(o, err)
	}
	r.put(o, found{known: true, object: obj.Object})
	return nil
}

func (r *reader) list(ctx context.Context, apiVersion, kind, namespace string, objects []manifest.Object) error {
	items, err := r.live.List(ctx, apiVersion, kind, namespace)
	for _, o := range objects {
		if err != nil {
			if err := r.absent(o, err); err != nil {
				return err
			}
			continue
		}
		f := found{known: true}
		for _, item := range items {
			if item.GetName() == o.Name {
				f.object = item.Object
			}
		}
		r.put(o, f)
	}
	return nil
}

// absent takes an error for what it says about the object. What may not be
// read is left to Argo CD.
func (r *reader) absent(o manifest.Object, err error) error {
	if _, denied := errors.AsType[*cluster.Denied](err); denied {
		return nil
	}
	if _, none := errors.AsType[*cluster.NotFound](err); none {
		r.put(o, found{known: true})
		return nil
	}
	return err
}

// reached tells whether Argo CD's view of an object is as new as ours.
func reached(m argocd.Managed, in found) bool {
	switch {
	case !in.known || m.Hook:
		return true
	case m.Live == nil || in.object == nil:
		return m.Live == nil && in.object == nil
	}
	theirs, ours := m.ResourceVersion, text(in.object, "metadata", "resourceVersion")
	if theirs == ours {
		return true
	}
	if text(m.Live, "metadata", "uid") != text(in.object, "metadata", "uid") {
		return false
	}
	// Versions are numbers that grow, in every API server that there is.
	a, errA := strconv.ParseUint(theirs, 10, 64)
	b, errB := strconv.ParseUint(ours, 10, 64)
	if errA == nil && errB == nil && a > b {
		return true
	}
	// A status may be written all the time and Argo CD told to ignore that.
	return len(compare(m.Live, in.object)) == 0
}
