package book

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// words are what the commit and the pull request say. They are made from the
// record alone, so a restart finds the same.
type words struct {
	r      state.Reconciliation
	plan   Plan
	target drift.Target
	voters []state.Vote
	links  Links
	proof  string
}

func (s *systems) words(r state.Reconciliation, plan Plan) (words, error) {
	t, err := drift.ParseTarget(r.Target)
	if err != nil {
		return words{}, err
	}
	w := words{r: r, plan: plan, target: t, links: s.Links}
	if a, ok := approved.If(r); ok {
		w.voters = a.Votes
	}
	if rr, ok := rendered.If(r); ok {
		w.proof = fmt.Sprintf("%s rendered commit %s (%d objects): only this differs.", rr.By, short(rr.SHA), rr.Objects)
	}
	return w, nil
}

// title is the pull request's: one line that says what and why.
func (w words) title() string {
	return cut(fmt.Sprintf("hotfix(reconcile): %s for %s", w.what(), w.r.Incident), 200)
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
		b.WriteString(wrap(fmt.Sprintf("%s of %s %s was changed by hand in %s from %s to %s%s, and is taken into Git here.",
			c.Path, c.Object.Kind, full(c.Object), w.target.Cluster,
			inline(c.Git), inline(c.Live), by(c.Evidence)), 72))
		b.WriteString("\n")
	}
	b.WriteString("\n" + wrap("Reason Git was bypassed: "+oneLine(w.r.Decision.Reason), 72) + "\n\n")
	b.WriteString(w.trailers())
	return b.String()
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
		row("Made", text(strings.TrimSpace(by(c.Evidence)))+" ("+w.evidence(c.Evidence)+")")
	}
	row("Why not through Git", text(oneLine(w.r.Decision.Reason)))
	row("Asked for by", text(w.r.Decision.By.Name))
	for _, v := range w.voters {
		row("Approved by", fmt.Sprintf("%s at %s, for plan %s", text(v.By.Name), v.At.UTC().Format("15:04 UTC"), code(short(v.Digest))))
	}
	row("Proof", text(w.proven()))
	row("Incident", w.incident())
	row("Application", anchor(w.target.Name, d.URL))
	b.WriteString("\n**What changes in the rendered objects**\n\n```diff\n")
	for _, c := range d.Changes {
		fmt.Fprintf(&b, "  %s %s\n- %s: %s\n+ %s: %s\n", fenced(c.Object.Kind), fenced(c.Object.Name), fenced(c.Path.String()), fenced(inline(c.Git)), fenced(c.Path.String()), fenced(inline(c.Live)))
	}
	b.WriteString("```\n\n**What happens on merge**\n\nArgo CD sees the commit, finds that the cluster has these values already, and reports Synced. reconcilebot watches that and writes the record into the incident's channel.\n\n")
	fmt.Fprintf(&b, "**What else follows this branch**\n\n%s\n\n", w.followers())
	fmt.Fprintf(&b, "**How to undo it**\n\nRevert this commit; Argo CD then puts the cluster back, too.\n\n<sub>Reconciliation %s</sub>\n", code(string(w.r.ID)))
	return b.String()
}

// opening says what was done, where, and what a merge means.
func (w words) opening() string {
	changes := w.plan.Seen.Drift.Changes
	c := changes[0]
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

// text takes the Markdown, the HTML and the mentions out of what came from
// outside.
func text(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "#", "\\#").Replace(mention.ReplaceAllString(s, "$1@\u200b"))
}

// mention is an @ at which GitHub would call somebody: an address such as
// alice@example.com calls nobody, and is left to be copied.
var mention = regexp.MustCompile(`(^|[^0-9A-Za-z._%+-])@`)

// anchor is a link, or its words alone where it has no address.
func anchor(words, url string) string {
	if url == "" {
		return text(words)
	}
	return "[" + text(words) + "](" + strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", "\n", "", "|", "%7C").Replace(url) + ")"
}

func code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "¦").Replace(oneLine(s)) + "`"
}

func fenced(s string) string { return strings.ReplaceAll(s, "```", "'''") }

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
