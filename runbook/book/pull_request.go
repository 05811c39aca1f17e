package book

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// body is the pull request's. It begins with a sentence that a reviewer who
// knows nothing can act on.
func (w words) body() string {
	d := w.plan.Seen.Drift
	var b strings.Builder
	b.WriteString(w.opening() + "\n\n| | |\n|---|---|\n")
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", key, value)
		}
	}
	for _, c := range d.Changes {
		row("Change", fmt.Sprintf("%s %s %s: %s → %s", text(c.Object.Kind), code(full(c.Object)), code(c.Path.String()), code(inline(c.Git)), code(inline(c.Live))))
		if c.Evidence.Kind != drift.Asked {
			row("Made", text(strings.TrimSpace(by(c.Evidence)))+" ("+w.evidence(c.Evidence)+")")
		}
	}
	if expedited(w.r.Book) {
		row("Why now", text(oneLine(w.r.Decision.Reason)))
		row("Needed by", w.needed.UTC().Format("15:04 UTC")+", from "+text(some(w.asked())))
		row("API server", text(w.plan.Tried))
	} else {
		row("Why not through Git", text(oneLine(w.r.Decision.Reason)))
	}
	row("Asked for by", text(w.r.Decision.By.Name))
	for _, v := range w.voters {
		if v.Override {
			row("Approval overridden by", fmt.Sprintf("%s at %s, for plan %s: %s", text(v.By.Name), v.At.UTC().Format("15:04 UTC"), code(short(v.Digest)), text(oneLine(v.Reason))))
			continue
		}
		row("Approved by", fmt.Sprintf("%s at %s, for plan %s", text(v.By.Name), v.At.UTC().Format("15:04 UTC"), code(short(v.Digest))))
	}
	row("Proof", text(w.proven()))
	row("Incident", w.incident())
	row("Application", anchor(w.target.Name, d.URL))
	b.WriteString("\n**What changes in the rendered objects**\n\n```diff\n")
	for _, c := range d.Changes {
		fmt.Fprintf(&b, "  %s %s\n- %s: %s\n+ %s: %s\n", fenced(c.Object.Kind), fenced(c.Object.Name), fenced(c.Path.String()), fenced(inline(c.Git)), fenced(c.Path.String()), fenced(inline(c.Live)))
	}
	fmt.Fprintf(&b, "```\n\n**What happens on merge**\n\n%s reconcilebot watches that and writes the record into the incident's channel.\n\n", w.onMerge())
	fmt.Fprintf(&b, "**What else follows this branch**\n\n%s\n\n", w.followers())
	fmt.Fprintf(&b, "**How to undo it**\n\nRevert this commit; Argo CD then puts the cluster back, too.\n\n<sub>Reconciliation %s</sub>\n", code(string(w.r.ID)))
	return b.String()
}

// onMerge says what the controller makes of the commit.
func (w words) onMerge() string {
	if expedited(w.r.Book) {
		return "Argo CD sees the commit and applies these values to the cluster."
	}
	return "Argo CD sees the commit, finds that the cluster has these values already, and reports Synced."
}

// asked are those whose review is asked for, by name: the code owners, or
// whoever may approve here.
func (w words) asked() []string {
	if len(w.plan.Needs.Owners) > 0 {
		return w.plan.Needs.Owners
	}
	return w.plan.Needs.From
}

// opening says what was done, where, and what a merge means.
func (w words) opening() string {
	changes := w.plan.Seen.Drift.Changes
	c := changes[0]
	if expedited(w.r.Book) {
		what := fmt.Sprintf("%s of %s %s from %s to %s", code(c.Path.String()), text(c.Object.Kind), code(full(c.Object)), code(inline(c.Git)), code(inline(c.Live)))
		if len(changes) > 1 {
			what = fmt.Sprintf("%s of %s", count(len(changes), "field"), w.objects())
		}
		if of := w.plan.Of; of != nil {
			return fmt.Sprintf("Rollback for %s: this undoes commit %s (%s) and takes %s in %s. Merging makes Argo CD apply it.", code(string(w.r.Incident)), of.SHA, text(of.Subject), what, code(w.target.Cluster))
		}
		return fmt.Sprintf("Emergency change for %s: this takes %s in %s. Nothing was changed by hand; merging makes Argo CD apply it.", code(string(w.r.Incident)), what, code(w.target.Cluster))
	}
	it := fmt.Sprintf("%s of %s %s was changed by hand from %s to %s", code(c.Path.String()), text(c.Object.Kind), code(full(c.Object)), code(inline(c.Git)), code(inline(c.Live)))
	switch {
	case len(changes) > 1:
		it = fmt.Sprintf("%s of %s were changed by hand", count(len(changes), "field"), w.objects())
	case leaf(c.Path) == "replicas" && c.Op == manifest.Set:
		it = fmt.Sprintf("%s %s was scaled by hand from %s to %s replicas", text(c.Object.Kind), code(full(c.Object)), code(inline(c.Git)), code(inline(c.Live)))
	case c.Op == manifest.Add:
		it = fmt.Sprintf("%s of %s %s was added by hand", code(c.Path.String()), text(c.Object.Kind), code(full(c.Object)))
	case c.Op == manifest.Remove:
		it = fmt.Sprintf("%s of %s %s was removed by hand", code(c.Path.String()), text(c.Object.Kind), code(full(c.Object)))
	}
	return fmt.Sprintf("%s in %s during %s. Merging takes that into Git, so that the next commit does not undo it; the cluster does not change on merge.",
		it, code(w.target.Cluster), code(string(w.r.Incident)))
}

// maxNamed is how many names a sentence can carry.
const maxNamed = 5

// objects names what was changed.
func (w words) objects() string {
	var names []string
	for _, c := range w.plan.Seen.Drift.Changes {
		if n := text(c.Object.Kind) + " " + code(full(c.Object)); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return some(names)
}

// some joins names, and counts those that are too many to read.
func some(names []string) string {
	if n := len(names); n > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", n-maxNamed)
	}
	return strings.Join(names, ", ")
}

// followers tells whom a moved branch makes look.
func (w words) followers() string {
	if len(w.plan.Followers) == 0 {
		return "No other Application that reconcilebot can see."
	}
	names := make([]string, len(w.plan.Followers))
	for i, f := range w.plan.Followers {
		names[i] = code(f)
	}
	return some(names) + ". What they render from the files of this change stays the same; Argo CD compares them with the new commit all the same, and with automated sync on it puts back what was changed by hand there."
}

// incident leads to where it is talked about and to its ticket.
func (w words) incident() string {
	places := code(string(w.r.Incident))
	if url := address(w.links.Thread, w.r.ID); url != "" {
		places += " · " + anchor("thread", url)
	}
	if url := address(w.links.Ticket, w.r.Incident); url != "" {
		places += " · " + anchor("ticket", url)
	}
	return places
}

// address asks for a link that need not exist.
func address[T any](of func(T) string, what T) string {
	if of == nil {
		return ""
	}
	return of(what)
}

func full(o manifest.Object) string { return strings.Trim(o.Namespace+"/"+o.Name, "/") }

// evidence says how the maker of a change is known, and leads there.
func (w words) evidence(e drift.Evidence) string {
	switch e.Kind {
	case "audit":
		where := "audit log"
		if e.AuditID != "" {
			where += ", request " + e.AuditID
		}
		return anchor(where, address(w.links.Audit, e.AuditID))
	case "controller":
		return "Argo CD's events"
	case "manager":
		return "field manager; the person is not known from that"
	}
	return "no evidence"
}
