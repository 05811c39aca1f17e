package slacksim

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/slack-go/slack"
)

// onPage serves a workspace whose clock can be moved and whose app offers
// options.
func onPage(t *testing.T, opts Options) workspace {
	t.Helper()
	seed := demoSeed()
	seed.Manifest = []byte(wideManifest)
	opts.Limits = LimitsOff
	sim, err := New(seed, opts)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { sim.Close(); srv.Close() })
	w := workspace{sim, srv.URL, slack.New(sim.BotToken(), slack.OptionAppLevelToken(sim.AppToken()), slack.OptionAPIURL(srv.URL+"/api/"))}
	w.run(t, suggesting(obj{"options": []obj{choice("payments-web", "p"), choice("payments-db", "d")}}))
	return w
}

func TestWhatElseAPersonFindsOnThePage(t *testing.T) {
	ctx := browser(t)
	clock := NewScaledClock(time.Now(), 1)
	w := onPage(t, Options{Clock: clock, ShareDelay: time.Millisecond})
	type args = map[string]string
	w.call(t, "chat.postMessage", args{"channel": "C0INC", "text": "x", "attachments": `[{"color":"#2eb67d","pretext":"from *CI*","title":"Checks","text":"4 of 5 passed","footer":"CI"}]`})
	w.call(t, "chat.postMessage", args{"channel": "C0INC", "text": "find an application", "blocks": seeking})
	diff := "diff --git a/web.yaml b/web.yaml\n@@ -9 +9 @@\n-  replicas: 3\n+  replicas: 6\n"
	if _, err := w.client.UploadFile(slack.UploadFileParameters{Filename: "plan.diff", FileSize: len(diff), Content: diff, Title: "The whole plan", SnippetType: "diff", Channel: "C0INC"}); err != nil {
		t.Fatal(err)
	}
	before := clock.Now()
	err := chromedp.Do(ctx,
		chromedp.Navigate(w.url+"/?as=alice&channel=inc-1234-payments"),
		chromedp.WaitVisible(testid("attachment")),
		chromedp.SendKeys(testid("ask"), "pay"),
		chromedp.WaitReady(`.asking option[value="d"]`),
		chromedp.WaitVisible(testid("file-open")),
		shot("9-more-blocks"),
		chromedp.Click(testid("file-open")),
		chromedp.WaitVisible(testid("file-text")+" .added"),
		shot("10-file"),
		chromedp.Click(`#file header button`),
		chromedp.WaitNotVisible(testid("file-text")),
		chromedp.SendKeys(`[data-input="note"] input`, "because"),
		chromedp.Click(`[data-action-id="go"]`),
		chromedp.Click(testid("clock")),
		chromedp.WaitVisible(testid("clock-1800")),
		shot("11-clock"),
		chromedp.Click(testid("clock-1800")),
		chromedp.Click(testid("shortcuts")),
		chromedp.WaitVisible(testid("shortcut-find_drift")),
		chromedp.Click(testid("shortcut-find_drift")),
		chromedp.Click(testid("chaos")),
		chromedp.WaitVisible(testid("chaos-storm")),
		shot("12-trouble"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if passed := clock.Now().Sub(before); passed < 30*time.Minute {
		t.Errorf("%s passed in the workspace", passed)
	}
	for _, e := range w.Envelopes() {
		if e.What == "go" && !strings.Contains(string(encode(decode(e.Payload)["state"])), `"value":"because"`) {
			t.Errorf("what was typed in the message did not go along: %s", e.Payload)
		}
	}
	w.must(t, "the shortcut", func() bool {
		e := w.Envelopes()
		return len(e) > 0 && e[len(e)-1].What == "find_drift"
	})
	w.ExpectNoFindings(t)
}

// TestEveryInputOfAModalIsSent fills a modal on the page and looks at what the
// app gets.
func TestEveryInputOfAModalIsSent(t *testing.T) {
	ctx := browser(t)
	w := onPage(t, Options{TriggerLife: time.Minute})
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	inv, err := w.As("alice").In("C0INC").Click(t.Context(), ts, "go")
	if err != nil {
		t.Fatal(err)
	}
	view := strings.Replace(everyInput, `{"type":"actions"`, `{"type":"input","block_id":"seek","label":{"type":"plain_text","text":"App"},"element":{"type":"external_select","action_id":"a","min_query_length":1}},{"type":"actions"`, 1)
	if o := w.call(t, "views.open", map[string]string{"trigger_id": inv.TriggerID, "view": view}); o["ok"] != true {
		t.Fatal(o)
	}
	choose := func(block, values string) chromedp.Action[bool] {
		return chromedp.Evaluate[bool](`(() => { const s = document.querySelector('[data-input="` + block + `"] select');
			for (const o of s.options) o.selected = '` + values + `'.split(',').includes(o.value); return true; })()`)
	}
	err = chromedp.Do(ctx,
		chromedp.Navigate(w.url+"/?as=alice&channel=inc-1234-payments"),
		chromedp.WaitVisible(testid("modal-submit")),
		chromedp.SendKeys(`[data-input="text"] input`, "because"),
		chromedp.SendKeys(`[data-input="number"] input`, "5"),
		chromedp.Click(`[data-input="boxes"] input[type=checkbox]`),
		chromedp.SendKeys(`[data-input="seek"] .ask`, "p"),
		chromedp.WaitReady(`[data-input="seek"] option[value="d"]`),
		shot("13-inputs"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for block, values := range map[string]string{"seek": "d", "who": "U0BOB,U0CAROL", "room": "C0INC", "pick": "1"} {
		if _, err := chromedp.Run(ctx, choose(block, values)); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(ctx, chromedp.Click(testid("modal-submit")), chromedp.WaitNotVisible(testid("modal-submit"))); err != nil {
		t.Fatal(err)
	}
	e := w.Envelopes()
	sent := decode(e[len(e)-1].Payload)
	shown, _ := sent["view"].(obj)
	state := string(encode(shown["state"]))
	for _, want := range []string{`"value":"because"`, `"value":"5"`, `"selected_users":["U0BOB","U0CAROL"]`, `"selected_conversation":"C0INC"`, `"value":"d"`} {
		if !strings.Contains(state, want) {
			t.Errorf("the state is %s, want %s in it", state, want)
		}
	}
	if urls := list(sent["response_urls"]); len(urls) != 1 {
		t.Errorf("response URLs %v", urls)
	}
}

func TestADemoIsPlayedStepByStep(t *testing.T) {
	ctx := browser(t)
	w := onPage(t, Options{Demo: []DemoStep{
		{Say: "Someone scaled a deployment by hand.", As: "bob", Channel: "inc-1234-payments", Order: "message",
			Body: map[string]any{"user": "bob", "channel": "inc-1234-payments", "text": "I scaled payments/web to 6"}},
		{Say: "Alice presses the button on the newest card.", As: "alice", Order: "click",
			Body: map[string]any{"user": "alice", "channel": "inc-1234-payments", "element": "go"}},
	}})
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "card", "blocks": seeking})
	err := chromedp.Do(ctx,
		chromedp.Navigate(w.url+"/?as=alice&channel=general&demo=1"),
		chromedp.WaitVisible(testid("demo-next")),
		chromedp.Click(testid("demo-next")),
		chromedp.WaitVisible(testid("persona-bob")+"[aria-checked=true]"),
		chromedp.WaitVisible(".message:nth-child(2)"),
		shot("14-demo"),
		chromedp.WaitVisible(testid("demo-next")+":not([disabled])"),
		chromedp.Click(testid("demo-next")),
		chromedp.WaitVisible(testid("persona-alice")+"[aria-checked=true]"),
	)
	if err != nil {
		t.Fatal(err)
	}
	w.must(t, "the click", func() bool { e := w.Envelopes(); return len(e) > 0 && e[len(e)-1].What == "go" })
}
