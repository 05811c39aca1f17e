package book

import (
	"context"
	"fmt"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// push puts the edit on a branch of its own. The commit is made from nothing
// but what is on disk, so making it again makes the same commit, and finding
// it on the branch already is success.
type push struct{ *systems }

func (push) ID() state.StepID { return pushed.Step }

func (s push) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	done, err := s.push(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "push the branch for "+r.Target, err)
	}
	return pushed.Done(done)
}

func (s push) push(ctx context.Context, r state.Reconciliation) (Pushed, error) {
	plan, err := planned.From(r)
	if err != nil {
		return Pushed{}, err
	}
	check, err := checked.From(r)
	if err != nil {
		return Pushed{}, err
	}
	t, c, err := s.target(r)
	if err != nil {
		return Pushed{}, err
	}
	in, err := s.source(ctx, t, c)
	if err != nil {
		return Pushed{}, err
	}
	words, err := s.words(r, plan)
	if err != nil {
		return Pushed{}, err
	}
	edits := map[string][]byte{}
	for _, e := range check.Edits {
		edits[e.File] = e.Content
	}
	sha, err := in.repo.Commit(ctx, git.CommitRequest{
		Base: check.Base, Edits: edits, Message: words.commit(),
		Author: s.Author, Committer: s.Author, When: check.At, Sign: s.Sign,
	})
	if err != nil {
		return Pushed{}, err
	}
	branch := branchName(r, t)
	if s.HostSigns {
		return s.pushByHost(ctx, in, sha, branch, check.Base, words.commit())
	}
	if err := in.repo.Push(ctx, sha, branch); err != nil {
		return Pushed{}, err
	}
	return Pushed{Branch: branch, SHA: sha, Base: check.Base}, nil
}

// pushByHost has the Git host make the same commit, and sign it. What was made
// here first is what its tree is held against.
func (s push) pushByHost(ctx context.Context, in source, local, branch, base, message string) (Pushed, error) {
	written, tree, err := in.repo.Written(ctx, local)
	if err != nil {
		return Pushed{}, err
	}
	files := make([]forge.File, len(written))
	for i, f := range written {
		files[i] = forge.File(f)
	}
	sha, err := s.Host.MakeCommit(ctx, forge.Commit{Repo: in.forge, Branch: branch, Base: base, Tree: tree, Files: files, Message: message})
	return Pushed{Branch: branch, SHA: sha, Base: base}, err
}

// pushedPlan is what the steps after the push go by.
func pushedPlan(r state.Reconciliation) (Plan, Pushed, error) {
	plan, err := planned.From(r)
	if err != nil {
		return plan, Pushed{}, err
	}
	push, err := pushed.From(r)
	return plan, push, err
}

// branchName is the same after a restart, and says what the branch is for.
func branchName(r state.Reconciliation, t drift.Target) string {
	id := string(r.ID)
	return fmt.Sprintf("reconcile/%s/%s-%s", refPart(string(r.Incident)), refPart(t.Name), refPart(strings.ToLower(id[max(0, len(id)-6):])))
}

// refPart keeps of a name what Git allows in a branch's.
// https://git-scm.com/docs/git-check-ref-format
func refPart(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, name), "-")
}

// render has the controller itself render the pushed commit, and compares:
// that proof shares none of our own blind spots.
type render struct{ *systems }

func (render) ID() state.StepID { return rendered.Step }

func (s render) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, push, err := pushedPlan(r)
	if err != nil {
		return runbook.Fail(err)
	}
	t, c, err := s.target(r)
	if err != nil {
		return runbook.Fail(err)
	}
	before, err := c.Argo.Manifests(ctx, ref(t), push.Base)
	if err != nil {
		return s.outcome(r, s.ID(), "render "+push.Base, err)
	}
	after, err := c.Argo.Manifests(ctx, ref(t), push.SHA)
	if err != nil {
		return s.outcome(r, s.ID(), "render "+push.SHA, err)
	}
	if err := manifest.OnlyChanges(before, after, values(plan.Adopts())); err != nil {
		return runbook.Fail(&fault.Error{Kind: fault.Refused, Err: err,
			Say: "Argo CD renders the pushed commit differently than the proof: " + err.Error() + ". No pull request was opened; the branch " + push.Branch + " can be deleted."})
	}
	return rendered.Done(Rendered{SHA: push.SHA, Objects: len(after), By: "Argo CD"})
}

// pullRequest opens the pull request, or takes over the one that is there.
type pullRequest struct{ *systems }

func (pullRequest) ID() state.StepID { return opened.Step }

func (s pullRequest) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, push, err := pushedPlan(r)
	if err != nil {
		return runbook.Fail(err)
	}
	// The branch is this reconciliation's own: whatever became of its pull
	// request, also before a crash could be written down, is followed.
	before, found, err := s.Host.FindPR(ctx, plan.Repo, push.Branch)
	switch {
	case err != nil:
		return s.outcome(r, s.ID(), "look for the pull request of "+push.Branch, err)
	case found && before.State != forge.Open:
		return opened.Done(before)
	}
	words, err := s.words(r, plan)
	if err != nil {
		return runbook.Fail(err)
	}
	template, err := s.template(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "read the template for pull requests", err)
	}
	people, teams := reviewers(plan.Needs.Owners)
	pr, err := s.Host.OpenPR(ctx, forge.Proposal{
		Repo: plan.Repo, Branch: push.Branch, Base: plan.Branch,
		Title: words.title(), Body: words.body() + template, Labels: labels(r),
		Reviewers: people, TeamReviewers: teams,
	})
	if err != nil {
		return s.outcome(r, s.ID(), "open the pull request for "+push.Branch, err)
	}
	return opened.Done(pr)
}

// labels are those of the pull request.
func labels(r state.Reconciliation) []string {
	if expedited(r.Book) {
		return []string{"reconcile", "expedited"}
	}
	return []string{"reconcile"}
}

// template is what the repository wants filled in, below what the bot has to
// say: a reviewer finds the headings that they know.
func (s pullRequest) template(ctx context.Context, r state.Reconciliation) (string, error) {
	t, c, err := s.target(r)
	if err != nil {
		return "", err
	}
	in, err := s.source(ctx, t, c)
	if err != nil {
		return "", err
	}
	text, err := forge.PullTemplate(in.tree)
	if err != nil || text == "" {
		return "", err
	}
	return "\n---\n\n" + text + "\n", nil
}

// reviewers turns code owners into those whom the Git host can ask. An owner
// given by e-mail address can't be asked by name.
func reviewers(owners []string) (people, teams []string) {
	for _, owner := range owners {
		name, ok := strings.CutPrefix(owner, "@")
		switch {
		case !ok:
		case strings.Contains(name, "/"):
			_, team, _ := strings.Cut(name, "/")
			teams = append(teams, team)
		default:
			people = append(people, name)
		}
	}
	return people, teams
}
