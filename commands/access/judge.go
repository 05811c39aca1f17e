package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Question is whether somebody may do something to a target. That their
// account is fit to do anything has been judged before.
type Question struct {
	Who    state.Person
	Right  Right
	Target drift.TargetInfo
	// Files are those that the plan edits, when there is one.
	Files []string
	// Asked is who asked for what is to be approved, Made who made the changes
	// that it is about.
	Asked state.Person
	Made  []Maker
}

// Maker is somebody who made a change.
type Maker struct {
	// Kubernetes is the user name.
	Kubernetes string
	// Evidence is how that is known, such as "audit log, 14:02 UTC".
	Evidence string
}

// Judge answers by the first rule that covers the target.
func (p *Policy) Judge(ctx context.Context, q Question) Verdict {
	var v Verdict
	name := q.Target.Short()
	mapped := p.mapped(q.Who)
	if mapped {
		v = v.yes("%s is in the map of people: %s", q.Who.Name, names(q.Who))
	} else {
		v = v.note(No, "%s is not in the map of people, and is known by a Slack id alone", q.Who.Name)
	}
	rule, at, pattern := p.rule(q.Target.Target)
	if at < 0 {
		return v.deny(fmt.Sprintf("a rule of the policy covers %s", name),
			fmt.Sprintf("No rule of the policy covers %s, so nobody may do anything about it here. The people who run reconcilebot can add one.", name))
	}
	v = v.yes("rule %d covers %s, by %s", at+1, name, pattern)
	list := rule.list(q.Right)
	v, in, unread := p.among(ctx, v, q, list)
	refused := fmt.Sprintf("You can't %s %s", q.Right.doing(), name)
	switch {
	case in && q.Right.named() && !mapped:
		return v.deny("somebody with this right is in the map of people",
			refused+": reconcilebot does not know you under your other names, so nobody could tell whether a change is your own. The people who run reconcilebot can add you. "+p.could(q.Right, list))
	case in:
		return p.independent(v, q, list)
	case unread != nil:
		v = v.deny(fmt.Sprintf("%s is among those who may %s", q.Who.Name, q.Right),
			fmt.Sprintf("%s now: who is in %s can't be read. Try again in a minute. %s", refused, unread.who, p.could(q.Right, list)))
		v.Refusal.Err = fmt.Errorf("read who is in %s: %w", unread.who, unread.err)
		return v
	}
	return v.deny(fmt.Sprintf("%s is among those who may %s", q.Who.Name, q.Right), refused+". "+p.could(q.Right, list))
}

// independent refuses the yes of somebody who asked for it or who made the
// change, in the words that help; the engine refuses it once more.
func (p *Policy) independent(v Verdict, q Question, list []string) Verdict {
	if q.Right != Approve {
		return v
	}
	why := ""
	if q.Who.Is(q.Asked) {
		why = "you asked for it"
	}
	for _, m := range q.Made {
		if q.Who.Writes(m.Kubernetes) {
			why = "you made the change"
			if m.Evidence != "" {
				why += " (" + m.Evidence + ")"
			}
		}
	}
	if why != "" {
		return v.deny(fmt.Sprintf("%s neither asked for it nor made the change", q.Who.Name), fmt.Sprintf("You can't approve this: %s. %s", why, p.could(q.Right, list)))
	}
	if q.Asked.ID != "" || q.Asked.Name != "" || len(q.Made) > 0 {
		v = v.yes("%s neither asked for it nor made the change", q.Who.Name)
	}
	return v
}

// unreadable is a group that could not be read.
type unreadable struct {
	who string
	err error
}

// among tells whether somebody is in a list, and how each entry was judged.
// unread is an entry that could have been a yes.
func (p *Policy) among(ctx context.Context, v Verdict, q Question, list []string) (_ Verdict, in bool, unread *unreadable) {
	if len(list) == 0 {
		return v.note(No, "the rule lets nobody %s", q.Right), false, nil
	}
	for _, entry := range list {
		ok, how, err := p.in(ctx, q, entry)
		switch {
		case err != nil:
			v = v.note(Unknown, "%s: %s: can't be read: %v", q.Right, p.show(entry), err)
			unread = &unreadable{p.show(entry), err}
		case ok:
			return v.yes("%s: %s: %s", q.Right, p.show(entry), how), true, nil
		default:
			v = v.note(No, "%s: %s: %s", q.Right, p.show(entry), how)
		}
	}
	return v, false, unread
}

// in judges one entry of a list. What somebody calls himself in Slack is no
// name: a name counts only for those who are in the map of people.
func (p *Policy) in(ctx context.Context, q Question, entry string) (ok bool, how string, err error) {
	if group, is := p.Groups[entry]; is {
		return p.inGroup(ctx, q, group)
	}
	switch {
	case entry == Everyone && q.Right.forEveryone():
		return true, "every full member", nil
	case entry == Everyone:
		return false, "not a right that everyone can have", nil
	case p.is(q.Who, entry):
		return true, "that is " + q.Who.Name, nil
	}
	return false, "somebody else", nil
}

// is tells whether a name in a list, or an id of Slack, is that person's.
func (p *Policy) is(who state.Person, entry string) bool {
	return entry != "" && (entry == who.ID || p.mapped(who) && entry == who.Name)
}

func (p *Policy) mapped(who state.Person) bool {
	for _, one := range p.People {
		if who.ID != "" && one.Slack == who.ID && one.Name == who.Name {
			return true
		}
	}
	return false
}

func names(who state.Person) string {
	known := []string{"Slack " + who.ID}
	if who.GitHub != "" {
		known = append(known, "GitHub "+who.GitHub)
	}
	if len(who.Kubernetes) > 0 {
		known = append(known, "Kubernetes "+strings.Join(who.Kubernetes, ", "))
	}
	return strings.Join(known, ", ")
}

// errNoLists is why a group that others keep can't be read.
var errNoLists = errors.New("nothing is set up to read it")
