package commands

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

func TestFullDiff(t *testing.T) {
	r := newRig(t)
	for i := range 9 {
		r.edits = append(r.edits, manifest.Edit{File: fmt.Sprintf("web-%d.yaml", i), Line: 3, Before: "a\n", After: "b\n", Unified: fmt.Sprintf("--- a/web-%[1]d.yaml\n+++ b/web-%[1]d.yaml\n@@ -3 +3 @@\n-a\n+b\n", i)})
	}
	r.types("carol", "incident INC-1234")
	r.types("alice", "adopt payments-web because slow")
	id := r.run("payments-web").ID
	page := func(reply Reply) string {
		if reply.Modal == nil {
			t.Fatalf("no modal was opened: %s", said(reply))
		}
		return fmt.Sprint(pressable(reply.Modal.Blocks.BlockSet))
	}
	// Who may see, may see the diff.
	first := r.clicks("eve", card.ActionDiff, card.Carry(id, "plan-adopt", "0"))
	if got := page(first); !strings.Contains(got, card.ActionDiff+" ") || strings.Contains(got, card.ActionDiffBack) {
		t.Errorf("the first page leads to %s", got)
	}
	last := r.clicks("eve", card.ActionDiff, card.Carry(id, "plan-adopt", "1"))
	if got := page(last); !strings.Contains(got, card.ActionDiffBack) {
		t.Errorf("the last page leads to %s", got)
	}
	whole := r.clicks("eve", card.ActionDiffFile, card.Carry(id, "plan-adopt", "1"))
	if whole.File == nil || whole.File.Run != id || whole.File.Room != room || strings.Count(string(whole.File.Content), "+++ b/") != 9 {
		t.Errorf("the file is %+v", whole.File)
	}
	if strings.Contains(page(whole), card.ActionDiffFile) {
		t.Error("what was posted can be posted again")
	}
	for name, value := range map[string]string{"another plan": card.Carry(id, "other", "0"), "no digest": card.Carry(id, "")} {
		if got := r.clicks("eve", card.ActionDiff, value); got.Modal != nil || !strings.Contains(said(got), "The plan changed") {
			t.Errorf("%s: %q", name, said(got))
		}
	}
	// A page that was never there is the nearest one.
	for _, odd := range []string{"99", "-1", "x", ""} {
		page(r.clicks("eve", card.ActionDiff, card.Carry(id, "plan-adopt", odd)))
	}
}

// Before there is a plan, the card of many changes leads to all of them.
func TestAllChanges(t *testing.T) {
	r := opened(t)
	first := r.clicks("eve", card.ActionDiff, card.Carry(r.run("payments-web").ID, r.drift().Digest, "0"))
	if first.Modal == nil || first.Modal.Title.Text != "All changes" {
		t.Fatalf("%q", said(first))
	}
	whole := r.clicks("eve", card.ActionDiffFile, card.Carry(r.run("payments-web").ID, r.drift().Digest, "0"))
	if whole.File == nil || !strings.Contains(string(whole.File.Content), "spec.replicas: 3 → 6") {
		t.Errorf("the file is %+v", whole.File)
	}
	r.wants(r.clicks("eve", card.ActionDiff, card.Carry(r.run("payments-web").ID, "other")), "What differs changed")
}

// The card warns of others on the same branch, and names them only to their
// own channel.
func TestBeside(t *testing.T) {
	r := opened(t)
	r.types("dave", "drift ledger-api")
	mine, other := r.run("payments-web"), r.run("ledger-api")
	if got := r.facts(mine).Beside; len(got) != 0 {
		t.Errorf("without a repository nothing is on the same branch: %+v", got)
	}
	on := func(id state.ReconciliationID, change func(*book.Seen)) {
		if _, err := r.DB.Change(id, func(run *state.Reconciliation, _ time.Time) ([]state.Said, error) {
			seen, _ := book.SeenIn(*run)
			seen.Drift.RepoURL, seen.Drift.TargetRevision = "https://github.example.com/acme/gitops.git", "main"
			change(&seen)
			raw, err := json.Marshal(seen)
			step := run.Steps["survey"]
			step.Result = raw
			run.Steps["survey"] = step
			return nil, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	on(mine.ID, func(*book.Seen) {})
	for name, tt := range map[string]struct {
		change func(*book.Seen)
		want   int
	}{
		"the same branch":       {func(*book.Seen) {}, 1},
		"by another address":    {func(s *book.Seen) { s.Drift.RepoURL = "git@github.example.com:acme/gitops.git" }, 1},
		"another branch":        {func(s *book.Seen) { s.Drift.TargetRevision = "next" }, 0},
		"another repository":    {func(s *book.Seen) { s.Drift.RepoURL = "https://github.example.com/acme/other.git" }, 0},
		"nothing differs there": {func(s *book.Seen) { s.Drift.Changes = nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			on(other.ID, func(s *book.Seen) { s.Drift.Changes = r.drift().Changes; tt.change(s) })
			if got := r.facts(r.run("payments-web")).Beside; len(got) != tt.want {
				t.Errorf("beside it are %+v", got)
			}
		})
	}
}

// pressable lists what can be pressed, with what each carries.
func pressable(blocks []slack.Block) (list []string) {
	for _, b := range blocks {
		if actions, ok := b.(*slack.ActionBlock); ok {
			for _, e := range actions.Elements.ElementSet {
				if button, ok := e.(*slack.ButtonBlockElement); ok {
					list = append(list, button.ActionID+" "+button.Value)
				}
			}
		}
	}
	return list
}
