package card

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reconcilebot/bot/slacksim"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/manifest"
)

// Slack's own rules for blocks, as the local Slack knows them: written by
// others than the limits above.
func TestSlackTakesEveryCard(t *testing.T) {
	manifest, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sim, err := slacksim.New(slacksim.Seed{Team: slacksim.Team{ID: "T0HOME"}, Manifest: manifest}, slacksim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		sim.Close()
		srv.Close()
	})
	validate := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.PostForm(srv.URL+"/api/blocks.validate", url.Values{"blocks": {string(raw)}})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer struct {
			OK     bool
			Error  string
			Errors []any
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || !answer.OK {
			t.Errorf("%s: %s %v %v", name, answer.Error, answer.Errors, err)
		}
	}
	for _, n := range Gallery() {
		validate(n.Name, n.Blocks)
	}
}

// https://docs.slack.dev/reference/views/modal-views
func TestQuestionsFitIntoAModal(t *testing.T) {
	long := strings.Repeat("<x> ", 500)
	for _, q := range []Question{
		{Title: "Adopt into Git", Submit: "Make the plan", About: "a", Label: "Why?", Hint: "h", Example: "e", Carried: Carry("r-1", "d", "adopt")},
		{Title: long, Submit: long, About: long, Label: long, Hint: long, Example: long},
	} {
		m := AskReason(q)
		input := m.Blocks.BlockSet[1].(*slack.InputBlock)
		box := input.Element.(*slack.PlainTextInputBlockElement)
		about := m.Blocks.BlockSet[0].(*slack.SectionBlock).Text.Text
		for _, text := range []struct {
			what, text string
			most       int
		}{
			{"title", m.Title.Text, 24}, {"submit", m.Submit.Text, 24}, {"close", m.Close.Text, 24},
			{"label", input.Label.Text, 2000}, {"hint", input.Hint.Text, 2000}, {"placeholder", box.Placeholder.Text, 150},
			{"text", about, 3000}, {"metadata", m.PrivateMetadata, 3000},
		} {
			if n := utf8.RuneCountInString(text.text); n > text.most {
				t.Errorf("the %s has %d characters of at most %d", text.what, n, text.most)
			}
		}
		if wrong := tokens(about); len(wrong) > 0 {
			t.Error(wrong)
		}
		if input.Optional || input.BlockID != BlockReason || box.MaxLength != MaxReason || box.MinLength < 1 {
			t.Errorf("the reason may be left out: %+v", input)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"<!channel>", "a\u202eb", "&amp;<@U1|x>", "```", "> q", "_x_ *y*", strings.Repeat("e\u0301", 400), "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, drawn := range []string{say(text, 100), code(text, 100), paragraphs(text, 100), link("https://x.example/"+text, "label")} {
			if wrong := tokens(drawn); len(wrong) > 0 {
				t.Errorf("%q is drawn as %q: %v", text, drawn, wrong)
			}
			if strings.ContainsFunc(drawn, hidden) {
				t.Errorf("%q is drawn as %q, with something invisible", text, drawn)
			}
		}
	})
}

// Every page shows something else, and together they show everything.
func TestPagesOfADiff(t *testing.T) {
	f := large(120, 14).Facts
	plan, _ := book.PlanIn(f.Run)
	pages, all := paged(hunks(plan))
	seen := map[string]bool{}
	for i := range pages {
		m := Diff(f, i, false)
		if raw, err := json.Marshal(m); err != nil || len(raw) > 250_000 || len(m.Blocks.BlockSet) > 100 {
			t.Errorf("page %d has %d bytes and %d blocks, %v", i, len(raw), len(m.Blocks.BlockSet), err)
		}
		for _, wrong := range limits(Message{Text: "x", Blocks: m.Blocks.BlockSet}) {
			t.Errorf("page %d: %s", i, wrong)
		}
		for _, h := range pages[i] {
			seen[h.file+h.note] = true
		}
	}
	if len(seen) != all || all != 14*8 {
		t.Errorf("%d of %d hunks are on the pages", len(seen), all)
	}
	// A hunk longer than a page says what it leaves out; the file does not.
	long := large(1, 1)
	e := manifest.Edit{File: "a.yaml", Line: 1, Unified: "--- a/a.yaml\n+++ b/a.yaml\n@@ -1 +1 @@\n" + strings.Repeat("+line\n", 1000)}
	p := plan
	p.Edits = []manifest.Edit{e}
	long.leave("plan", p)
	if h := hunks(p); len(h) != 1 || !strings.Contains(h[0].note, "of 1001 lines, the file has all") {
		t.Errorf("a long hunk is %+v", h)
	}
	if got := string(DiffFile(long.Facts).Content); got != e.Unified {
		t.Errorf("the file has %d bytes of %d", len(got), len(e.Unified))
	}
}
