package slacksim

import (
	"fmt"
	"time"
)

// trigger permits one modal, shortly after a person did something.
type trigger struct {
	user   string
	view   string // the view that the action was made in
	issued time.Time
	spent  bool
	late   bool // came to the app late, by no fault of its own
}

func (s *Sim) trigger(user, view string) string {
	s.seq["trigger"]++
	id := fmt.Sprintf("%d.%d.%s", 7_000_000_000_000+s.seq["trigger"], s.clock.Now().Unix(), s.secret(32))
	s.triggers[id] = &trigger{user: user, view: view, issued: s.clock.Now()}
	return id
}

// spend uses a trigger up. Slack's guide and its method reference name the
// errors differently; Options chooses.
func (s *Sim) spend(method, id string) (*trigger, *failure) {
	expired, exchanged := "expired_trigger_id", "exchanged_trigger_id"
	if s.opts.GuideTriggerErrors {
		expired, exchanged = "trigger_expired", "trigger_exchanged"
	}
	t := s.triggers[id]
	switch {
	case t == nil:
		s.find(RuleTrigger, "%s used a trigger that was never given out", method)
		return nil, fail("invalid_trigger_id")
	case t.spent:
		s.find(RuleTrigger, "%s used a trigger a second time", method)
		return nil, fail(exchanged)
	case s.clock.Now().Sub(t.issued) > s.opts.TriggerLife && t.late:
		return nil, fail(expired)
	case s.clock.Now().Sub(t.issued) > s.opts.TriggerLife:
		s.find(RuleTrigger, "%s used a trigger %s after it was given out", method, s.clock.Now().Sub(t.issued).Round(time.Millisecond))
		return nil, fail(expired)
	}
	t.spent = true
	return t, nil
}
