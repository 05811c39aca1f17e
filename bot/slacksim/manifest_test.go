package slacksim

import (
	"os"
	"strings"
	"testing"
)

// TestTheAppsOwnManifest loads the one that people paste into Slack.
func TestTheAppsOwnManifest(t *testing.T) {
	text, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seed := testSeed()
	seed.Manifest = text
	if _, err := New(seed, Options{}); err != nil {
		t.Error(err)
	}
}

func TestManifestsThatSlackRefuses(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(testManifest, old, new, 1) }
	for name, c := range map[string]struct{ manifest, want string }{
		"a key that is none":           {with("is_enabled:", "enabled:"), "settings.interactivity.enabled"},
		"a command with a typo":        {with("should_escape:", "should_escpae:"), "should_escpae"},
		"commands without their scope": {with("[commands, ", "["), "need the scope commands"},
		"an event without its scope":   {with("app_mentions:read, ", ""), "the event app_mention needs the scope app_mentions:read"},
		"a shortcut of no type":        {with("type: message", "type: reply"), "want the type message or global"},
		"a shortcut's long name":       {with("Reconciliation status", strings.Repeat("n", 25)), "at most 24 characters"},
		"fifty-one commands":           {with("  slash_commands:\n", "  slash_commands:\n"+strings.Repeat("    - {command: /x, description: x}\n", 50)), "at most 50"},
		"eleven shortcuts":             {with("  shortcuts:\n", "  shortcuts:\n"+strings.Repeat("    - {name: x, type: global, callback_id: x, description: x}\n", 10)), "at most 10"},
	} {
		t.Run(name, func(t *testing.T) {
			seed := testSeed()
			seed.Manifest = []byte(c.manifest)
			if _, err := New(seed, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestDirectMessagesAsTheManifestHasThem(t *testing.T) {
	seed := testSeed()
	seed.Manifest = []byte(strings.Replace(testManifest, "features:\n", "features:\n  app_home: {messages_tab_enabled: false}\n", 1))
	w := startSeed(t, seed, Options{})
	if o := w.call(t, "chat.postMessage", map[string]string{"channel": "U0ALICE", "text": "x"}); o["error"] != "messages_tab_disabled" {
		t.Errorf("answered %v", o)
	}
	seed.Manifest = []byte(strings.Replace(testManifest, "features:\n", "features:\n  app_home: {messages_tab_enabled: true, messages_tab_read_only_enabled: true}\n", 1))
	w = startSeed(t, seed, Options{})
	o := w.call(t, "chat.postMessage", map[string]string{"channel": "U0ALICE", "text": "x"})
	if _, err := w.As("alice").In(str(o["channel"])).Say(t.Context(), "hello"); err == nil || !strings.Contains(err.Error(), "turned off") {
		t.Errorf("alice wrote: %v", err)
	}
}
