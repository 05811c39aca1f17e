package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/manifest"
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
