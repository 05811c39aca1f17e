package card

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// Bounds on a page of the full diff: more is not read at once, and a message
// of the same size is within Slack's limits. The file has all of it.
const (
	maxHunks     = 6
	maxPage      = 4500
	maxHunk      = 1500
	maxDiffWidth = 160
)

// Diff is the full diff of a plan, or, before there is one, all that differs,
// a page of it. Page counts from 0; one that is out of range is the nearest
// there is. posted says that the whole is in the thread by now.
func Diff(f Facts, page int, posted bool) *slack.ModalViewRequest {
	d := pages(f)
	return &slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackDiff, PrivateMetadata: f.value(d.digest),
		Title: plainText(d.title), Close: plainText("Close"),
		Blocks: slack.Blocks{BlockSet: d.draw(f, page, posted)},
	}
}

// allChanges leads to all changes where a card shows some of them, and to what
// was not counted as one.
func allChanges(f Facts, d drift.Drift) []button {
	text := "All changes"
	switch {
	case len(d.Changes) > maxChanges:
	case len(d.Noise) > 0:
		text = "Not counted"
	default:
		return nil
	}
	return []button{{action: ActionDiff, text: text, value: Carry(f.Run.ID, d.Digest, "0"), label: text + " in " + f.target().Name + " in " + f.target().Cluster}}
}

// booklet is something long, on pages.
type booklet struct {
	title, noun, digest string
	// summary stands on the first page.
	summary []string
	chunks  []chunk
	about   string
}

func pages(f Facts) booklet {
	if plan, ok := book.PlanIn(f.Run); ok {
		return booklet{
			title: "Full diff", noun: "hunks", digest: plan.Digest, chunks: hunks(plan), about: "plan " + code(short(plan.Digest), longName),
			summary: append([]string{fmt.Sprintf("*%s in %s*", count(len(plan.Seen.Drift.Changes), "change"), count(len(plan.Edits), "file"))},
				dealtWith(f.Run.Book, plan)...),
		}
	}
	seen, _ := book.SeenIn(f.Run)
	return booklet{
		title: "All changes", noun: "objects", digest: seen.Drift.Digest, chunks: objects(seen.Drift), about: "as seen " + when(seen.Drift.SeenAt, f.Now),
		summary: []string{fmt.Sprintf("*%s made by hand*, the riskiest first", count(len(seen.Drift.Changes), "change"))},
	}
}

func (d booklet) draw(f Facts, page int, posted bool) []slack.Block {
	pages, all := paged(d.chunks)
	page = max(min(page, len(pages)-1), 0)
	s := &sheet{unique: fmt.Sprintf("diff/%s/%d", f.Run.ID, page)}
	if page == 0 {
		s.lines(d.summary...)
	}
	first := 1
	for _, p := range pages[:page] {
		first += len(p)
	}
	shown := pages[page]
	s.small(fmt.Sprintf("showing %s %d–%d of %d · page %d of %d · %s", d.noun, min(first, all), first+len(shown)-1, all, page+1, len(pages), d.about))
	for _, h := range shown {
		s.lines(link(h.url, code(h.file, longValue)) + h.note)
		s.literal(h.text)
	}
	s.buttons(d.buttons(f, page, len(pages), posted)...)
	return s.blocks
}

func (d booklet) buttons(f Facts, page, pages int, posted bool) (list []button) {
	carry := func(page int) string { return Carry(f.Run.ID, d.digest, fmt.Sprint(page)) }
	if page > 0 {
		list = append(list, button{action: ActionDiffBack, text: "Previous page", value: carry(page - 1), label: fmt.Sprintf("Page %d of %d", page, pages)})
	}
	if page < pages-1 {
		list = append(list, button{action: ActionDiff, text: "Next page", value: carry(page + 1), label: fmt.Sprintf("Page %d of %d", page+2, pages)})
	}
	if !posted {
		list = append(list, button{action: ActionDiffFile, text: "Post it as a file", value: carry(page), label: "Post all of it as a file into the thread"})
	}
	return list
}

// objects are what differs, one chunk for each object.
func objects(d drift.Drift) (list []chunk) {
	for _, g := range grouped(d.Changes) {
		var lines []string
		for _, c := range g.changes {
			lines = append(lines, plainly(c))
		}
		text := strings.Join(lines, "\n")
		h := chunk{file: g.changes[0].Object.Kind + " " + strings.TrimPrefix(g.changes[0].Object.Namespace+"/"+g.changes[0].Object.Name, "/")}
		var cutAway int
		if h.text, cutAway = fit(text); cutAway > 0 {
			h.note = fmt.Sprintf("  showing %d of %d, the file has all", len(lines)-cutAway, len(lines))
		}
		list = append(list, h)
	}
	return append(list, uncounted(d.Noise)...)
}

// uncounted is what differs and is nobody's change, one chunk for each reason.
func uncounted(list []drift.Noise) (chunks []chunk) {
	for _, n := range list {
		lines := n.Paths
		if left := n.Count - len(n.Paths); left > 0 {
			lines = append(slices.Clone(lines), fmt.Sprintf("and %d more", left))
		}
		h := chunk{file: "Not counted: " + n.Why}
		var cutAway int
		if h.text, cutAway = fit(strings.Join(lines, "\n")); cutAway > 0 {
			h.note = fmt.Sprintf("  showing %d of %d, the file has all", len(lines)-cutAway, len(lines))
		}
		chunks = append(chunks, h)
	}
	return chunks
}

// plainly is a change as one line of plain text. A masked value is not there
// to be shown.
func plainly(c drift.Change) string {
	switch {
	case len(c.Path) == 0 && c.Op == manifest.Add:
		return "the whole object: in the cluster, in no Git"
	case len(c.Path) == 0:
		return "the whole object: in Git, missing in the cluster"
	case c.Masked:
		return flat(c.Path.String()) + ": differs; its value is secret and not shown"
	}
	return fmt.Sprintf("%s: %s → %s", flat(c.Path.String()), flat(value(c.Git)), flat(value(c.Live)))
}

// chunk is a hunk as it is shown.
type chunk struct{ file, url, note, text string }

// hunks are those of all edits, each cut to what is read at once.
func hunks(plan book.Plan) (list []chunk) {
	for _, e := range plan.Edits {
		texts := split(e)
		for i, text := range texts {
			h := chunk{file: fmt.Sprintf("%s:%d", e.File, e.Line), url: urlOf(plan, e)}
			if len(texts) > 1 {
				h.note = fmt.Sprintf("  hunk %d of %d", i+1, len(texts))
			}
			var cutAway int
			if h.text, cutAway = fit(text); cutAway > 0 {
				h.note += fmt.Sprintf("  showing %d of %d lines, the file has all", lineCount(text)-cutAway, lineCount(text))
			}
			list = append(list, h)
		}
	}
	return list
}

// split takes a unified diff apart at its hunks, without the names of the
// files, which stand above. An edit without one is shown by its lines.
func split(e manifest.Edit) (texts []string) {
	for line := range strings.Lines(e.Unified) {
		switch {
		case strings.HasPrefix(line, "@@"):
			texts = append(texts, line)
		case len(texts) > 0:
			texts[len(texts)-1] += line
		}
	}
	if len(texts) == 0 {
		texts = []string{strings.Join(append(marked("-", e.Before), marked("+", e.After)...), "\n")}
	}
	return texts
}

func lineCount(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }

// fit cuts a hunk to its bounds and says how many lines that left out.
func fit(text string) (string, int) {
	var kept []string
	size := 0
	for line := range strings.Lines(strings.TrimSuffix(text, "\n")) {
		line = cut(visible(strings.TrimRight(line, "\r\n")), maxDiffWidth)
		if size += utf8.RuneCountInString(line) + 1; size > maxHunk {
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n"), lineCount(text) - len(kept)
}

// paged puts hunks onto pages; there is always one.
func paged(all []chunk) (pages [][]chunk, n int) {
	size := maxPage
	for _, h := range all {
		n++
		size += utf8.RuneCountInString(h.text)
		if last := len(pages) - 1; last >= 0 && size <= maxPage && len(pages[last]) < maxHunks {
			pages[last] = append(pages[last], h)
			continue
		}
		pages, size = append(pages, []chunk{h}), utf8.RuneCountInString(h.text)
	}
	if len(pages) == 0 {
		pages = [][]chunk{nil}
	}
	return pages, n
}

// File is something to be put into a thread as a file.
type File struct {
	Name, Title string
	Content     []byte
}

// DiffFile is all of what Diff shows: of a plan, the patch as `git apply`
// takes it.
func DiffFile(f Facts) File {
	t := f.target()
	plan, planned := book.PlanIn(f.Run)
	if !planned {
		d := pages(f)
		var b strings.Builder
		seen, _ := book.SeenIn(f.Run)
		for _, g := range grouped(seen.Drift.Changes) {
			fmt.Fprintf(&b, "%s %s\n", g.changes[0].Object.Kind, strings.TrimPrefix(g.changes[0].Object.Namespace+"/"+g.changes[0].Object.Name, "/"))
			for _, c := range g.changes {
				b.WriteString("  " + plainly(c) + "\n")
			}
		}
		for _, h := range uncounted(seen.Drift.Noise) {
			fmt.Fprintf(&b, "%s\n  %s\n", flat(h.file), strings.ReplaceAll(h.text, "\n", "\n  "))
		}
		return File{Name: "changes-" + short(d.digest) + ".txt", Title: fmt.Sprintf("%s in %s: all that differs from Git", t.Name, t.Cluster), Content: []byte(b.String())}
	}
	var b strings.Builder
	for _, e := range plan.Edits {
		if patch := e.Patch(); patch != "" {
			b.WriteString(patch)
			continue
		}
		fmt.Fprintf(&b, "--- %s:%d\n%s\n", e.File, e.Line, strings.Join(append(marked("-", e.Before), marked("+", e.After)...), "\n"))
	}
	return File{
		Name:    "plan-" + short(plan.Digest) + ".patch",
		Title:   fmt.Sprintf("%s in %s: the whole diff of plan %s", t.Name, t.Cluster, short(plan.Digest)),
		Content: []byte(b.String()),
	}
}
