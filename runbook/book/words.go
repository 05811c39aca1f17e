package book

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// words are what the commit says, and in pull_request.go the pull request. They
// are made from the record alone, so a restart finds the same.
type words struct {
	r      state.Reconciliation
	plan   Plan
	target drift.Target
	voters []state.Vote
	links  Links
	proof  string
	// needed is when the merge is needed, at the latest.
	needed time.Time
}

func (s *systems) words(r state.Reconciliation, plan Plan) (words, error) {
	t, err := drift.ParseTarget(r.Target)
	if err != nil {
		return words{}, err
	}
	w := words{r: r, plan: plan.only(plan.Adopts()), target: t, links: s.Links}
	if a, ok := approved.If(r); ok {
		w.voters, w.needed = a.Votes, a.At.Add(s.deadline(r))
	}
	if rr, ok := rendered.If(r); ok {
		w.proof = fmt.Sprintf("%s rendered commit %s (%d objects): only this differs.", rr.By, short(rr.SHA), rr.Objects)
	}
	return w, nil
}

// titlePrefix begins the title of each commit and pull request.
const titlePrefix = "hotfix(reconcile): "

// title is the pull request's: one line that says what and why.
func (w words) title() string {
	what := w.what()
	if of := w.plan.Of; of != nil {
		what = "roll back " + short(of.SHA) + ", " + what
	}
	return cut(fmt.Sprintf(titlePrefix+"%s for %s", what, w.r.Incident), 200)
}

// what says the change in a few words.
func (w words) what() string {
	changes := w.plan.Seen.Drift.Changes
	c := changes[0]
	name := full(c.Object)
	first := fmt.Sprintf("set %s of %s to %s", leaf(c.Path), name, inline(c.Live))
	switch {
	case leaf(c.Path) == "replicas":
		first = fmt.Sprintf("scale %s to %s replicas", name, inline(c.Live))
	case c.Op == manifest.Remove:
		first = fmt.Sprintf("remove %s of %s", leaf(c.Path), name)
	}
	if len(changes) > 1 {
		first += fmt.Sprintf(" and %s more", count(len(changes)-1, "change"))
	}
	return first
}

func leaf(p manifest.Path) string {
	text := p.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}

// commit is the commit message, with its trailers.
func (w words) commit() string { return w.title() + "\n\n" + w.message() }

// message is the commit message below its title.
func (w words) message() string {
	var b strings.Builder
	for _, c := range w.plan.Seen.Drift.Changes {
		if c.Evidence.Kind == drift.Asked {
			b.WriteString(wrap(fmt.Sprintf("%s of %s %s goes from %s to %s in %s, %s.",
				c.Path, c.Object.Kind, full(c.Object), inline(c.Git), inline(c.Live), w.target.Cluster, w.road()), 72))
			b.WriteString("\n")
			continue
		}
		b.WriteString(wrap(fmt.Sprintf("%s of %s %s was changed by hand in %s from %s to %s%s, and is taken into Git here.",
			c.Path, c.Object.Kind, full(c.Object), w.target.Cluster,
			inline(c.Git), inline(c.Live), by(c.Evidence)), 72))
		b.WriteString("\n")
	}
	b.WriteString("\n" + wrap(w.why()+": "+oneLine(w.r.Decision.Reason), 72) + "\n\n")
	b.WriteString(w.trailers())
	return b.String()
}

// road says how a change gets into Git that is not in the cluster yet.
func (w words) road() string {
	if of := w.plan.Of; of != nil {
		return "which undoes commit " + of.SHA
	}
	return "as an emergency change through Git"
}

// why says what the reason is for.
func (w words) why() string {
	if expedited(w.r.Book) {
		return "Reason"
	}
	return "Reason Git was bypassed"
}

func (w words) trailers() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, oneLine(value))
		}
	}
	line("Incident", string(w.r.Incident))
	for _, person := range made(w.plan.Seen.Drift) {
		line("Operator", person)
	}
	if unknownAuthor(w.plan.Seen.Drift) {
		line("Operator", "unknown")
	}
	line("Requested-by", w.r.Decision.By.Name)
	for _, v := range w.voters {
		if v.Override {
			line("Overridden-by", fmt.Sprintf("%s (plan %s): %s", v.By.Name, short(v.Digest), v.Reason))
			continue
		}
		line("Approved-by", fmt.Sprintf("%s (plan %s)", v.By.Name, short(v.Digest)))
	}
	line("Reconciliation", string(w.r.ID))
	return b.String()
}

func by(e drift.Evidence) string {
	who := e.Person
	if who == "" {
		who = "somebody unknown"
	}
	text := " by " + who
	if e.Tool != "" {
		text += " with " + e.Tool
	}
	if !e.At.IsZero() {
		text += " at " + e.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	return text
}

func (w words) proven() string {
	p := w.plan.Proof
	others := "nothing else renders from these files"
	if p.Consumers.Checked > 0 {
		others = count(p.Consumers.Checked, "other render") + " of this repository unchanged"
	}
	text := fmt.Sprintf("after merge: %s here; %s.", count(p.Target.Differences, "difference"), others)
	if w.proof != "" {
		text += " " + w.proof
	}
	return text
}

// inline is a value on one line.
func inline(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return cut(oneLine(v), 120)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return cut(string(raw), 120)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

func wrap(s string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		switch {
		case i == 0:
		case n+1+utf8.RuneCountInString(word) > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += utf8.RuneCountInString(word)
	}
	return b.String()
}
