package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// TestFullDiff has somebody read a diff that is longer than a card, page by
// page, and put the whole of it into the thread.
func TestFullDiff(t *testing.T) {
	r := newRig(t, slacksim.Options{Canaries: []string{"hunter2"}})
	r.open()
	r.play(longBooks(), func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") })
	r.start()
	r.slash("alice", "inc-1234", "incident INC-1234")
	r.settled()
	r.slash("alice", "inc-1234", "adopt payments-web because the queue is backing up")
	var m slacksim.Message
	r.wait("the plan on the card", func() bool {
		m = r.card("inc-1234", "")
		_, ok := m.Button(card.ActionDiff)
		return ok
	})
	bob := r.sim.As("bob")
	r.press(bob.In("inc-1234"), m, card.ActionDiff)
	says := func(words string) func() bool {
		return func() bool {
			v := r.sim.View("bob")
			if v == nil {
				return false
			}
			for _, b := range v.Blocks {
				if strings.Contains(string(b.Raw), words) {
					return true
				}
			}
			return false
		}
	}
	r.wait("the first page", says("page 1 of 2"))
	act := func(action string) {
		if _, err := bob.ActInView(t.Context(), r.sim.View("bob").ID, action, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	act(card.ActionDiff)
	r.wait("the second page", says("page 2 of 2"))
	stale := view{ID: r.sim.View("bob").ID, Hash: "1.stale"}
	if err := r.bot.answers.turnPage(t.Context(), *reasonModal("x"), &stale); err != nil || !says("page 2 of 2")() {
		t.Errorf("a button of a page that is shown no more: %v", err)
	}
	act(card.ActionDiffBack)
	r.wait("the first page again", says("page 1 of 2"))
	act(card.ActionDiffFile)
	r.wait("the file in the thread", func() bool {
		files := r.sim.Files()
		return len(files) == 1 && files[0].Name == "plan-p1.patch" && strings.Contains(fmt.Sprint(r.sim.Thread("inc-1234", m.TS)), files[0].ID)
	})
	r.noFindings()
}

// TestFileIsSentOnce: handling the same click again sends no second file.
func TestFileIsSentOnce(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	p := r.bot.outbox.post
	stands, err := p.once(t.Context(), post{key: cardKey("r-1"), room: "C0INC", message: card.Answer("the card")})
	if err != nil || stands.ts == "" {
		t.Fatal(err)
	}
	f := commands.ThreadFile{File: card.File{Name: "a.patch", Title: "a", Content: []byte(strings.Repeat("+ä\n", maxFile/3))}, Run: "r-1", Room: "C0INC"}
	q := &question{d: state.Delivery{Mint: "m1", Received: time.Now()}}
	for range 2 {
		if err := r.bot.answers.upload(t.Context(), q, f); err != nil {
			t.Fatal(err)
		}
	}
	files := r.sim.Files()
	if len(files) != 1 || files[0].Size > maxFile {
		t.Errorf("the files are %+v", files)
	}
	r.noFindings()
}

// TestFilesGo: the newest takes the place of those before it, and goes a day
// after the end.
func TestFilesGo(t *testing.T) {
	r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
	r.start()
	if _, _, err := r.db.Open(state.Reconciliation{ID: "r-1", Room: "C0INC", Target: "web", OpenedBy: state.Person{ID: "U0ALICE"}}); err != nil {
		t.Fatal(err)
	}
	r.settled()
	a := r.bot.answers
	names := func(want ...string) {
		t.Helper()
		var got []string
		for _, f := range r.sim.Files() {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the files are %q, want %q", got, want)
		}
	}
	put := func(name string) {
		t.Helper()
		f := commands.ThreadFile{File: card.File{Name: name, Title: name, Content: []byte("+a\n")}, Run: "r-1", Room: "C0INC"}
		if err := a.upload(t.Context(), &question{d: state.Delivery{Mint: name, Received: time.Now()}}, f); err != nil {
			t.Fatal(err)
		}
	}
	put("first.patch")
	names("first.patch")
	r.sim.Fault(slacksim.Rule{Method: "files.delete", Error: "internal_error", Times: 1})
	put("second.patch")
	names("first.patch", "second.patch")
	a.post.gates.opened("files.delete", time.Now().Add(time.Second))
	put("third.patch")
	names("third.patch")
	a.discard(t.Context())
	names("third.patch")
	_, err := r.db.Change("r-1", func(rec *state.Reconciliation, now time.Time) ([]state.Said, error) {
		rec.Closed, rec.Outcome = now, "left"
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.discard(t.Context())
	names("third.patch")
	a.now = func() time.Time { return time.Now().Add(fileLife + time.Minute) }
	a.discard(t.Context())
	names()
	if left, err := r.db.Messages(filePrefix); err != nil || len(left) != 0 {
		t.Errorf("still remembered: %v, %v", left, err)
	}
	r.noFindings()
}

func longBooks() []runbook.Book {
	list := books()
	for i, b := range list {
		for j, s := range b.Steps {
			if s.ID() != "plan" {
				continue
			}
			steps := append([]runbook.Step{}, b.Steps...)
			steps[j] = step{"plan", func(r state.Reconciliation) runbook.Outcome {
				seen, _ := book.SeenIn(r)
				p := book.Plan{Seen: seen, Digest: "p1", Made: time.Now(), Needs: book.Needs{Approvals: 1, From: []string{"bob"}, Expires: time.Now().Add(time.Hour)}}
				for n := range 9 {
					p.Edits = append(p.Edits, manifest.Edit{File: fmt.Sprint("web-", n, ".yaml"), Line: 1, Before: "a\n", After: "hunter2\n", Unified: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+hunter2\n"})
				}
				return runbook.Result[book.Plan]{Step: "plan"}.Done(p)
			}}
			list[i].Steps = steps
		}
	}
	return list
}
