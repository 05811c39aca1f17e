package slacksim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestAWorkspaceIsPutBack(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	w.run(t, acking)
	type args = map[string]string
	ts := str(w.call(t, "chat.postMessage", args{"channel": "C0INC", "text": "card", "blocks": seeking})["ts"])
	w.call(t, "chat.update", args{"channel": "C0INC", "ts": ts, "text": "card 2", "blocks": seeking})
	w.call(t, "chat.postEphemeral", args{"channel": "C0INC", "user": "U0ALICE", "text": "only you"})
	up := w.call(t, "files.getUploadURLExternal", args{"filename": "a", "length": "1"})
	w.upload(t, str(up["upload_url"]), "x")
	w.call(t, "files.completeUploadExternal", args{"files": `[{"id":"` + str(up["file_id"]) + `"}]`, "channel_id": "C0INC"})
	w.must(t, "the file", func() bool { return len(w.Messages("C0INC")) == 2 })
	inv, err := w.As("alice").In("C0INC").Click(t.Context(), ts, "go")
	if err != nil {
		t.Fatal(err)
	}
	w.call(t, "views.open", args{"trigger_id": inv.TriggerID, "view": everyInput})
	saved, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}

	elsewhere := start(t, Options{Limits: LimitsOff})
	if o := elsewhere.order(t, "restore", obj{"snapshot": json.RawMessage(saved)}); o["ok"] != true {
		t.Fatal(o)
	}
	if v := elsewhere.Versions("C0INC", ts); len(v) != 2 || v[1].Text != "card 2" || len(v[1].Buttons()) != 1 {
		t.Errorf("the card is %+v", v)
	}
	if e := elsewhere.Ephemerals("alice", "C0INC"); len(e) != 1 {
		t.Errorf("alice alone sees %v", e)
	}
	if f := elsewhere.Files(); len(f) != 1 || string(f[0].Content) != "x" {
		t.Errorf("files %v", f)
	}
	if v := elsewhere.View("alice"); v == nil || v.CallbackID != "m" {
		t.Errorf("alice has %v open", v)
	}
	again, err := elsewhere.Snapshot()
	if err != nil || !bytes.Equal(saved, again) {
		t.Errorf("saved again it is another: %v", err)
	}
	// What was given out before never comes again.
	if next := elsewhere.post(t, "C0INC", "next"); next <= ts {
		t.Errorf("the next ts is %s, after %s", next, ts)
	}
	path := inv.ResponseURL[strings.Index(inv.ResponseURL, "/hooks/"):]
	answer, err := http.Post(elsewhere.url+path, "application/json", strings.NewReader(`{"text":"late"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, answer); got != "ok" {
		t.Errorf("the response URL answered %s", got)
	}
}

func TestASnapshotThatCannotBeRead(t *testing.T) {
	w := start(t, Options{})
	w.post(t, "C0INC", "stays")
	for name, raw := range map[string]string{"not JSON": `{`, "of another format": `{"format":99}`} {
		if err := w.Restore([]byte(raw)); err == nil || len(w.Messages("C0INC")) != 1 {
			t.Errorf("%s: %v, %d messages left", name, err, len(w.Messages("C0INC")))
		}
	}
}
