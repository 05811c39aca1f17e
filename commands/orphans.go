package commands

import (
	"context"
	"fmt"
	"strings"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
)

// strays wants to see what no target declares where a target deploys to,
// straysAround in a whole cluster.
type (
	strays       struct{ target string }
	straysAround struct{ cluster string }
)

func parseOrphans(w words) (act, error) {
	switch {
	case len(w.list) == 1:
		return strays{w.list[0]}, nil
	case len(w.list) == 2 && strings.EqualFold(w.list[0], "all"):
		return straysAround{w.list[1]}, nil
	}
	return nil, usage("orphans TARGET | all CLUSTER", "orphans payments-web")
}

func (s strays) about() string     { return s.target }
func (straysAround) about() string { return "" }

// Orphanage reports on what no target declares. Namespace "" stands for the
// whole cluster.
type Orphanage interface {
	OrphansOf(ctx context.Context, namespace string) (drift.Orphans, error)
	PruneDangers(context.Context, drift.Target) ([]drift.Prunable, error)
}

func (s strays) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	t := call.on.TargetInfo
	if t.Destination == "" {
		return Reply{}, fault.New(fault.Invalid, fmt.Sprintf("%s names no namespace that it deploys to, so it is not known where to look. Ask for the whole cluster: /reconcile orphans all %s", t.Name, t.Cluster))
	}
	home, err := c.orphanage(t.Cluster)
	if err != nil {
		return Reply{}, err
	}
	report, err := home.OrphansOf(ctx, t.Destination)
	if err != nil {
		return Reply{}, err
	}
	dangers, err := home.PruneDangers(ctx, t.Target)
	if err != nil {
		return Reply{}, err
	}
	m := card.Orphans(report, t.Name, dangers, c.Now())
	return Reply{Ephemeral: &m}, nil
}

func (s straysAround) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	home, err := c.orphanage(s.cluster)
	if err != nil {
		return Reply{}, err
	}
	// What is in all of a cluster is for those who may see all of its targets.
	all, _ := c.targets.all(ctx)
	for _, t := range all {
		if t.Cluster != s.cluster {
			continue
		}
		if err := c.allow(ctx, call.by, access.See, t); err != nil {
			return Reply{}, fault.New(fault.Denied, fmt.Sprintf("What is in all of %s can be listed by those who may see all of its targets. Ask for one target: /reconcile orphans TARGET", s.cluster))
		}
	}
	report, err := home.OrphansOf(ctx, "")
	if err != nil {
		return Reply{}, err
	}
	m := card.Orphans(report, "", nil, c.Now())
	return Reply{Ephemeral: &m}, nil
}

func (c *Commands) orphanage(cluster string) (Orphanage, error) {
	home, ok := c.Targets[cluster].(Orphanage)
	if !ok {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("There is no cluster %q in reconcilebot's configuration.", cluster))
	}
	return home, nil
}
