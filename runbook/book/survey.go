package book

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// survey looks at the target for the first time.
type survey struct{ *systems }

func (survey) ID() state.StepID { return seen.Step }

func (s survey) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	look, err := s.look(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "look at "+r.Target, err)
	}
	return seen.Done(look)
}

// Look gives a function that says what differs in a target, and where it lives
// in Git, as the first step of every book does, for those who look before
// there is a reconciliation.
func Look(c Config) func(ctx context.Context, target string) (Seen, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &systems{c}
	return func(ctx context.Context, target string) (Seen, error) {
		return s.look(ctx, state.Reconciliation{Target: target})
	}
}

// target finds a reconciliation's target and its cluster.
func (s *systems) target(r state.Reconciliation) (drift.Target, Cluster, error) {
	t, err := drift.ParseTarget(r.Target)
	if err != nil {
		return t, Cluster{}, err
	}
	c, ok := s.Clusters[t.Cluster]
	if !ok {
		return t, c, fault.New(fault.Refused, fmt.Sprintf("The cluster %s is not in reconcilebot's configuration any more.", t.Cluster))
	}
	return t, c, nil
}

func ref(t drift.Target) argocd.Ref { return argocd.Ref{Namespace: t.Namespace, Name: t.Name} }

// look says what differs and where the values live. That Git can't be read
// keeps nobody from seeing the drift: the places then say why they are empty.
func (s *systems) look(ctx context.Context, r state.Reconciliation) (Seen, error) {
	t, c, err := s.target(r)
	if err != nil {
		return Seen{}, err
	}
	d, err := c.Survey.Survey(ctx, t)
	if err != nil {
		return Seen{}, err
	}
	found := Seen{Drift: returned(d)}
	d = found.Drift
	if d.Refused != "" || len(d.Changes) == 0 {
		return found, nil
	}
	in, err := s.source(ctx, t, c)
	if err != nil {
		why := explainBriefly(err)
		for range d.Changes {
			found.Places = append(found.Places, Place{Why: why})
		}
		return found, nil
	}
	found.Branch, found.Head = in.branch, in.head
	proposal, err := manifest.Propose(ctx, manifest.Request{Tree: in.tree, Target: in.from, Changes: values(d.Changes)})
	if err != nil {
		return found, err
	}
	found.Places = s.places(ctx, in, proposal.Changes)
	return found, nil
}

// returned is a drift in which what was undone takes the place of what
// differs, if nothing does: then it is about bringing that back.
func returned(d drift.Drift) drift.Drift {
	if len(d.Changes) == 0 {
		d.Changes, d.Undone = d.Undone, nil
	}
	return d
}

func explainBriefly(err error) string {
	if who, _, down := outage(err); down {
		return who + " can't be reached"
	}
	return fault.Say(explain("find the source in Git", err), "the source")
}

// source is where a target's manifests come from.
type source struct {
	app    argocd.App
	repo   Repository
	forge  forge.Repo
	branch string
	head   string
	tree   manifest.Tree
	from   manifest.Source
}

// source opens the target's repository at the tip of the branch it follows.
func (s *systems) source(ctx context.Context, t drift.Target, c Cluster) (in source, err error) {
	if in.app, err = c.Argo.App(ctx, ref(t)); err != nil {
		return in, err
	}
	i, ok := rendering(in.app)
	if !ok {
		return in, fault.New(fault.Refused, fmt.Sprintf("%s has %d sources; writing back is possible only where one of them makes objects and the others hold values. Edit the source by hand.", t.Name, len(in.app.Sources)))
	}
	from := in.app.Sources[i]
	if in.repo, err = s.Repo(ctx, from.RepoURL); err != nil {
		return in, err
	}
	if err = in.repo.Fetch(ctx); err != nil {
		return in, err
	}
	if in.branch, in.head, err = branch(ctx, in.repo, from.TargetRevision); err != nil {
		return in, err
	}
	if in.tree, err = in.repo.Tree(ctx, in.head); err != nil {
		return in, err
	}
	if in.forge, err = forge.ParseRepo(from.RepoURL); err != nil {
		return in, fault.New(fault.Refused, fmt.Sprintf("The repository %s is on no Git host that reconcilebot can open pull requests on.", from.RepoURL))
	}
	in.from = sourceOf(t.Name, in.app, i)
	return in, nil
}

// branch finds the branch that a target revision follows. A tag or a commit
// follows none: a merge would change nothing there.
func branch(ctx context.Context, repo Repository, revision string) (name, head string, err error) {
	if revision == "" || revision == "HEAD" {
		if revision, err = repo.DefaultBranch(ctx); err != nil {
			return "", "", err
		}
	}
	head, found, err := repo.Branch(ctx, revision)
	if err == nil && !found {
		err = fault.New(fault.Refused, fmt.Sprintf("The target is pinned to %s, which is not a branch: merging a pull request would change nothing in the cluster. Move the pin by hand.", revision))
	}
	return revision, head, err
}

// rendering is which of an Application's sources makes objects, if only one
// does: the others are referred to by values files.
func rendering(app argocd.App) (index int, ok bool) {
	index = -1
	for i, s := range app.Sources {
		if s.Path == "" && s.Chart == "" && s.Ref != "" {
			continue
		}
		if index >= 0 {
			return 0, false
		}
		index = i
	}
	return index, index >= 0
}

// sourceOf says how the controller renders one source of an Application.
func sourceOf(name string, app argocd.App, index int) manifest.Source {
	from := app.Sources[index]
	src := manifest.Source{
		Name: name, App: app.Name, Dir: from.Path, Namespace: app.Dest.Namespace, Refs: references(app, from),
		Recurse: from.Directory.Recurse, Include: from.Directory.Include, Exclude: from.Directory.Exclude,
	}
	switch {
	case from.Chart != "":
		src.Unsupported = "a Helm chart from a chart repository"
	case from.Kind != "" && from.Kind != "directory" && from.Kind != "kustomize" && from.Kind != "helm":
		src.Unsupported = "a source of type " + from.Kind
	}
	kustomize, helm := toolOptions(app, index)
	if err := src.SetKustomize(kustomize); err != nil {
		src.Unsupported = "an Application whose options for Kustomize can't be read"
	}
	if err := src.SetHelm(helm); err != nil {
		src.Unsupported = "an Application whose options for Helm can't be read"
	}
	if from.Kind == "helm" && src.Helm == nil {
		src.Helm = &manifest.HelmOptions{}
	}
	return src
}

// references are the other sources of an Application, by the name under which
// its values files refer to them.
func references(app argocd.App, from argocd.Source) map[string]string {
	refs := map[string]string{}
	for _, s := range app.Sources {
		switch {
		case s.Ref == "":
		case s.RepoURL != from.RepoURL:
			refs[s.Ref] = "another repository, " + s.RepoURL
		case s.TargetRevision != from.TargetRevision:
			refs[s.Ref] = "another revision of the repository"
		default:
			refs[s.Ref] = ""
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return refs
}

// toolOptions are what an Application says of one of its sources to Kustomize
// and to Helm; nil where it says nothing.
func toolOptions(app argocd.App, index int) (kustomize, helm any) {
	type options struct {
		Kustomize any `json:"kustomize"`
		Helm      any `json:"helm"`
	}
	var object struct {
		Spec struct {
			Source  options   `json:"source"`
			Sources []options `json:"sources"`
		} `json:"spec"`
	}
	// An Application that can't be read has no source either, and is refused
	// for that.
	_ = json.Unmarshal(app.Raw, &object)
	of := object.Spec.Source
	if index < len(object.Spec.Sources) {
		of = object.Spec.Sources[index]
	}
	return of.Kustomize, of.Helm
}

// places says where each value lives.
func (s *systems) places(ctx context.Context, in source, verdicts []manifest.Verdict) []Place {
	places := make([]Place, len(verdicts))
	for i, v := range verdicts {
		p := Place{File: v.File, Line: v.Line}
		if !v.Proven {
			p.Why, p.Hint = v.Why, v.Hint
		}
		if v.File != "" {
			p.URL = s.Links.File(in.forge, in.head, v.File, v.Line)
			if history, err := in.repo.History(ctx, in.head, v.File, 1); err == nil && len(history) > 0 {
				p.Last = history[0]
			}
		}
		places[i] = p
	}
	return places
}

// values are the changes as the write-back takes them.
func values(changes []drift.Change) []manifest.Change {
	list := make([]manifest.Change, len(changes))
	for i, c := range changes {
		list[i] = manifest.Change{Object: c.Object, Path: c.Path, Op: c.Op, Git: c.Git, Live: c.Live}
	}
	return list
}
