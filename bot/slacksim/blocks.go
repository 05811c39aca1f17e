package slacksim

import (
	"encoding/json"
	"unicode/utf8"

	"reconcilebot/bot/slacksim/blockkit"
)

// blocks reads, checks and completes blocks as Slack stores them.
func (s *Sim) blocks(raw string, on blockkit.Surface) ([]Block, *failure) {
	if raw == "" || raw == "null" {
		return nil, nil
	}
	var bodies []obj
	if err := json.Unmarshal([]byte(raw), &bodies); err != nil {
		return nil, fail("invalid_blocks_format")
	}
	if faults := blockkit.Check(bodies, on); len(faults) > 0 {
		return nil, refused("invalid_blocks", faults)
	}
	if on == blockkit.Message && totalText(bodies) > s.opts.MaxTotalText {
		return nil, fail("msg_blocks_too_long")
	}
	return s.complete(bodies), nil
}

// complete adds what Slack adds: ids where the app gave none, and the flags of
// text objects.
func (s *Sim) complete(bodies []obj) []Block {
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
			if blockkit.Acts(str(o["type"])) && str(o["action_id"]) == "" {
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

// refused has the form in which Slack's detail reaches an app.
func refused(code string, faults []blockkit.Fault) *failure {
	var errors, messages []string
	for _, f := range faults {
		errors = append(errors, f.String())
		messages = append(messages, "[ERROR] "+f.String())
	}
	return &failure{code, obj{"errors": errors, "response_metadata": obj{"messages": messages}}}
}
