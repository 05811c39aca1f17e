package slacksim

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// surface is where blocks are shown; not every block may appear everywhere.
type surface string

const (
	surfaceMessage surface = "message"
	surfaceModal   surface = "modal"
	surfaceHome    surface = "home"
)

// blocks reads, checks and completes blocks as Slack stores them.
func (s *Sim) blocks(raw string, on surface) ([]Block, *failure) {
	if raw == "" || raw == "null" {
		return nil, nil
	}
	var bodies []obj
	if err := json.Unmarshal([]byte(raw), &bodies); err != nil {
		return nil, fail("invalid_blocks_format")
	}
	if faults := checkBlocks(bodies, on); len(faults) > 0 {
		return nil, faults.failure("invalid_blocks")
	}
	if on == surfaceMessage && totalText(bodies) > s.opts.MaxTotalText {
		return nil, fail("msg_blocks_too_long")
	}
	return s.complete(bodies), nil
}

// complete adds what Slack adds: ids where the app gave none, and the flags of
// text objects.
func (s *Sim) complete(bodies []obj) []Block {
	rules := elementLimits()
	out := make([]Block, 0, len(bodies))
	for _, b := range bodies {
		if str(b["block_id"]) == "" {
			b["block_id"] = s.secret(5)
		}
		walk(b, func(o obj) {
			switch o["type"] {
			case "plain_text":
				setDefault(o, "emoji", true)
			case "mrkdwn":
				setDefault(o, "verbatim", false)
			}
			if rules[str(o["type"])].acts && str(o["action_id"]) == "" {
				o["action_id"] = s.secret(5)
			}
		})
		out = append(out, Block{Type: str(b["type"]), ID: str(b["block_id"]), Raw: encode(b)})
	}
	return out
}

func setDefault(o obj, key string, value any) {
	if _, ok := o[key]; !ok {
		o[key] = value
	}
}

func totalText(bodies []obj) int {
	n := 0
	for _, b := range bodies {
		walk(b, func(o obj) {
			if t, ok := o["text"].(string); ok {
				n += utf8.RuneCountInString(t)
			}
		})
	}
	return n
}

// blockFault is one thing that is wrong, and where.
type blockFault struct{ what, pointer string }

type blockFaults []blockFault

// failure has the form in which Slack's detail reaches the app.
func (f blockFaults) failure(code string) *failure {
	var errors, messages []string
	for _, e := range f {
		line := fmt.Sprintf("%s [json-pointer:%s]", e.what, e.pointer)
		errors = append(errors, line)
		messages = append(messages, "[ERROR] "+line)
	}
	return &failure{code, obj{"errors": errors, "response_metadata": obj{"messages": messages}}}
}

func blocksValidate(s *Sim, c *call) (obj, *failure) {
	var bodies []obj
	if json.Unmarshal([]byte(c.args["blocks"]), &bodies) != nil {
		return nil, fail("invalid_blocks_format")
	}
	if faults := checkBlocks(bodies, surfaceMessage); len(faults) > 0 {
		return nil, faults.failure("invalid_blocks")
	}
	return obj{}, nil
}
