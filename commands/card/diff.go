package card

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
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

// Diff is the full diff of a plan, a page of it. Page counts from 0; one that
// is out of range is the nearest there is. posted says that the whole is in
// the thread by now.
func Diff(f Facts, page int, posted bool) *slack.ModalViewRequest {
	plan, _ := book.PlanIn(f.Run)
	return &slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackDiff, PrivateMetadata: f.value(plan.Digest),
		Title: plainText("Full diff"), Close: plainText("Close"),
		Blocks: slack.Blocks{BlockSet: diffPage(f, plan, page, posted)},
	}
}

func diffPage(f Facts, plan book.Plan, page int, posted bool) []slack.Block {
	pages, all := paged(hunks(plan))
	page = max(min(page, len(pages)-1), 0)
	s := &sheet{unique: fmt.Sprintf("diff/%s/%d", f.Run.ID, page)}
	if page == 0 {
		s.lines(append([]string{fmt.Sprintf("*%s in %s*", count(len(plan.Seen.Drift.Changes), "change"), count(len(plan.Edits), "file"))},
			changed(f.Run.Book, plan.Seen.Drift)...)...)
	}
	first := 1
	for _, p := range pages[:page] {
		first += len(p)
	}
	shown := pages[page]
	s.small(fmt.Sprintf("showing hunks %d–%d of %d · page %d of %d · plan %s", min(first, all), first+len(shown)-1, all, page+1, len(pages), code(short(plan.Digest), longName)))
	for _, h := range shown {
		s.lines(link(h.url, code(h.file, longValue)) + h.note)
		s.literal(h.text)
	}
	s.buttons(diffButtons(f, plan, page, len(pages), posted)...)
	return s.blocks
}

func diffButtons(f Facts, plan book.Plan, page, pages int, posted bool) (list []button) {
	carry := func(page int) string { return Carry(f.Run.ID, plan.Digest, fmt.Sprint(page)) }
	if page > 0 {
		list = append(list, button{action: ActionDiffBack, text: "Previous page", value: carry(page - 1), label: fmt.Sprintf("Page %d of %d of the diff", page, pages)})
	}
	if page < pages-1 {
		list = append(list, button{action: ActionDiff, text: "Next page", value: carry(page + 1), label: fmt.Sprintf("Page %d of %d of the diff", page+2, pages)})
	}
	if !posted {
		list = append(list, button{action: ActionDiffFile, text: "Post it as a file", value: carry(page), label: "Post the whole diff as a file into the thread"})
	}
	return list
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

// DiffFile is the whole diff of a plan, as `git apply` takes it.
func DiffFile(f Facts) File {
	plan, _ := book.PlanIn(f.Run)
	var b strings.Builder
	for _, e := range plan.Edits {
		if patch := e.Patch(); patch != "" {
			b.WriteString(patch)
			continue
		}
		fmt.Fprintf(&b, "--- %s:%d\n%s\n", e.File, e.Line, strings.Join(append(marked("-", e.Before), marked("+", e.After)...), "\n"))
	}
	t := f.target()
	return File{
		Name:    "plan-" + short(plan.Digest) + ".patch",
		Title:   fmt.Sprintf("%s in %s: the whole diff of plan %s", t.Name, t.Cluster, short(plan.Digest)),
		Content: []byte(b.String()),
	}
}
