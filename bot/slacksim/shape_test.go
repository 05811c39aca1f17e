package slacksim

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reconcilebot/bot/slacksim/peer"
)

// TestWhatIsSentHasTheShapeThatSlackPublishes gives everything that is sent to
// an app to the TypeScript compiler, against the types of Slack's own
// libraries: those of answers are made by Slack from recorded ones. A field
// that Slack does not have, or a wrong type, does not compile.
func TestWhatIsSentHasTheShapeThatSlackPublishes(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no Node")
	}
	var b strings.Builder
	b.WriteString(shapeHead)
	sent := everythingSent(t)
	excuse(t, sent)
	names := slices.Sorted(maps.Keys(sent))
	for i, name := range names {
		fmt.Fprintf(&b, "export const v%d: %s = %s;\n", i, sent[name].typ, encode(sent[name].body))
	}
	folder := peer.Folder(t)
	// The compiler finds the types beside the file.
	dir, err := os.MkdirTemp(folder, "shapes-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "sent.ts"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = peer.Run(t, dir, filepath.Join(folder, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
		"--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--pretty", "false", "sent.ts")
	if err == nil {
		return
	}
	first := strings.Count(shapeHead, "\n") + 1
	for _, line := range strings.Split(err.Error(), "\n") {
		var n, at int
		if _, err := fmt.Sscanf(line, "sent.ts(%d,%d)", &n, &at); err == nil && n >= first && n < first+len(names) {
			line = names[n-first] + line[strings.Index(line, ")")+1:]
		}
		t.Errorf("%.400s", line)
	}
}

// shapeHead makes the published types strict, and lenient where they are no
// help: they allow any further field at the top level, and their enums are not
// those of blocks, which @slack/types describes better.
const shapeHead = `import type * as web from '@slack/web-api';
import type * as bolt from '@slack/bolt';
import type { GenericMessageEvent, KnownBlock } from '@slack/types';
type Known<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] };
type Payload<T> = Omit<Known<T>, 'enterprise'> & { enterprise?: { id: string; name: string } | null };
type Loose<T> = T extends string ? string : T extends (infer U)[] ? Loose<U>[] : T extends object
  ? { [K in keyof T as string extends K ? never : K]: K extends 'blocks' ? KnownBlock[] : Loose<T[K]> } : T;
`

// extra are fields that Slack documents or was seen to send, and that its
// libraries' types do not have: by what is sent, the field, and where it is from.
var extra = []struct{ of, field, source string }{
	{"chat.update", "ts", "https://docs.slack.dev/reference/methods/chat.update"},
	{"chat.scheduleMessage", "subtype", "https://docs.slack.dev/reference/methods/chat.scheduleMessage"},
	{"conversations.info", "user", "https://docs.slack.dev/reference/methods/conversations.info, of a direct message"},
	{"conversations.replies", "subtype", "https://docs.slack.dev/reference/events/message"},
	{"conversations.history", "subtype", "https://docs.slack.dev/reference/events/message"},
	{"pins.list", "edited", "https://docs.slack.dev/reference/events/message/message_changed"},
	{"interactive view_", "username", "https://github.com/slackapi/java-slack-sdk, ViewSubmissionPayload.json"},
	{"interactive block_suggestion", "username", "https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload"},
	{"interactive go", "confirm", "https://github.com/slackapi/java-slack-sdk, BlockActionPayload.json: text objects, where Bolt has strings"},
}

// excuse takes those fields away, and from answers what is null: recorded
// answers have no type for it. An excuse that nothing needs is a fault.
func excuse(t *testing.T, sent map[string]sentThing) {
	used := map[int]bool{}
	for name, thing := range sent {
		answer := strings.Contains(thing.typ, "web.")
		walk(map[string]any(thing.body), func(o obj) {
			for field, value := range o {
				if answer && value == nil {
					delete(o, field)
				}
				for i, e := range extra {
					if e.field == field && strings.HasPrefix(name, e.of) && !(field == "confirm" && o["type"] == nil) {
						used[i] = true
						delete(o, field)
					}
				}
			}
		})
	}
	for i, e := range extra {
		if !used[i] {
			t.Errorf("%s is not sent with %s: the excuse is not needed", e.field, e.of)
		}
	}
}

// answerType is Slack's name for what a method answers.
func answerType(method string) string {
	var b strings.Builder
	for _, word := range strings.Split(method, ".") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return "Known<Loose<web." + b.String() + "Response>>"
}

// payloadType is Slack's name for an envelope's payload.
func payloadType(e Envelope) string {
	body := decode(e.Payload)
	switch e.Kind {
	case kindCommand:
		return "Known<bolt.SlashCommand>"
	case kindEvent:
		event, _ := body["event"].(obj)
		if event["type"] == "message" && event["subtype"] == nil {
			return "Known<bolt.EnvelopedEvent<Omit<GenericMessageEvent, 'subtype'>>>"
		}
		return "Known<bolt.EnvelopedEvent<bolt.KnownEventFromType<'" + str(event["type"]) + "'>>>"
	}
	name := map[string]string{
		"block_actions": "BlockAction", "view_submission": "ViewSubmitAction", "view_closed": "ViewClosedAction",
		"message_action": "MessageShortcut", "shortcut": "GlobalShortcut", "block_suggestion": "BlockSuggestion",
	}[str(body["type"])]
	if name == "" {
		return ""
	}
	if body["view"] != nil && name == "BlockAction" {
		return "Omit<Payload<bolt.BlockAction>, 'response_url'>" // a view has none
	}
	return "Payload<bolt." + name + ">"
}
