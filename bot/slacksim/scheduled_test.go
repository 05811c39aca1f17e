package slacksim

import (
	"strconv"
	"testing"
	"time"
)

func TestAMessageForLater(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock, Limits: LimitsOff})
	type args = map[string]string
	at := func(d time.Duration) string { return strconv.FormatInt(clock.Now().Add(d).Unix(), 10) }
	schedule := func(d time.Duration, text string) obj {
		return w.call(t, "chat.scheduleMessage", args{"channel": "C0INC", "text": text, "post_at": at(d)})
	}
	kept, gone := schedule(time.Hour, "kept"), schedule(2*time.Hour, "taken back")
	if o := w.call(t, "chat.scheduledMessages.list", args{"channel": "C0INC", "limit": "1"}); len(list(o["scheduled_messages"])) != 1 {
		t.Errorf("listed %v", o)
	}
	drop := args{"channel": "C0INC", "scheduled_message_id": str(gone["scheduled_message_id"])}
	if o := w.call(t, "chat.deleteScheduledMessage", drop); o["ok"] != true {
		t.Errorf("taking back answered %v", o)
	}
	if o := w.call(t, "chat.deleteScheduledMessage", drop); o["error"] != "invalid_scheduled_message_id" {
		t.Errorf("taking back twice answered %v", o)
	}
	clock.Advance(59*time.Minute + 30*time.Second)
	if o := w.call(t, "chat.deleteScheduledMessage", args{"channel": "C0INC", "scheduled_message_id": str(kept["scheduled_message_id"])}); o["ok"] == true {
		t.Error("a message was taken back in its last minute")
	}
	if n := len(w.Messages("C0INC")); n != 0 {
		t.Errorf("%d messages before their time", n)
	}
	clock.Advance(2 * time.Hour)
	if m := w.Messages("C0INC"); len(m) != 1 || m[0].Text != "kept" {
		t.Errorf("posted %+v", m)
	}
	for want, o := range map[string]obj{
		"time_in_past": schedule(-time.Second, "x"),
		"time_too_far": schedule(121*24*time.Hour, "x"),
		"invalid_time": w.call(t, "chat.scheduleMessage", args{"channel": "C0INC", "text": "x", "post_at": "soon"}),
		"no_text":      schedule(time.Hour, ""),
	} {
		if o["error"] != want {
			t.Errorf("answered %v, want %s", o, want)
		}
	}
	for range scheduleMost {
		schedule(3*time.Hour, "many")
	}
	if o := schedule(3*time.Hour, "one more"); o["error"] != "restricted_too_many" {
		t.Errorf("the 31st within five minutes answered %v", o)
	}
}

func TestAMessageForLaterToAChannelThatIsArchivedByThen(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	w.call(t, "chat.scheduleMessage", map[string]string{"channel": "C0INC", "text": "x", "post_at": strconv.FormatInt(clock.Now().Add(time.Hour).Unix(), 10)})
	if err := w.SetChannel("C0INC", func(c *Channel) { c.Archived = true }); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	if m := w.Messages("C0INC"); len(m) != 0 {
		t.Errorf("posted %+v", m)
	}
}
