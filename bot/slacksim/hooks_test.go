package slacksim

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/socketmode"
)

func (w workspace) use(t *testing.T, responseURL string, body obj) (int, string) {
	t.Helper()
	answer, err := http.Post(responseURL, "application/json", strings.NewReader(string(encode(body))))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// acking is an app that only acknowledges.
func acking(app *socketmode.Client, e socketmode.Event) {
	if e.Request != nil && e.Request.EnvelopeID != "" {
		app.Ack(*e.Request)
	}
}

func TestAResponseURLWorksFiveTimesAlsoWhereTheAppIsNot(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	inv, err := w.As("alice").In("private").Slash(t.Context(), "/reconcile help")
	if err != nil {
		t.Fatal(err)
	}
	for n := range hookUses {
		if code, text := w.use(t, inv.ResponseURL, obj{"text": "answer"}); code != 200 || text != "ok" {
			t.Fatalf("use %d answered %d %s", n+1, code, text)
		}
	}
	if code, text := w.use(t, inv.ResponseURL, obj{"text": "answer"}); code != 404 || text != "used_url" {
		t.Errorf("the sixth use answered %d %s", code, text)
	}
	if e := w.Ephemerals("alice", "private"); len(e) != hookUses {
		t.Errorf("alice sees %d answers", len(e))
	}
	if f := w.Findings(); len(f) != 1 || f[0].Rule != RuleResponseURL {
		t.Errorf("findings %v", f)
	}
}

func TestAResponseURLEndsAfterHalfAnHour(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	w.run(t, acking)
	inv, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help")
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(hookLife)
	if code, _ := w.use(t, inv.ResponseURL, obj{"text": "just in time"}); code != 200 {
		t.Errorf("after half an hour: %d", code)
	}
	clock.Advance(time.Second)
	if code, text := w.use(t, inv.ResponseURL, obj{"text": "late"}); code != 404 || text != "expired_url" {
		t.Errorf("later: %d %s", code, text)
	}
}

func TestWhatAResponseURLDoesToTheMessage(t *testing.T) {
	card := `[{"type":"actions","block_id":"b","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`
	for name, c := range map[string]struct {
		body  obj
		check func(w workspace, ts string) bool
	}{
		"ephemeral by default": {obj{"text": "x"}, func(w workspace, _ string) bool { return len(w.Ephemerals("bob", "C0INC")) == 1 }},
		"in the channel": {obj{"text": "x", "response_type": "in_channel", "replace_original": false}, func(w workspace, _ string) bool {
			return len(w.Messages("C0INC")) == 2
		}},
		"in the thread": {obj{"text": "x", "response_type": "in_channel", "thread_ts": "TS"}, func(w workspace, ts string) bool {
			return len(w.Thread("C0INC", ts)) == 2
		}},
		"in place of the message": {obj{"text": "decided", "replace_original": true}, func(w workspace, _ string) bool {
			m := w.Messages("C0INC")[0]
			return m.Text == "decided" && len(m.Buttons()) == 0 && m.Versions == 2
		}},
		"deleting the message": {obj{"delete_original": true}, func(w workspace, _ string) bool { return len(w.Messages("C0INC")) == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{})
			w.run(t, acking)
			ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "card", "blocks": card})["ts"])
			inv, err := w.As("bob").In("C0INC").ClickButton(t.Context(), ts, "Go")
			if err != nil {
				t.Fatal(err)
			}
			if c.body["thread_ts"] != nil {
				c.body["thread_ts"] = ts
			}
			if code, text := w.use(t, inv.ResponseURL, c.body); code != 200 {
				t.Fatalf("answered %d %s", code, text)
			}
			if !c.check(w, ts) {
				t.Errorf("the channel shows %+v, bob %+v", w.Messages("C0INC"), w.Ephemerals("bob", "C0INC"))
			}
			w.ExpectNoFindings(t)
		})
	}
}

func TestAClickOnAnEphemeralNamesButDoesNotShowIt(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	w.call(t, "chat.postEphemeral", map[string]string{"channel": "C0INC", "user": "U0BOB", "text": "only bob",
		"blocks": `[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`})
	ts := w.Ephemerals("bob", "C0INC")[0].TS
	if _, err := w.As("alice").In("C0INC").ClickButton(t.Context(), ts, "Go"); err == nil {
		t.Error("alice pressed a button that only bob sees")
	}
	if _, err := w.As("bob").In("C0INC").ClickButton(t.Context(), ts, "Go"); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	payload := decode(e[len(e)-1].Payload)
	container, _ := payload["container"].(obj)
	if payload["message"] != nil || container["is_ephemeral"] != true || container["message_ts"] != ts {
		t.Errorf("delivered %v", payload)
	}
}

func TestAClickFromAnotherOrganisation(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "card",
		"blocks": `[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`})["ts"])
	if _, err := w.As("eve").In("C0INC").ClickButton(t.Context(), ts, "Go"); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	var payload struct{ User, Team map[string]string }
	raw := e[len(e)-1].Payload
	if err := json.Unmarshal(raw, &payload); err == nil && (payload.User["team_id"] != "T0EXT" || payload.Team["id"] != "T0HOME") {
		t.Errorf("delivered %s", raw)
	}
}

func TestAClickOnWhatWasThereBefore(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	button := func(text string) string {
		return `[{"type":"actions","elements":[{"type":"button","action_id":"go","value":"` + text + `","text":{"type":"plain_text","text":"` + text + `"}}]}]`
	}
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "1", "blocks": button("first")})["ts"])
	w.call(t, "chat.update", map[string]string{"channel": "C0INC", "ts": ts, "text": "2", "blocks": button("second")})
	bob := w.As("bob").In("C0INC")
	if _, err := bob.ClickButton(t.Context(), ts, "first"); err == nil || !strings.Contains(err.Error(), `"second"`) {
		t.Errorf("the error does not say what is there: %v", err)
	}
	if _, err := bob.ActOnVersion(t.Context(), ts, 1, "first"); err != nil {
		t.Error(err)
	}
}

func TestAMessageShortcut(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := w.post(t, "C0INC", "card")
	bob := w.As("bob").In("C0INC")
	if _, err := bob.MessageShortcut(t.Context(), ts, "reconcile_status"); err != nil {
		t.Error(err)
	}
	if _, err := bob.MessageShortcut(t.Context(), ts, "other"); err == nil {
		t.Error("a shortcut that the manifest does not have was sent")
	}
}
