package drift

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/stopwatch"
)

// argo is the part of Argo CD that a survey reads.
type argo interface {
	Apps(context.Context) ([]argocd.App, error)
	App(context.Context, argocd.Ref) (argocd.App, error)
	Managed(context.Context, argocd.Ref) ([]argocd.Managed, error)
	SyncWindows(context.Context, argocd.Ref) (argocd.Windows, error)
	Events(context.Context, argocd.Ref) ([]argocd.Event, error)
}

// live is the part of the cluster that a survey reads.
type live interface {
	Get(context.Context, cluster.ObjectRef) (*unstructured.Unstructured, error)
	List(ctx context.Context, apiVersion, kind, namespace string) ([]unstructured.Unstructured, error)
}

// Config is what surveys of one cluster need.
type Config struct {
	// Name is the cluster's, as the configuration has it.
	Name string
	Argo argo
	// Live is the same cluster, read directly.
	Live live
	// Writes gives the audited writes under a key, which is one of
	// cluster.ObjectRef.Keys. nil means that no audit log is connected.
	Writes func(ctx context.Context, key string) ([]cluster.Write, error)
	// Head asks for the tip of a branch or tag; nil means that nobody knows.
	Head func(ctx context.Context, repoURL, revision string) (sha string, err error)
	// Self is our own user name in the cluster, whose writes are no drift.
	Self string
	// Now gives the time; nil means time.Now.
	Now func() time.Time
	// Pause waits between two looks; nil means real time.
	Pause func(context.Context, time.Duration) error
	Log   *slog.Logger
}

// Surveyor surveys the targets of one cluster. It is safe for concurrent use.
type Surveyor struct {
	Config
	index index
}

// New fills in what was left out.
func New(c Config) *Surveyor {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Surveyor{Config: c}
}

func pause(ctx context.Context, d time.Duration) error {
	back := stopwatch.Outside(ctx)
	defer back()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Targets lists what can be surveyed.
func (s *Surveyor) Targets(ctx context.Context) ([]TargetInfo, error) {
	apps, err := s.Argo.Apps(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]TargetInfo, 0, len(apps))
	for _, app := range apps {
		info := TargetInfo{
			Target:  Target{s.Name, Application, app.Namespace, app.Name},
			Project: app.Project, Sync: app.Sync.Status, Health: app.Health, Automated: app.Automated,
			Revision: revision(app), Destination: app.Dest.Namespace, Owner: app.Owner, URL: app.URL,
		}
		if len(app.Sources) > 0 {
			from := app.Sources[0]
			info.RepoURL, info.Path, info.TargetRevision = from.RepoURL, from.Path, from.TargetRevision
		}
		out = append(out, info)
	}
	return out, nil
}

// revision is what an Application was compared with; of several sources, the
// first one's.
func revision(app argocd.App) string {
	if app.Sync.Revision == "" && len(app.Sync.Revisions) > 0 {
		return app.Sync.Revisions[0]
	}
	return app.Sync.Revision
}

// Survey says what differs in a target. That something can't be judged is an
// answer (Refused); that a system can't be asked is an error.
func (s *Surveyor) Survey(ctx context.Context, t Target) (Drift, error) {
	if t.Cluster != s.Name || t.Kind != Application {
		return Drift{}, fmt.Errorf("survey %s: %w", t, errors.ErrUnsupported)
	}
	return s.application(ctx, t)
}
