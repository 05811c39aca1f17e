package slacksim

import (
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/socketmode"
)

const inputView = `{"type":"modal","callback_id":"adopt","notify_on_close":true,"submit":{"type":"plain_text","text":"Go"},
 "title":{"type":"plain_text","text":"Adopt"},"blocks":[
 {"type":"input","block_id":"why","label":{"type":"plain_text","text":"Why?"},"element":{"type":"plain_text_input","action_id":"t","min_length":5}},
 {"type":"input","block_id":"how","optional":true,"label":{"type":"plain_text","text":"How?"},"element":{"type":"static_select","action_id":"s",
  "options":[{"text":{"type":"plain_text","text":"Now"},"value":"now"},{"text":{"type":"plain_text","text":"Later"},"value":"later"}]}},
 {"type":"input","block_id":"also","optional":true,"label":{"type":"plain_text","text":"Also"},"element":{"type":"checkboxes","action_id":"c",
  "options":[{"text":{"type":"plain_text","text":"A"},"value":"a"},{"text":{"type":"plain_text","text":"B"},"value":"b"}]}}]}`

// open shows the view to alice and returns its id.
func (w workspace) open(t *testing.T, view string) string {
	t.Helper()
	w.mu.Lock()
	trigger := w.trigger("U0ALICE", "")
	w.mu.Unlock()
	o := w.call(t, "views.open", map[string]string{"trigger_id": trigger, "view": view})
	if o["ok"] != true {
		t.Fatalf("open: %v", o)
	}
	v, _ := o["view"].(obj)
	return str(v["id"])
}

func TestATriggerOpensOneModalWithinThreeSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		wait  time.Duration
		uses  int
		guide bool
		want  string
	}{
		"in time":                {3 * time.Second, 1, false, ""},
		"twice":                  {0, 2, false, "exchanged_trigger_id"},
		"late":                   {3*time.Second + 1, 1, false, "expired_trigger_id"},
		"late, by the guide":     {4 * time.Second, 1, true, "trigger_expired"},
		"twice, as guide has it": {0, 2, true, "trigger_exchanged"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewManualClock(time.Unix(1_800_000_000, 0))
			w := start(t, Options{Clock: clock, GuideTriggerErrors: c.guide})
			w.mu.Lock()
			trigger := w.trigger("U0ALICE", "")
			w.mu.Unlock()
			clock.Advance(c.wait)
			var o obj
			for range c.uses {
				o = w.call(t, "views.open", map[string]string{"trigger_id": trigger, "view": smallView})
			}
			if got := str(o["error"]); got != c.want {
				t.Errorf("answered %v, want %q", o, c.want)
			}
		})
	}
}

func TestWhatSlackRefusesBeforeTheAppSeesIt(t *testing.T) {
	w := start(t, Options{})
	id := w.open(t, inputView)
	for name, c := range map[string]struct {
		values map[string]string
		bad    string
		err    string
	}{
		"nothing typed":     {map[string]string{}, "required", ""},
		"blanks only":       {map[string]string{"why": "   "}, "required", ""},
		"too short":         {map[string]string{"Why?": "four"}, "at least 5", ""},
		"no such input":     {map[string]string{"where": "x"}, "", `no input "where"`},
		"no such option":    {map[string]string{"why": "because", "how": "never"}, "", `no option "never"`},
		"no such check box": {map[string]string{"why": "because", "also": "a,z"}, "", `no option "z"`},
	} {
		t.Run(name, func(t *testing.T) {
			inv, err := w.As("alice").Submit(t.Context(), id, c.values)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !strings.Contains(inv.Errors["why"], c.bad) {
				t.Errorf("got %v, %v, want %q", inv, err, c.bad)
			}
		})
	}
	if len(w.Envelopes()) != 0 {
		t.Error("the app was told")
	}
}

// answering acknowledges a submission with a payload.
func answering(payload any) func(*socketmode.Client, socketmode.Event) {
	return func(app *socketmode.Client, e socketmode.Event) {
		if e.Request != nil && e.Request.EnvelopeID != "" {
			app.Ack(*e.Request, payload)
		}
	}
}

func TestWhatAnAppAnswersToASubmission(t *testing.T) {
	second := obj{"type": "modal", "title": obj{"type": "plain_text", "text": "Second"}, "blocks": []any{}}
	for name, c := range map[string]struct {
		answer any
		title  string // of the view that is then open
		bad    string
		err    string
	}{
		"closed":                      {nil, "", "", ""},
		"closed by an empty object":   {obj{}, "", "", ""},
		"cleared":                     {obj{"response_action": "clear"}, "", "", ""},
		"another view in its place":   {obj{"response_action": "update", "view": second}, "Second", "", ""},
		"another view over it":        {obj{"response_action": "push", "view": second}, "Second", "", ""},
		"an error at the input":       {obj{"response_action": "errors", "errors": obj{"why": "No."}}, "Adopt", "No.", ""},
		"an error at no input":        {obj{"response_action": "errors", "errors": obj{"what": "No."}}, "Adopt", "", "no input block"},
		"an action that is none":      {obj{"response_action": "open"}, "Adopt", "", "unknown response_action"},
		"a view that Slack refuses":   {obj{"response_action": "update", "view": obj{"type": "modal"}}, "Adopt", "", "invalid_arguments"},
		"an error without any errors": {obj{"response_action": "errors"}, "Adopt", "", "without errors"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{})
			w.run(t, answering(c.answer))
			id := w.open(t, inputView)
			inv, err := w.As("alice").Submit(t.Context(), id, map[string]string{"why": "because", "how": "Later", "also": "a, b"})
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("got %v, want %q", err, c.err)
			}
			if inv.Errors["why"] != c.bad {
				t.Errorf("errors %v", inv.Errors)
			}
			title := ""
			if v := w.As("alice").OpenView(); v != nil {
				title = v.Title
			}
			if title != c.title {
				t.Errorf("then %q is open, want %q", title, c.title)
			}
		})
	}
}

func TestTheStateOfASubmission(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	id := w.open(t, inputView)
	if _, err := w.As("alice").Submit(t.Context(), id, map[string]string{"why": "because", "s": "later"}); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	view, _ := decode(e[len(e)-1].Payload)["view"].(obj)
	got := string(encode(view["state"]))
	want := `{"values":{"also":{"c":{"selected_options":[],"type":"checkboxes"}},` +
		`"how":{"s":{"selected_option":{"text":{"emoji":true,"text":"Later","type":"plain_text"},"value":"later"},"type":"static_select"}},` +
		`"why":{"t":{"type":"plain_text_input","value":"because"}}}}`
	if got != want {
		t.Errorf("state\n%s\nwant\n%s", got, want)
	}
}

func TestClosingIsToldWhenAskedFor(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	id := w.open(t, inputView)
	inv, err := w.As("alice").CloseView(t.Context(), id)
	if err != nil || inv.EnvelopeID == "" || w.As("alice").OpenView() != nil {
		t.Errorf("closed with %+v, %v", inv, err)
	}
}

func TestAViewIsUpdatedOnlyByWhoKnowsItsHash(t *testing.T) {
	w := start(t, Options{})
	id := w.open(t, inputView)
	form := map[string]string{"view_id": id, "view": smallView, "hash": "old"}
	if o := w.call(t, "views.update", form); o["error"] != "hash_conflict" {
		t.Errorf("an old hash answered %v", o)
	}
	form["hash"] = w.As("alice").OpenView().Hash
	if o := w.call(t, "views.update", form); o["ok"] != true || w.As("alice").OpenView().Title != "Title" {
		t.Errorf("the right hash answered %v", o)
	}
}

func TestAtMostThreeViewsLieOverEachOther(t *testing.T) {
	w := start(t, Options{})
	id := w.open(t, smallView)
	for n := range 3 {
		w.mu.Lock()
		trigger := w.trigger("U0ALICE", id)
		w.mu.Unlock()
		o := w.call(t, "views.push", map[string]string{"trigger_id": trigger, "view": smallView})
		if want := n < 2; (o["ok"] == true) != want {
			t.Errorf("push %d answered %v", n+1, o)
		}
	}
}
