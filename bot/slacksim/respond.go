package slacksim

import (
	"encoding/json"
	"fmt"
	"slices"
)

// respond carries out the response_action of an acknowledgement.
func (s *Sim) respond(v *View, payload json.RawMessage) (map[string]string, error) {
	var r struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if len(payload) > 0 && string(payload) != "null" {
		if err := json.Unmarshal(payload, &r); err != nil {
			return nil, fmt.Errorf("read the answer to view %s: %w", v.CallbackID, err)
		}
	}
	switch r.Action {
	case "":
		s.closeViews(v, false)
	case "clear":
		s.closeViews(v, true)
	case "errors":
		if err := v.knows(r.Errors); err != nil {
			return nil, err
		}
		v.Errors = r.Errors
		return r.Errors, nil
	case "update", "push":
		next, f := s.parseView(string(r.View))
		if f != nil {
			return nil, fmt.Errorf("%s of view %s: %s %v", r.Action, v.CallbackID, f.code, f.more)
		}
		if r.Action == "update" {
			s.replaceView(v, next)
			return nil, nil
		}
		if f := s.stack(next, v.User, true); f != nil {
			return nil, fmt.Errorf("push over view %s: %s", v.CallbackID, f.code)
		}
	default:
		return nil, fmt.Errorf("view %s was answered with the unknown response_action %q", v.CallbackID, r.Action)
	}
	return nil, nil
}

// knows refuses errors on blocks that take no input: Slack then shows nothing
// but "We had some trouble connecting".
func (v *View) knows(errors map[string]string) error {
	if len(errors) == 0 {
		return fmt.Errorf("view %s was answered with response_action errors but without errors", v.CallbackID)
	}
	for id := range errors {
		if !slices.ContainsFunc(v.Blocks, func(b Block) bool { return b.ID == id && b.Type == "input" }) {
			return fmt.Errorf("view %s has no input block %q to show an error on", v.CallbackID, id)
		}
	}
	return nil
}
