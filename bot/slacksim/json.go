package slacksim

import "encoding/json"

// obj is a JSON object whose keys the simulator does not all know: blocks,
// payloads and answers, whose shapes are Slack's.
type obj = map[string]any

func decode(raw []byte) obj {
	var o obj
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func decodeAny(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

func str(v any) string { s, _ := v.(string); return s }

func list(v any) []any { l, _ := v.([]any); return l }

// textOf reads a text object, or a bare string.
func textOf(v any) string {
	if o, ok := v.(obj); ok {
		return str(o["text"])
	}
	return str(v)
}
