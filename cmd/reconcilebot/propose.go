package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/cmd/reconcilebot/propose"
)

// errRefused means that something was asked for that can't be done safely,
// and that it has been said why.
var errRefused = errors.New("refused")

// many is a flag that may be given more than once.
type many []string

func (m *many) String() string     { return strings.Join(*m, " ") }
func (m *many) Set(s string) error { *m = append(*m, s); return nil }

// offer proposes edits for live objects in a file.
func offer(ctx context.Context, c console, args []string) error {
	o := propose.Options{Now: time.Now}
	var format string
	var values, set, selected, repos many
	err := c.flags("propose", args, func(f *flag.FlagSet) {
		f.StringVar(&o.Repo, "repo", "", "the `DIR` that holds the Git tree")
		f.StringVar(&o.Target, "target", "", "a `FILE` with one Application, Kustomization or HelmRelease")
		f.StringVar(&o.Path, "path", "", "a `DIRECTORY` of the tree, instead of a target")
		f.StringVar(&o.Live, "live", "", "a `FILE` with the live objects, as kubectl get -o yaml prints them")
		f.Var(&values, "values", "a values `FILE` in the tree, for the chart at --path; may be repeated")
		f.Var(&set, "set", "a value of the chart, as `NAME=VALUE`; may be repeated")
		f.Var(&selected, "select", "compare only this `Kind/namespace/name[:path]`; may be repeated")
		f.Var(&repos, "repo-map", "where another repository is, as `URL=DIR`; may be repeated")
		f.StringVar(&o.Release, "release", "", "the chart's release `NAME`; the directory's name if it is not given")
		f.StringVar(&o.Namespace, "namespace", "", "the `NAMESPACE` of objects that name none")
		f.BoolVar(&o.Write, "write", false, "make the proven edits in the tree")
		f.StringVar(&format, "o", "text", "the `FORMAT`: text, json or patch")
	})
	if err != nil {
		return err
	}
	o.Values, o.Set, o.Select = values, set, selected
	switch {
	case o.Repo == "" || o.Live == "":
		return usageError{"propose needs --repo DIR and --live FILE"}
	case (o.Target == "") == (o.Path == ""):
		return usageError{"propose needs either --target FILE or --path DIRECTORY"}
	case !slices.Contains([]string{"text", "json", "patch"}, format):
		return usageError{fmt.Sprintf("propose can't print %q; say text, json or patch", format)}
	}
	if o.Target != "" && len(values)+len(set) > 0 {
		return usageError{"--values and --set go with --path; a target says itself which values it takes"}
	}
	for _, v := range set {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return usageError{fmt.Sprintf("--set %q is not NAME=VALUE", v)}
		}
	}
	for _, r := range repos {
		if url, dir, ok := strings.Cut(r, "="); !ok || url == "" || dir == "" {
			return usageError{fmt.Sprintf("--repo-map %q is not URL=DIR", r)}
		}
	}
	result, err := propose.Run(ctx, o)
	if err != nil {
		return err
	}
	if err := c.show(result, format); err != nil {
		return fmt.Errorf("print the proposal: %w", err)
	}
	if result.Refused() {
		return errRefused
	}
	return nil
}

// show prints a proposal.
func (c console) show(r propose.Result, format string) (err error) {
	switch format {
	case "json":
		out := json.NewEncoder(c.stdout)
		out.SetEscapeHTML(false)
		return out.Encode(r)
	case "patch":
		for _, change := range r.Changes {
			if change.Verdict == "refused" {
				c.say("refused: %s %s: %s\n", change.Object, change.Path, change.Why)
			}
		}
		_, err = fmt.Fprint(c.stdout, r.Patch())
	default:
		_, err = fmt.Fprint(c.stdout, r.Text())
	}
	return err
}
