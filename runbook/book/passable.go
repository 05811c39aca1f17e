package book

import (
	"context"
	"fmt"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/state"
)

// passable refuses a plan whose pull request could never be merged, or whose
// branch could not even be pushed, before anything is: a rule that nobody here
// can meet would otherwise show only when people have voted and waited.
func (s *systems) passable(ctx context.Context, r state.Reconciliation, d drift.Drift, in *source, base forge.Rules) error {
	branch := branchName(r, d.Target)
	head, err := s.Host.HeadRules(ctx, in.forge, branch)
	if err != nil {
		return err
	}
	list := append(s.unmeetable(base), s.unpushable(head, branch)...)
	if len(list) == 0 {
		return nil
	}
	return fault.New(fault.Refused, fmt.Sprintf("GitHub's rules for %s can't be met, so nothing was pushed: %s. Somebody who administers the repository can change the rule or exempt reconcilebot from it; or revert the cluster.",
		in.forge, strings.Join(list, "; ")))
}

func (s *systems) signs() bool { return s.Sign != nil || s.HostSigns }

// unmeetable are the rules of the branch that no pull request of ours passes.
func (s *systems) unmeetable(base forge.Rules) (list []string) {
	if base.Locked {
		list = append(list, "the branch is locked, so that nobody can merge into it")
	}
	if base.Methods != nil && len(base.Methods) == 0 {
		list = append(list, "no way to merge is left: the repository's settings and the branch's rules allow no method together")
	}
	if base.Signed && !s.signs() {
		list = append(list, "its commits must be signed, and reconcilebot does not sign (github.git.sign in its config)")
	}
	return append(list, s.misfits(base.Patterns, "")...)
}

// unpushable are the rules that keep the branch from being made.
func (s *systems) unpushable(head forge.Rules, branch string) (list []string) {
	if head.NoCreate {
		list = append(list, "not everybody may create a branch named "+branch)
	}
	if head.Signed && !s.signs() {
		list = append(list, "commits on "+branch+" must be signed, and reconcilebot does not sign (github.git.sign in its config)")
	}
	return append(list, s.misfits(head.Patterns, branch)...)
}

// misfits are the patterns that do not fit what is going to be written. The
// message is not known before the vote is complete, but how it begins is.
func (s *systems) misfits(patterns []forge.Pattern, branch string) (list []string) {
	for _, p := range patterns {
		what, text := "", ""
		switch p.Of {
		case "branch_name":
			what, text = "the branch's name "+branch, branch
		case "commit_message":
			what, text = "a commit's message", titlePrefix
		case "commit_author_email", "committer_email":
			if s.HostSigns {
				continue // the Git host writes its own
			}
			what, text = "the author's and committer's address "+s.Author.Email, s.Author.Email
		}
		if text == "" || p.Of == "commit_message" && p.Operator != "starts_with" {
			continue // what can't be told beforehand is left to the Git host
		}
		if fits, known := p.Allows(text); known && !fits {
			list = append(list, what+" "+p.String())
		}
	}
	return list
}
