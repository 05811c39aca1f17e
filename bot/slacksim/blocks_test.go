package slacksim

import (
	"testing"

	"reconcilebot/bot/slacksim/blockkit"
)

func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"section","text":{"type":"mrkdwn","text":"x"},"accessory":{"type":"overflow","options":[]}}]`)
	f.Add(`[{"type":"input","element":{"type":"checkboxes","options":[{"value":1}]}}]`)
	f.Add(`[{"type":"table","rows":[1,[2]]},null,{"type":5}]`)
	sim, err := New(testSeed(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, raw string) {
		blocks, bad := sim.blocks(raw, blockkit.Message)
		if bad == nil {
			_ = blocksText(blocks)
			_ = buttons(blocks)
			sim.inspectContent("fuzz", "", blocks)
		}
	})
}
