package slacksim

import (
	"strings"
	"testing"
	"time"
)

func TestAttachmentsAreCheckedAndCompleted(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	type args = map[string]string
	post := func(method, raw string) obj {
		return w.call(t, method, args{"channel": "C0INC", "user": "U0ALICE", "text": "x", "attachments": raw})
	}
	o := post("chat.postMessage", `[{"color":"#ff0000","text":"first"},{"title":"second","fallback":"two"},{"blocks":[{"type":"divider"}]}]`)
	m, _ := o["message"].(obj)
	var got []string
	for _, a := range list(m["attachments"]) {
		a, _ := a.(obj)
		got = append(got, strings.Join([]string{str(a["fallback"]), str(a["color"])}, "/"))
	}
	if want := "first/ff0000 two/ [no preview available]/"; strings.Join(got, " ") != want {
		t.Errorf("kept %v, want %s", got, want)
	}
	for name, c := range map[string]struct{ method, raw, want string }{
		"not a list":               {"chat.postMessage", `{"text":"x"}`, "invalid_attachments"},
		"a hundred and one":        {"chat.postMessage", "[" + strings.Repeat(`{"text":"x"},`, 100) + `{"text":"x"}]`, "too_many_attachments"},
		"blocks that are refused":  {"chat.postMessage", `[{"blocks":[{"type":"dividr"}]}]`, "invalid_attachments"},
		"blocks, but only for one": {"chat.postEphemeral", `[{"blocks":[{"type":"divider"}]}]`, "invalid_attachments"},
	} {
		if o := post(c.method, c.raw); o["error"] != c.want {
			t.Errorf("%s: answered %v, want %s", name, o["error"], c.want)
		}
	}
}

func TestAButtonInAnAttachment(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x",
		"attachments": `[{"text":"x"},{"blocks":[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]}]`})["ts"])
	if _, err := w.As("alice").In("C0INC").ClickButton(t.Context(), ts, "Go"); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	container, _ := decode(e[len(e)-1].Payload)["container"].(obj)
	if container["type"] != "message_attachment" || container["attachment_id"] != float64(2) {
		t.Errorf("the container is %v", container)
	}
}

func TestASecretInAnAttachmentIsFound(t *testing.T) {
	w := start(t, Options{Canaries: []string{"hunter2"}})
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "attachments": `[{"text":"hunter2"}]`})
	if f := w.Findings(); len(f) == 0 || f[0].Rule != RuleCanary {
		t.Errorf("findings %v", f)
	}
}

func TestAnUpdateKeepsReplacesOrClearsAttachments(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	type args = map[string]string
	ts := str(w.call(t, "chat.postMessage", args{"channel": "C0INC", "text": "x", "attachments": `[{"text":"one"}]`})["ts"])
	for _, c := range []struct{ raw, want string }{{"", "one"}, {`[{"text":"two"}]`, "two"}, {"[]", ""}} {
		change := args{"channel": "C0INC", "ts": ts, "text": "y"}
		if c.raw != "" {
			change["attachments"] = c.raw
		}
		w.call(t, "chat.update", change)
		got := ""
		for _, a := range w.Messages("C0INC")[0].attachments() {
			got += a.Text
		}
		if got != c.want {
			t.Errorf("attachments %q left %q, want %q", c.raw, got, c.want)
		}
	}
}

func TestMessagesCanBeChangedOnlySoLong(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock, EditWindow: time.Hour})
	ts := w.post(t, "C0INC", "x")
	type args = map[string]string
	if o := w.call(t, "chat.update", args{"channel": "C0INC", "ts": ts, "text": "y"}); o["ok"] != true {
		t.Errorf("at once: %v", o)
	}
	clock.Advance(2 * time.Hour)
	if o := w.call(t, "chat.update", args{"channel": "C0INC", "ts": ts, "text": "z"}); o["error"] != "edit_window_closed" {
		t.Errorf("two hours later: %v", o)
	}
}
