package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
)

// Lister lists a cluster's targets.
type Lister interface {
	Targets(context.Context) ([]drift.TargetInfo, error)
}

// targets finds what people name. It is safe for concurrent use.
type targets struct {
	clusters map[string]Lister
	// mu guards last, the last list that each cluster gave: while its
	// controller can't be reached, its targets still have their names.
	mu   sync.Mutex
	last map[string][]drift.TargetInfo
}

func newTargets(clusters map[string]Lister) *targets {
	return &targets{clusters: clusters, last: map[string][]drift.TargetInfo{}}
}

// onTarget is a target as it was listed.
type onTarget struct{ drift.TargetInfo }

// all lists the targets of all clusters, ordered by name. A cluster that does
// not answer is listed as it was last; down names the ones of which nothing
// is known.
func (t *targets) all(ctx context.Context) (list []drift.TargetInfo, down []string) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("the clusters take too long to list their targets"))
	defer cancel()
	var wg sync.WaitGroup
	for name, cluster := range t.clusters {
		wg.Go(func() {
			fresh, err := cluster.Targets(ctx)
			t.mu.Lock()
			defer t.mu.Unlock()
			if err == nil {
				t.last[name] = fresh
			}
		})
	}
	wg.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.clusters {
		known, ok := t.last[name]
		if !ok {
			down = append(down, name)
		}
		list = append(list, known...)
	}
	slices.Sort(down)
	slices.SortFunc(list, func(a, b drift.TargetInfo) int { return strings.Compare(a.Target.String(), b.Target.String()) })
	return list, down
}

// find resolves a name to one target. Others are suggested only as far as
// they may be seen: a misspelt name is no way to read the list of them.
func (t *targets) find(ctx context.Context, name string, seen func(drift.TargetInfo) bool) (onTarget, error) {
	if i := strings.IndexFunc(name, func(r rune) bool { return invisible(r) || unicode.IsSpace(r) }); i >= 0 {
		return onTarget{}, fault.New(fault.Invalid, "That name holds a character that can't be seen. Type it by hand instead of pasting it.")
	}
	list, down := t.all(ctx)
	plain := make([]drift.Target, len(list))
	for i, info := range list {
		plain[i] = info.Target
	}
	found, err := drift.Resolve(name, plain)
	if err != nil {
		return onTarget{}, unresolved(discreet(err, list, seen), down)
	}
	i := slices.IndexFunc(list, func(info drift.TargetInfo) bool { return info.Target == found })
	return onTarget{list[i]}, nil
}

// discreet leaves out of a suggestion what may not be seen.
func discreet(err error, list []drift.TargetInfo, seen func(drift.TargetInfo) bool) error {
	u, ok := errors.AsType[*drift.Unresolved](err)
	if !ok {
		return err
	}
	hidden := func(t drift.Target) bool {
		i := slices.IndexFunc(list, func(info drift.TargetInfo) bool { return info.Target == t })
		return i < 0 || !seen(list[i])
	}
	return &drift.Unresolved{Name: u.Name, Fits: slices.DeleteFunc(u.Fits, hidden), Near: slices.DeleteFunc(u.Near, hidden)}
}

// unresolved says why a name was not found; a cluster of which nothing is
// known may have it.
func unresolved(err error, down []string) error {
	missing, ok := errors.AsType[*drift.Unresolved](err)
	if len(down) == 0 || !ok || len(missing.Fits) > 0 {
		return &fault.Error{Kind: fault.Invalid, Err: err, Say: err.Error()}
	}
	return &fault.Error{Kind: fault.Unavailable, Err: err,
		Say: fmt.Sprintf("Argo CD of %s can't be reached, so it is not known whether there is a target %s. Try again when it is back.", strings.Join(down, ", "), missing.Name)}
}
