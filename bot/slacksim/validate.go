package slacksim

import (
	"encoding/json"
	"strings"

	"reconcilebot/bot/slacksim/blockkit"
)

// blocksValidate checks blocks, a view or a message, and tells each fault by
// itself. https://docs.slack.dev/reference/methods/blocks.validate
func blocksValidate(_ *Sim, c *call) (obj, *failure) {
	given := ""
	for _, name := range []string{"blocks", "view", "message"} {
		if c.args[name] == "" {
			continue
		}
		if given != "" {
			return nil, oneOfThree()
		}
		given = name
	}
	if given == "" {
		return nil, oneOfThree()
	}
	faults, f := validate(given, []byte(c.args[given]))
	switch {
	case f != nil:
		return nil, f
	case len(faults) == 0:
		return obj{}, nil
	}
	errors := []obj{}
	for _, f := range faults {
		errors = append(errors, obj{
			"code": "failed_constraint", "message": f.What, "pointer": strings.TrimPrefix(f.Pointer, "/"+given),
			"constraint": obj{"type": f.Constraint, "expected": f.Expected},
		})
	}
	return nil, &failure{"invalid_" + given, obj{"errors": errors}}
}

func oneOfThree() *failure {
	return &failure{"invalid_arguments", obj{"response_metadata": obj{
		"messages": []string{"must provide exactly one of `blocks`, `view`, or `message`"},
	}}}
}

func validate(what string, raw []byte) ([]blockkit.Fault, *failure) {
	var bodies []obj
	if what == "blocks" {
		if json.Unmarshal(raw, &bodies) != nil {
			return nil, fail("invalid_arguments")
		}
		return blockkit.Check(bodies, blockkit.Message), nil
	}
	whole := decode(raw)
	if whole == nil {
		return nil, fail("invalid_arguments")
	}
	if json.Unmarshal(encode(whole["blocks"]), &bodies) != nil {
		return nil, fail("invalid_arguments")
	}
	if what == "message" {
		return blockkit.Check(bodies, blockkit.Message), nil
	}
	return append(blockkit.CheckView(whole), blockkit.Check(bodies, blockkit.Surface(str(whole["type"])))...), nil
}
