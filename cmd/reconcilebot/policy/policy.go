// Package policy explains a verdict of the policy before anybody runs into it.
//
// It must never judge by rules of its own: each step is one of those that the
// bot goes through when the same person types the same words.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands"
	"reconcilebot/commands/access"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/spell"
	"reconcilebot/state"
)

// Options say what to ask.
type Options struct {
	Policy *access.Policy
	// Clusters are the names of those that the config has.
	Clusters []string
	// User is any of somebody's names, or an id of Slack.
	User string
	// Command is a command, a button or a right: "adopt", "approve", "pause".
	Command string
	// Target is cluster/name.
	Target string
	// AskedBy and MadeBy are who asked for what is to be approved, and who made
	// the change; "" is somebody else.
	AskedBy, MadeBy string
	// Repo, Branch and Path are where the target's manifests are, for the code
	// owners.
	Repo, Branch, Path string
	// Account looks somebody up in the workspace Home; nil, or an error, leaves
	// the account unjudged.
	Account func(ctx context.Context, id string) (access.Member, error)
	Home    string
}

// Result is the verdict with its reasons.
type Result struct {
	Allowed bool          `json:"allowed"`
	Say     string        `json:"say"`
	Steps   []access.Step `json:"steps"`
}

// Test asks the policy. An error is a mistake in the question.
func Test(ctx context.Context, o Options) (Result, error) {
	target, err := o.target()
	if err != nil {
		return Result{}, err
	}
	rights, ok := commands.Rights(o.Command)
	if !ok {
		return Result{}, fmt.Errorf("there is no command, button or right %q%s", o.Command, spell.Hint(o.Command, commands.Grantable()))
	}
	who, err := o.person(o.User)
	if err != nil {
		return Result{}, err
	}
	out := Result{}
	if refused := o.account(ctx, &out, who.ID); refused != "" || !rights[0].OnTarget() {
		if refused == "" {
			out.Allowed, refused = true, o.Command+" asks for nothing more than that."
		}
		out.Say = refused
		return out, nil
	}
	return out, o.judge(ctx, &out, who, target, rights)
}

// judge asks for each right; one of them is enough.
func (o Options) judge(ctx context.Context, out *Result, who state.Person, target drift.TargetInfo, rights []access.Right) error {
	for _, right := range rights {
		q := access.Question{Who: who, Right: right, Target: target}
		if right == access.Approve {
			var err error
			if o.AskedBy != "" {
				if q.Asked, err = o.person(o.AskedBy); err != nil {
					return err
				}
			}
			if o.MadeBy != "" {
				maker, err := o.person(o.MadeBy)
				if err != nil {
					return err
				}
				for _, name := range append(maker.Kubernetes, o.MadeBy) {
					q.Made = append(q.Made, access.Maker{Kubernetes: name})
				}
			}
		}
		v := o.Policy.Judge(ctx, q)
		out.Steps = append(out.Steps, v.Steps...)
		if v.Allowed() {
			out.Allowed, out.Say = true, fmt.Sprintf("%s may %s %s.", who.Name, right, target.Short())
			if n := o.needed(target); right == access.Approve && n > 1 {
				out.Say += fmt.Sprintf(" %d people have to.", n)
			}
			return nil
		}
		out.Say = v.Refusal.Say
	}
	return nil
}

func (o Options) needed(t drift.TargetInfo) int {
	_, n := o.Policy.Approvers(t.Target.String())
	return n
}

// account judges the account, as far as anybody can be asked about it; it
// answers the words of a refusal.
func (o Options) account(ctx context.Context, out *Result, id string) (refused string) {
	why := errors.New("there is nobody to ask")
	if o.Account != nil {
		var m access.Member
		if m, why = o.Account(ctx, id); why == nil {
			v := access.Account(m, id, o.Home)
			out.Steps = append(out.Steps, v.Steps...)
			if !v.Allowed() {
				return v.Refusal.Say
			}
			return ""
		}
	}
	out.Steps = append(out.Steps, access.Step{Mark: access.Unknown, Say: fmt.Sprintf("whether %s is a full member of the workspace was not looked up (%v); the bot looks it up each time", id, why)})
	return ""
}

// person finds somebody by any of their names. An id of Slack that is in no
// map is somebody all the same.
func (o Options) person(name string) (state.Person, error) {
	var known []string
	for _, p := range o.Policy.People {
		if name == p.Name || name == p.Slack || strings.EqualFold(name, p.GitHub) && name != "" || slices.Contains(p.Kubernetes, name) {
			who, _ := o.Policy.Person(access.Member{ID: p.Slack})
			return who, nil
		}
		known = append(known, p.Name)
	}
	if len(name) > 2 && strings.ContainsAny(name[:1], "UW") && strings.ToUpper(name) == name {
		who, _ := o.Policy.Person(access.Member{ID: name})
		return who, nil
	}
	return state.Person{}, fmt.Errorf("nobody among the people is %q%s; an id of Slack, like U012AB3CD, can be asked about as well", name, spell.Hint(name, known))
}

func (o Options) target() (drift.TargetInfo, error) {
	cluster, name, ok := strings.Cut(o.Target, "/")
	if !ok && len(o.Clusters) == 1 {
		cluster, name = o.Clusters[0], o.Target
	}
	if !slices.Contains(o.Clusters, cluster) || name == "" || strings.Contains(name, "/") {
		return drift.TargetInfo{}, fmt.Errorf("target %q is not CLUSTER/NAME%s; clusters are %s", o.Target, spell.Hint(cluster, o.Clusters), strings.Join(o.Clusters, ", "))
	}
	// The namespace has no part in a policy, and a target has to have one.
	return drift.TargetInfo{
		Target:  drift.Target{Cluster: cluster, Kind: drift.Application, Namespace: "any", Name: name},
		RepoURL: o.Repo, TargetRevision: o.Branch, Path: o.Path,
	}, nil
}

// Text is the result for people.
func (r Result) Text() string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%-8s %s\n", s.Mark, s.Say)
	}
	word := "refused"
	if r.Allowed {
		word = "allowed"
	}
	fmt.Fprintf(&b, "\n%s: %s\n", word, r.Say)
	return b.String()
}
