package card

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Record draws how a reconciliation ended: what was changed, by whom, why Git
// was bypassed, who decided, and what shows that it holds. It is made from
// the reconciliation's record alone.
func Record(f Facts) Message { return drawRecord(f, nil) }

// drawRecord draws a record with what can be done about it.
func drawRecord(f Facts, can []button) Message {
	s := f.sheet()
	s.title(recordHead(f)...)
	s.lines(fmt.Sprintf("%s · %s → %s, %s", name(string(f.Run.Incident)), clock(f.Run.Opened, f.Now), clock(f.Run.Closed, f.Now), span(f.Run.Closed.Sub(f.Run.Opened))))
	var lines []string
	for _, l := range append(record(f), line{"Ticket", onTickets(f.Filings)}) {
		lines = append(lines, fact(l.label, l.mrkdwn()))
	}
	s.lines(lines...)
	s.small(code(string(f.Run.ID), longName))
	s.buttons(append(review(f), can...)...)
	return s.message(strings.Join(names(recordHead(f)), " · ") + ".")
}

// afterwards is what can be done about what was merged, should it turn out
// wrong.
func afterwards(f Facts) []button {
	m, ok := book.MergedIn(f.Run)
	if !ok || !f.Run.IsClosed() {
		return nil
	}
	target := f.target().Name + " in " + f.target().Cluster
	return []button{{action: ActionRollback, text: "Roll back", value: f.value(m.SHA), label: "Undo this merge through Git: " + target}}
}

func recordHead(f Facts) []string {
	if f.Run.Pause != nil {
		return append(f.where(), pauseEnd(f))
	}
	if seen, looked := book.SeenIn(f.Run); f.Run.Outcome == "left" && looked && len(seen.Drift.Changes) == 0 && seen.Drift.Refused == "" {
		return append(f.where(), "nothing differed")
	}
	end := map[string]string{
		"adopted":     "reconciled: adopted into Git",
		"reverted":    "reconciled: reverted to Git",
		"changed":     "changed through Git",
		"rolled back": "rolled back through Git",

		"adopted and reverted": "reconciled: in part adopted into Git, in part reverted",
		"left":                 "left as it is",
		"nothing to do":        "nothing to do",
	}[f.Run.Outcome]
	if end == "" {
		end = f.Run.Outcome
	}
	return append(f.where(), end)
}

// record is the lines of the record, in the order in which they are asked for.
func record(f Facts) []line {
	if f.Run.Pause != nil {
		return pauseLines(f)
	}
	d := drifted(f)
	lines := []line{
		{"What", what(f, d)},
		{"Who", who(f, d)},
		{"Why not Git", whyNot(f)},
		{"Decision", decision(f)},
		{"Override", overrideRecord(f)},
		{"Review", reviewRecord(f)},
	}
	plan, planned := book.PlanIn(f.Run)
	if planned {
		lines = append(lines,
			line{"Git", inGit(f, plan)},
			line{"Action", done(f, plan)},
			line{"Proof", recordProof(f, plan)},
		)
	}
	return append(lines,
		line{"Verified", verifiedBy(f)},
		line{"Left open", leftOpen(f, d, plan)},
		line{"Before", before(f)},
	)
}

// drifted is the drift that the record is about: the plan's, if there is one.
func drifted(f Facts) drift.Drift {
	if plan, ok := book.PlanIn(f.Run); ok && len(plan.Seen.Drift.Changes) > 0 {
		return plan.Seen.Drift
	}
	seen, _ := book.SeenIn(f.Run)
	return seen.Drift
}

// maxRecorded is more than a card shows: the record is where it is looked up.
const maxRecorded = 15

func what(f Facts, d drift.Drift) (pieces []piece) {
	_, looked := book.SeenIn(f.Run)
	switch {
	case !looked:
		return []piece{{text: "not looked at"}}
	case d.Refused != "":
		return []piece{{text: "could not be judged: " + d.Refused}}
	case len(d.Changes) == 0:
		return []piece{{text: "nothing differed"}}
	}
	for i, c := range d.Changes {
		if i == maxRecorded {
			return append(pieces, piece{text: fmt.Sprintf("and %d more", len(d.Changes)-maxRecorded), newline: true})
		}
		pieces = append(pieces, piece{text: c.Object.Kind + " " + strings.TrimPrefix(c.Object.Namespace+"/"+c.Object.Name, "/"), newline: i > 0})
		pieces = append(pieces, fields(c)...)
	}
	return pieces
}

func fields(c drift.Change) []piece {
	path := piece{text: c.Path.String(), code: true}
	switch {
	case len(c.Path) == 0:
		return []piece{{text: differs(c)}}
	case c.Masked:
		return []piece{path, {text: "(secret value, not shown)"}}
	}
	return []piece{path, {text: value(c.Git), code: true}, {text: "→"}, {text: value(c.Live), code: true}}
}

func who(f Facts, d drift.Drift) (pieces []piece) {
	var said []string
	for _, c := range d.Changes {
		if c.Evidence.Kind == drift.Asked {
			continue
		}
		text := c.Evidence.Person
		switch {
		case text == "" && c.Evidence.Tool != "":
			text = "unknown person with " + c.Evidence.Tool
		case text == "":
			text = "unknown"
		case c.Evidence.Tool != "":
			text += " with " + c.Evidence.Tool
		}
		if !c.Evidence.At.IsZero() {
			text += ", " + clock(c.Evidence.At, f.Now)
		}
		once := text + c.Evidence.AuditID
		if slices.Contains(said, once) {
			continue
		}
		said = append(said, once)
		pieces = append(pieces, piece{text: text, newline: len(said) > 1})
		if id := c.Evidence.AuditID; id != "" {
			pieces = append(pieces, piece{text: "·"}, piece{text: "audit log, request " + id, url: f.Links.request(id)})
		}
	}
	return pieces
}

// whyNot is why Git was bypassed, as whoever adopts it says. A revert's reason
// is why it goes, which stands beside the decision.
func whyNot(f Facts) []piece {
	if f.Run.Book != book.Adopt && f.Run.Book != book.Mixed || f.Run.Outcome == "nothing to do" || f.Run.Decision.Reason == "" {
		return nil
	}
	return []piece{{text: "“" + f.Run.Decision.Reason + "”"}}
}

func decision(f Facts) []piece {
	if !f.Run.Decided() {
		return []piece{{text: "none; asked by " + f.Run.OpenedBy.Name}}
	}
	of := ""
	if plan, ok := book.PlanIn(f.Run); ok && plan.Of != nil {
		of = fmt.Sprintf(" of %s “%s”", short(plan.Of.SHA), plan.Of.Subject)
	}
	text := fmt.Sprintf("%s%s — asked by %s, %s", f.Run.Book, of, f.Run.Decision.By.Name, clock(f.Run.Decision.At, f.Now))
	if f.Run.Decision.Reason != "" && whyNot(f) == nil {
		text += ": “" + f.Run.Decision.Reason + "”"
	}
	if a, ok := book.ApprovalIn(f.Run); ok {
		plan, _ := book.PlanIn(f.Run)
		by := voters(f, a.Votes)
		if len(by) == 0 {
			by = []string{"nobody else"}
		}
		text += "; approved by " + both(by) + " (plan " + short(plan.Digest) + ")"
	}
	if m, ok := book.MergedIn(f.Run); ok && len(m.Reviewers) > 0 {
		text += "; reviewed in GitHub by " + both(m.Reviewers)
	}
	return []piece{{text: text}}
}

func voters(f Facts, votes []state.Vote) (list []string) {
	for _, v := range votes {
		if v.Yes && !v.Override {
			list = append(list, v.By.Name+", "+clock(v.At, f.Now))
		}
	}
	return list
}

// overrideRecord is who went on without the approval, and why.
func overrideRecord(f Facts) (pieces []piece) {
	for i, v := range overrides(f.Run.Votes) {
		text := fmt.Sprintf("by %s, %s, without the approval that is asked for: “%s”", v.By.Name, clock(v.At, f.Now), v.Reason)
		if v.Void != "" {
			text += "; not used: " + v.Void
		}
		pieces = append(pieces, piece{text: text, newline: i > 0})
	}
	return pieces
}

func reviewRecord(f Facts) []piece {
	r := f.Run.Review
	switch {
	case r == nil:
		return nil
	case r.Open():
		return []piece{{text: fmt.Sprintf("open: somebody other than %s who may approve has to look at it", f.overrider().By.Name)}}
	}
	return []piece{{text: fmt.Sprintf("%s, %s: “%s”", r.By.Name, clock(r.Done, f.Now), r.Finding)}}
}

func inGit(f Facts, plan book.Plan) []piece {
	pr, opened := book.PRIn(f.Run)
	if !opened {
		return nil
	}
	pieces := []piece{{text: fmt.Sprintf("#%d", pr.Number), url: pr.URL}}
	if m, ok := book.MergedIn(f.Run); ok {
		pieces = append(pieces, piece{text: "merged as"}, piece{text: short(m.SHA), url: f.Links.address(plan.Repo, m.SHA), code: true}, piece{text: "on " + plan.Branch})
		if m.By != "" {
			pieces = append(pieces, piece{text: "by " + m.By})
		}
	}
	for _, e := range plan.Edits {
		pieces = append(pieces, piece{text: fmt.Sprintf("%s:%d", e.File, e.Line), url: urlOf(plan, e), code: true, newline: true})
	}
	return pieces
}

func done(f Facts, plan book.Plan) (pieces []piece) {
	if _, synced := book.SyncedIn(f.Run); !synced {
		return nil
	}
	for i, a := range plan.Actions {
		pieces = append(pieces, piece{text: a.Text, newline: i > 0})
	}
	return pieces
}

func recordProof(f Facts, plan book.Plan) []piece {
	if len(plan.Edits) == 0 {
		return nil
	}
	text := "before the merge: " + proven(plan.Proof)
	if r, ok := book.RenderedIn(f.Run); ok {
		text += fmt.Sprintf("; %s rendered %s: %s, only the planned change", r.By, short(r.SHA), count(r.Objects, "object"))
	}
	if plan.Tried != "" {
		text += "; " + plan.Tried
	}
	return []piece{{text: text}}
}

func verifiedBy(f Facts) []piece {
	if f.Run.Outcome == "nothing to do" {
		return []piece{{text: "a fresh look found no difference from Git"}}
	}
	v, ok := book.VerifiedIn(f.Run)
	if !ok {
		return nil
	}
	text := fmt.Sprintf("revision %s, %s, %s, %s", short(v.Revision), v.Sync, v.Health, clock(v.At, f.Now))
	if v.Stable > 0 {
		text += "; stable for " + span(v.Stable)
	}
	if f.Run.Done("settle") {
		text += "; a further refresh shows no difference"
	}
	return []piece{{text: text}}
}

func leftOpen(f Facts, d drift.Drift, plan book.Plan) []piece {
	switch {
	case f.Run.Outcome == "left" && (d.Refused != "" || d.SeenAt.IsZero()):
		return []piece{{text: "unknown"}}
	case f.Run.Outcome == "left" && len(d.Changes) > 0:
		return []piece{{text: count(len(d.Changes), "change") + " that Git does not have"}}
	case len(plan.Open) > 0:
		pieces := []piece{{text: count(len(plan.Open), "change") + " left, undecided:"}}
		for i, c := range plan.Open {
			if i == maxChanges {
				return append(pieces, piece{text: fmt.Sprintf("and %d more", len(plan.Open)-maxChanges), newline: true})
			}
			pieces = append(pieces, piece{text: c.Object.Kind + " " + strings.TrimPrefix(c.Object.Namespace+"/"+c.Object.Name, "/"), newline: true})
			pieces = append(pieces, fields(c)...)
		}
		return pieces
	}
	if sync, ok := book.SyncedIn(f.Run); ok && sync.Held > 0 {
		return []piece{{text: count(sync.Held, "other change") + " made by hand; Argo CD has not synced the merged commit, and may undo them when it does"}}
	}
	return []piece{{text: "nothing"}}
}

// before tells of the ways that were tried first.
func before(f Facts) (pieces []piece) {
	for i, p := range f.Run.Past {
		text := clock(p.At, f.Now) + " " + verb(p.Book) + ": " + p.Why
		if p.Failure != nil {
			text = clock(p.Failure.At, f.Now) + " " + verb(p.Book) + ": " + p.Failure.Say
		}
		pieces = append(pieces, piece{text: text, newline: i > 0})
	}
	return pieces
}
