package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/stopwatch"
)

// DriftConfig says what looks to time.
type DriftConfig struct {
	// Objects is how many objects the large target has, Changes how many of
	// them are changed by hand. Targets is how many further targets there are,
	// with one change each.
	Objects, Changes, Targets int
	// Rounds is how often each look is repeated.
	Rounds         int
	Stdout, Stderr io.Writer
}

// Drift times a look at one large target, and at the list of many, against
// `argocd app diff` on the same Application in the same run.
func Drift(ctx context.Context, c DriftConfig) (err error) {
	large := world.New(1, "large")
	lab, err := start(ctx, []world.World{large}, c.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close(false)) }()
	b := &driftBench{DriftConfig: c, lab: lab, large: large}
	for _, part := range []func(context.Context) error{b.open, b.login, b.fill, b.crowd, b.looks, b.lists} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return b.memory(ctx)
}

type driftBench struct {
	DriftConfig
	lab   *rig.Rig
	large world.World
	// surveyor is the bot's own, with the bot's rights.
	surveyor *drift.Surveyor
	calls    atomic.Int64
	token    string
}

// counted counts calls and tells their time apart.
func (b *driftBench) counted(next http.RoundTripper) http.RoundTripper {
	return counter{stopwatch.Transport(next), &b.calls}
}

type counter struct {
	next http.RoundTripper
	n    *atomic.Int64
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

func (b *driftBench) open(ctx context.Context) (err error) {
	if b.token, err = b.lab.Argo.Token(ctx, systems.BotAccount); err != nil {
		return err
	}
	argo, err := argocd.New(argocd.Config{Server: b.lab.Argo.URL, Token: func() (string, error) { return b.token, nil }, Namespace: "argocd", Wrap: b.counted})
	if err != nil {
		return err
	}
	live, err := cluster.New(cluster.Config{Kubeconfig: b.lab.Kube.Kubeconfig("reconcilebot"), UserAgent: "reconcilebot", Wrap: b.counted})
	if err != nil {
		return err
	}
	b.surveyor = drift.New(drift.Config{Name: world.Cluster, Argo: argo, Live: live})
	return nil
}

// many is how many objects one file holds.
const many = 100

// fill gives the large target its objects, waits for the sync, and changes
// some of them by hand.
func (b *driftBench) fill(ctx context.Context) error {
	files := map[string]string{}
	for first := 0; first < b.Objects; first += many {
		var text strings.Builder
		for i := first; i < min(first+many, b.Objects); i++ {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: item-%04d}\ndata: {value: \"1\", text: \"some words that are there to be compared\"}\n", i)
		}
		files[fmt.Sprintf("%s/items-%04d.yaml", b.large.Folder(), first)] = text.String()
	}
	if _, err := b.lab.Git.Commit(b.large, world.AppOwner, "Deploy many things", files); err != nil {
		return err
	}
	if err := b.refresh(ctx, b.large.ApplicationObject()); err != nil {
		return err
	}
	_, err := b.lab.Kube.Until(ctx, b.large.ApplicationObject(), "synced with all its objects", func(app *unstructured.Unstructured) bool {
		resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
		return world.InOrder(app) && world.Attempted(app) && len(resources) >= b.Objects
	})
	if err != nil {
		return err
	}
	for i := range b.Changes {
		o := systems.Object{Kind: "ConfigMap", Namespace: b.large.Namespace(), Name: fmt.Sprintf("item-%04d", i*(b.Objects/b.Changes))}
		if err := b.lab.Kube.Merge(ctx, o, `{"data":{"value":"2"}}`); err != nil {
			return err
		}
	}
	return nil
}

func (b *driftBench) refresh(ctx context.Context, o systems.Object) error {
	return b.lab.Kube.Merge(ctx, o, `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`)
}

// crowd makes many small targets, of one ConfigMap each, and changes each by
// hand.
func (b *driftBench) crowd(ctx context.Context) error {
	if b.Targets == 0 {
		return nil
	}
	files := map[string]string{}
	for i := range b.Targets {
		files[fmt.Sprintf("crowd/%04d/one.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: crowd-%04d}\ndata: {value: \"1\"}\n", i)
	}
	if _, err := b.lab.Git.Commit(b.large, world.AppOwner, "Deploy a crowd", files); err != nil {
		return err
	}
	text := b.large.Application(b.lab.Git.URL(b.large))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(8)
	for i := range b.Targets {
		all.Go(func() error {
			name := fmt.Sprintf("crowd-%04d", i)
			one := strings.NewReplacer("name: "+b.large.App+", namespace", "name: "+name+", namespace", b.large.Folder(), fmt.Sprintf("crowd/%04d", i)).Replace(text)
			if err := b.lab.Kube.Apply(ctx, one); err != nil {
				return err
			}
			o := systems.Object{Kind: "Application", Namespace: "argocd", Name: name}
			if _, err := b.lab.Kube.Until(ctx, o, "Synced", world.InOrder); err != nil {
				return err
			}
			if err := b.lab.Kube.Merge(ctx, systems.Object{Kind: "ConfigMap", Namespace: b.large.Namespace(), Name: name}, `{"data":{"value":"2"}}`); err != nil {
				return err
			}
			_, err := b.lab.Kube.Until(ctx, o, "OutOfSync", world.OutOfSync)
			return err
		})
	}
	return all.Wait()
}

// timed runs one thing some times and gives the median, the bot's own share of
// it, and the calls.
func (b *driftBench) timed(ctx context.Context, what func(context.Context) error) (median, own time.Duration, calls int64, err error) {
	var all, owns []time.Duration
	for range b.Rounds {
		var outside stopwatch.Watch
		b.calls.Store(0)
		begun := time.Now()
		if err := what(stopwatch.With(ctx, &outside)); err != nil {
			return 0, 0, 0, err
		}
		took := time.Since(begun)
		all, owns, calls = append(all, took), append(owns, took-outside.Total()), b.calls.Load()
	}
	slices.Sort(all)
	slices.Sort(owns)
	return all[len(all)/2], owns[len(owns)/2], calls, nil
}

func (b *driftBench) looks(ctx context.Context) error {
	target := drift.Target{Cluster: world.Cluster, Kind: drift.Application, Namespace: "argocd", Name: b.large.App}
	var d drift.Drift
	bot, own, calls, err := b.timed(ctx, func(ctx context.Context) (err error) {
		d, err = b.surveyor.Survey(ctx, target)
		if err == nil && (d.Refused != "" || len(d.Changes) != b.Changes) {
			err = fmt.Errorf("%d changes were seen, %d were made (%s)", len(d.Changes), b.Changes, d.Refused)
		}
		return err
	})
	if err != nil {
		return err
	}
	for name, version := range d.ResourceVersions {
		_, item, _ := strings.Cut(name, "ConfigMap/")
		now, err := b.lab.Kube.Get(ctx, systems.Object{Kind: "ConfigMap", Namespace: b.large.Namespace(), Name: item})
		if err != nil {
			return err
		}
		if now.GetResourceVersion() != version {
			return fmt.Errorf("%s was seen at version %s, is at %s", name, version, now.GetResourceVersion())
		}
	}
	cli, _, _, err := b.timed(ctx, func(ctx context.Context) error { return b.appDiff(ctx) })
	if err != nil {
		return err
	}
	fresh, _, _, err := b.timed(ctx, func(ctx context.Context) error { return b.appDiff(ctx, "--refresh") })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.Stdout, `One target of %d objects, %d of them changed by hand; medians of %d
  %6d ms  the bot, of which %d ms its own; %d calls; every change as new as the cluster has it
  %6d ms  argocd app diff: %.1f times the bot's
  %6d ms  argocd app diff --refresh: %.1f times
`, b.Objects, b.Changes, b.Rounds, bot.Milliseconds(), own.Milliseconds(), calls,
		cli.Milliseconds(), float64(cli)/float64(bot), fresh.Milliseconds(), float64(fresh)/float64(bot))
	return err
}

// argocd runs Argo CD's command line, as its administrator: a diff takes more
// rights than the bot has.
func (b *driftBench) argocd(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.lab.Argo.CLI, append(args, "--config", filepath.Join(b.lab.Dir, "argocd.config"))...)
	cmd.Env = append(os.Environ(), "HOME="+b.lab.Dir)
	return cmd.CombinedOutput()
}

func (b *driftBench) login(ctx context.Context) error {
	out, err := b.argocd(ctx, "login", strings.TrimPrefix(b.lab.Argo.URL, "http://"), "--plaintext", "--username", "admin", "--password", b.lab.Argo.Password)
	if err != nil {
		return fmt.Errorf("argocd login: %w: %.500s", err, out)
	}
	return nil
}

// appDiff runs the command line's own diff, which exits with 1 where something
// differs.
func (b *driftBench) appDiff(ctx context.Context, more ...string) error {
	out, err := b.argocd(ctx, append([]string{"app", "diff", b.large.App}, more...)...)
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() == 1 && strings.Count(string(out), "item-") >= b.Changes {
		return nil
	}
	return fmt.Errorf("argocd app diff: %v: %.500s", err, out)
}

func (b *driftBench) lists(ctx context.Context) error {
	if b.Targets == 0 {
		return nil
	}
	took, own, calls, err := b.timed(ctx, func(ctx context.Context) error {
		list, err := b.surveyor.Targets(ctx)
		if err == nil && len(list) != b.Targets+1 {
			err = fmt.Errorf("%d targets were listed, there are %d", len(list), b.Targets+1)
		}
		return err
	})
	if err != nil {
		return err
	}
	every, _, asked, err := b.timed(ctx, b.everyTarget)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.Stdout, `%d targets with one change each
  %6d ms  their status, of which %d ms the bot's own; %d calls
  %6d ms  a look at each of them, 8 at a time; %d calls
`, b.Targets, took.Milliseconds(), own.Milliseconds(), calls, every.Milliseconds(), asked)
	return err
}

func (b *driftBench) everyTarget(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(8)
	for i := range b.Targets {
		all.Go(func() error {
			d, err := b.surveyor.Survey(ctx, drift.Target{Cluster: world.Cluster, Kind: drift.Application, Namespace: "argocd", Name: fmt.Sprintf("crowd-%04d", i)})
			if err == nil && len(d.Changes) != 1 {
				err = fmt.Errorf("crowd-%04d: %d changes, want 1 (%s)", i, len(d.Changes), d.Refused)
			}
			return err
		})
	}
	return all.Wait()
}

// memory says what the bot's own process, which runs beside the looks, has
// resident.
func (b *driftBench) memory(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(b.lab.Bot.PID())).Output()
	if err != nil {
		return fmt.Errorf("ask for the bot's memory: %w", err)
	}
	kilobytes, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return fmt.Errorf("read the bot's memory: %w", err)
	}
	_, err = fmt.Fprintf(b.Stdout, "The bot has %d MB resident beside them\n", kilobytes>>10)
	return err
}
