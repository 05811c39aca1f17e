package slacksim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack/socketmode"
)

const seeking = `[{"type":"actions","block_id":"b","elements":[{"type":"external_select","action_id":"seek","min_query_length":2},
 {"type":"static_select","action_id":"pick","initial_option":{"text":{"type":"plain_text","text":"One"},"value":"1"},"options":[{"text":{"type":"plain_text","text":"One"},"value":"1"},{"text":{"type":"plain_text","text":"Two"},"value":"2"}]},
 {"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]},
 {"type":"input","block_id":"note","label":{"type":"plain_text","text":"Note"},"element":{"type":"plain_text_input","action_id":"text"}}]`

// suggesting acknowledges requests for options with the given payload.
func suggesting(payload any) func(*socketmode.Client, socketmode.Event) {
	return func(app *socketmode.Client, e socketmode.Event) {
		switch {
		case e.Request == nil || e.Request.EnvelopeID == "":
		case strings.Contains(string(e.Request.Payload), `"block_suggestion"`):
			app.Ack(*e.Request, payload)
		default:
			app.Ack(*e.Request)
		}
	}
}

func choice(text, value string) obj {
	return obj{"text": obj{"type": "plain_text", "text": text}, "value": value}
}

func TestOptionsComeFromTheApp(t *testing.T) {
	w := start(t, Options{})
	w.run(t, suggesting(obj{"options": []obj{choice("payments-web", "p"), choice("payments-db", "d")}}))
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	alice := w.As("alice").In("C0INC")
	if _, err := alice.Suggest(t.Context(), ts, "seek", "p"); err == nil || !strings.Contains(err.Error(), "from 2 characters") {
		t.Errorf("one character: %v", err)
	}
	if _, err := alice.Act(t.Context(), ts, "seek", "p"); err == nil {
		t.Error("an option was chosen that was not offered yet")
	}
	offered, err := alice.Suggest(t.Context(), ts, "seek", "pay")
	if err != nil || fmt.Sprint(offered) != "[{payments-web p} {payments-db d}]" {
		t.Fatalf("offered %v, %v", offered, err)
	}
	if _, err := alice.Act(t.Context(), ts, "seek", "payments-db"); err != nil {
		t.Error(err)
	}
	if _, err := w.As("bob").In("C0INC").Act(t.Context(), ts, "seek", "payments-db"); err == nil {
		t.Error("bob chose what was offered to alice")
	}
	w.ExpectNoFindings(t)
}

func TestOptionsThatSlackRefuses(t *testing.T) {
	many := []obj{}
	for n := range 101 {
		many = append(many, choice("x", fmt.Sprint(n)))
	}
	for name, c := range map[string]struct {
		answer any
		want   string
	}{
		"none":            {nil, "holds no options"},
		"something else":  {obj{"text": "x"}, "neither options nor option_groups"},
		"a hundred and 1": {obj{"options": many}, "no more than 100 items"},
		"without a value": {obj{"options": []obj{{"text": obj{"type": "plain_text", "text": "x"}}}}, "value"},
		"twice":           {obj{"options": []obj{choice("a", "1"), choice("b", "1")}}, "unique"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{})
			w.run(t, suggesting(c.answer))
			ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
			_, err := w.As("alice").In("C0INC").Suggest(t.Context(), ts, "seek", "pay")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if f := w.Findings(); len(f) != 1 || f[0].Rule != RuleAckPayload {
				t.Errorf("findings %v", f)
			}
		})
	}
}

func TestOptionsInAModal(t *testing.T) {
	w := start(t, Options{})
	w.run(t, suggesting(obj{"option_groups": []obj{{"label": obj{"type": "plain_text", "text": "Apps"}, "options": []obj{choice("payments-web", "p")}}}}))
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	alice := w.As("alice").In("C0INC")
	inv, err := alice.Click(t.Context(), ts, "go")
	if err != nil {
		t.Fatal(err)
	}
	view := `{"type":"modal","callback_id":"m","title":{"type":"plain_text","text":"T"},"submit":{"type":"plain_text","text":"Go"},"blocks":[
	 {"type":"input","block_id":"app","label":{"type":"plain_text","text":"App"},"element":{"type":"external_select","action_id":"a"}}]}`
	if o := w.call(t, "views.open", map[string]string{"trigger_id": inv.TriggerID, "view": view}); o["ok"] != true {
		t.Fatal(o)
	}
	if _, err := alice.SuggestInView(t.Context(), "", "app", "pay"); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Submit(t.Context(), "", map[string]string{"app": "payments-web"}); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	sent, _ := decode(e[len(e)-1].Payload)["view"].(obj)
	if got := string(encode(sent["state"])); !strings.Contains(got, `"value":"p"`) {
		t.Errorf("submitted %s", got)
	}
}

// TestWhatWasChosenGoesAlong: a button's payload says what stands in the
// message's other elements, for the person who pressed it.
func TestWhatWasChosenGoesAlong(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	alice, bob := w.As("alice").In("C0INC"), w.As("bob").In("C0INC")
	if _, err := alice.Act(t.Context(), ts, "pick", "2"); err != nil {
		t.Fatal(err)
	}
	if err := alice.Fill(ts, map[string]string{"note": "because"}); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[*Place][]string{
		alice: {`"value":"2"`, `"value":"because"`},
		bob:   {`"value":"1"`, `"value":null`},
	} {
		if _, err := who.Click(t.Context(), ts, "go"); err != nil {
			t.Fatal(err)
		}
		e := w.Envelopes()
		state := string(encode(decode(e[len(e)-1].Payload)["state"]))
		for _, part := range want {
			if !strings.Contains(state, part) {
				t.Errorf("%s: the state is %s, want %s in it", who.user, state, part)
			}
		}
	}
}
