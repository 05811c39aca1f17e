package bot

import (
	"encoding/json"

	"github.com/slack-go/slack"

	"reconcilebot/commands/card"
)

// clean cuts secrets out of a message, wherever in it they stand.
func (p *poster) clean(m card.Message) card.Message {
	if p.redact == nil {
		return m
	}
	m.Text = p.redact(m.Text)
	blocks, err := p.cleanBlocks(m.Blocks)
	if err != nil {
		// What can't be checked is not sent.
		p.log.Error("a message's blocks can't be checked for secrets; it is sent as text alone", "err", err)
		blocks = nil
	}
	m.Blocks = blocks
	return m
}

func (p *poster) cleanBlocks(blocks []slack.Block) ([]slack.Block, error) {
	if p.redact == nil || len(blocks) == 0 {
		return blocks, nil
	}
	raw, err := json.Marshal(blocks)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	changed := false
	tree = p.cleanTree(tree, &changed)
	if !changed {
		return blocks, nil
	}
	if raw, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	var out slack.Blocks
	err = json.Unmarshal(raw, &out)
	return out.BlockSet, err
}

func (p *poster) cleanTree(v any, changed *bool) any {
	switch v := v.(type) {
	case string:
		out := p.redact(v)
		*changed = *changed || out != v
		return out
	case []any:
		for i := range v {
			v[i] = p.cleanTree(v[i], changed)
		}
	case map[string]any:
		for k := range v {
			v[k] = p.cleanTree(v[k], changed)
		}
	}
	return v
}
