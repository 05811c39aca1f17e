package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// adoption plans the edits that take the changes into Git, with their proof,
// from fresh reads.
func (s *systems) adoption(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, t, c, err := s.fresh(ctx, r)
	plan.Seen.Drift = returned(plan.Seen.Drift)
	if err != nil {
		return plan, err
	}
	if err := plan.split(r); err != nil || len(plan.Seen.Drift.Changes) == 0 {
		return plan, err
	}
	return s.edited(ctx, r, plan, t, c)
}

// edited adds to a plan the edits that make true in Git what it adopts, with
// their proof, and what it needs.
func (s *systems) edited(ctx context.Context, r state.Reconciliation, plan Plan, t drift.Target, c Cluster) (Plan, error) {
	d, adopts := plan.Seen.Drift, plan.those(DoAdopt, true)
	in, err := s.source(ctx, t, c)
	if err != nil {
		return plan, err
	}
	consumers, followers, err := s.consumers(ctx, t, in)
	if err != nil {
		return plan, err
	}
	proposal, err := manifest.Propose(ctx, manifest.Request{Tree: in.tree, Target: in.from, Consumers: consumers, Changes: values(adopts), Structure: expedited(r.Book)})
	if err != nil {
		return plan, err
	}
	if err := allProven(proposal); err != nil {
		return plan, err
	}
	plan.Seen.Branch, plan.Seen.Head = in.branch, in.head
	plan.Seen.Places = s.places(ctx, in, proposal.Changes)
	plan.Edits, plan.Proof = proposal.Edits, proposal.Proof
	plan.Repo, plan.Base, plan.Branch, plan.Followers = in.forge, in.head, in.branch, followers
	if plan.Needs, err = s.needs(ctx, r, d, &in, plan.Edits); err != nil {
		return plan, err
	}
	plan.Digest, err = plan.bind()
	return plan, err
}

// allProven refuses a proposal that leaves something unproven: what is merged
// must be the whole of what was decided.
func allProven(p manifest.Proposal) error {
	var open []string
	for _, v := range p.Changes {
		if !v.Proven {
			open = append(open, strings.TrimSpace(fmt.Sprintf("%s of %s %s: %s %s", v.Path, v.Object.Kind, v.Object.Name, v.Why, v.Hint)))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return fault.New(fault.Refused, "The edit can't be proven, so it isn't proposed.\n"+strings.Join(open, "\n"))
}

// consumers are the other Applications, in any cluster, that render from the
// same repository: an edit must not move them. Followers are those among them
// that follow the same branch.
func (s *systems) consumers(ctx context.Context, t drift.Target, in source) (list []manifest.Source, followers []string, err error) {
	trunk, err := in.repo.DefaultBranch(ctx)
	if err != nil {
		return nil, nil, err
	}
	for name, c := range s.Clusters {
		apps, err := c.Argo.Apps(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, app := range apps {
			if name == t.Cluster && app.Namespace == in.app.Namespace && app.Name == in.app.Name {
				continue
			}
			for i, from := range app.Sources {
				if !sameRepository(from.RepoURL, in.forge) || from.Chart != "" || from.Path == "" && from.Ref != "" {
					continue
				}
				list = append(list, sourceOf(name+"/"+app.Name, app, i))
				if other := app.Name + " in " + name; follows(from, trunk, in.branch) && !slices.Contains(followers, other) {
					followers = append(followers, other)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b manifest.Source) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(followers)
	return list, followers, nil
}

// follows tells whether a source follows a branch; trunk is the one that it
// follows when it names none.
func follows(from argocd.Source, trunk, branch string) bool {
	if from.TargetRevision == "" || from.TargetRevision == "HEAD" {
		return trunk == branch
	}
	return strings.TrimPrefix(from.TargetRevision, "refs/heads/") == branch
}

func sameRepository(url string, repo forge.Repo) bool {
	other, err := forge.ParseRepo(url)
	return err == nil && strings.EqualFold(other.String(), repo.String())
}

// needs says whose yes the plan needs, here and on the Git host, before
// anything is pushed.
func (s *systems) needs(ctx context.Context, r state.Reconciliation, d drift.Drift, in *source, edits []manifest.Edit) (Needs, error) {
	n := s.approvals(r, d)
	if in == nil {
		return n, nil
	}
	var err error
	if n.Rules, err = s.Host.Rules(ctx, in.forge, in.branch); err != nil {
		return n, err
	}
	owners, err := forge.Codeowners(in.tree)
	if err != nil {
		return n, err
	}
	var files []string
	for _, e := range edits {
		files = append(files, e.File)
	}
	n.OwnerSets = forge.OwnerSets(owners, files)
	for _, set := range n.OwnerSets {
		for _, owner := range set {
			if !slices.Contains(n.Owners, owner) {
				n.Owners = append(n.Owners, owner)
			}
		}
	}
	return n, s.passable(ctx, r, d, in, n.Rules)
}

// approvals says whose yes is needed in the channel. Who asked and who made a
// change have none. When it is unknown who made one, two people must each say
// that it was not them.
func (s *systems) approvals(r state.Reconciliation, d drift.Drift) Needs {
	names, count := s.Policy.Approvers(r.Target)
	n := Needs{Approvals: max(count, 1), From: names, Expires: s.Now().UTC().Add(s.Timing.ApprovalExpires)}
	n.Excluded = append(n.Excluded, Excluded{Name: r.Decision.By.Name, Why: "asked for it"})
	for _, person := range made(d) {
		name := s.Policy.NameOf(person)
		if name == "" {
			name = person
		}
		if !slices.ContainsFunc(n.Excluded, func(e Excluded) bool { return e.Name == name }) {
			n.Excluded = append(n.Excluded, Excluded{Name: name, Why: "made the change"})
		} else if name == r.Decision.By.Name {
			n.Excluded[0].Why = "asked for it and made the change"
		}
	}
	if unknownAuthor(d) {
		n.Disown, n.Approvals = true, max(n.Approvals, 2)
	}
	return n
}

// made lists the Kubernetes users who made the changes.
func made(d drift.Drift) []string {
	var list []string
	for _, c := range d.Changes {
		if c.Evidence.Person != "" && !slices.Contains(list, c.Evidence.Person) {
			list = append(list, c.Evidence.Person)
		}
	}
	return list
}

func unknownAuthor(d drift.Drift) bool {
	return slices.ContainsFunc(d.Changes, func(c drift.Change) bool { return c.Evidence.Person == "" && c.Evidence.Kind != drift.Asked })
}

// ballot puts the plan to the vote while the approve step waits.
func ballot(r state.Reconciliation) (runbook.Ballot, bool) {
	plan, ok := planned.If(r)
	if !ok || r.Done(approved.Step) {
		return runbook.Ballot{}, false
	}
	return runbook.Ballot{
		Digest: plan.Digest, Needed: plan.Needs.Approvals, Expires: ExpiryIn(r),
		Made: made(plan.Seen.Drift), Disown: plan.Needs.Disown, Override: true,
	}, true
}
