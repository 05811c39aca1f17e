package slacksim

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

// browser opens a page in a headless Chromium, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium on the path")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(stop)
	// The first run starts the browser, which lives as long as its context.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, stop = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(stop)
	return ctx
}

// shot saves what the browser shows, where SLACKSIM_SHOTS names a folder.
func shot(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		dir := os.Getenv("SLACKSIM_SHOTS")
		if dir == "" {
			return nil
		}
		png, err := chromedp.CaptureScreenshot()(ctx, target)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	})
}

func testid(id string) string { return `[data-testid="` + id + `"]` }

func demoSeed() Seed {
	seed := testSeed()
	seed.Users = []User{
		{ID: "U0ALICE", Name: "alice", RealName: "Alice Moreau", Role: "on-call engineer", Email: "alice@example.com"},
		{ID: "U0BOB", Name: "bob", RealName: "Bob Tanaka", Role: "application owner"},
		{ID: "U0CAROL", Name: "carol", RealName: "Carol Singh", Role: "platform engineer", Admin: true},
		{ID: "U0GWEN", Name: "gwen", RealName: "Gwen Ortiz", Guest: true},
	}
	everyone := []string{"U0BOT", "U0ALICE", "U0BOB", "U0CAROL", "U0GWEN"}
	seed.Channels = []Channel{
		{ID: "C0INC", Name: "inc-1234-payments", Topic: "INC-1234 checkout slow", Members: everyone},
		{ID: "C0GEN", Name: "general", Topic: "Company-wide", Members: everyone[1:]},
		{ID: "C0PLAT", Name: "platform", Private: true, Members: []string{"U0BOT", "U0ALICE", "U0CAROL"}},
		{ID: "C0VEND", Name: "vendor-acme", ExtShared: true, Members: everyone},
		{ID: "C0OLD", Name: "inc-1187", Archived: true, Members: everyone},
	}
	seed.Groups = []Group{{ID: "S0OWN", Handle: "payments-owners", Name: "Payments owners", Members: []string{"U0BOB"}}}
	return seed
}

func readBlocks(t *testing.T, name string) slack.Blocks {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks slack.Blocks
	if err := json.Unmarshal(raw, &blocks); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// demo answers as an app does that takes a change through to its record.
func (w workspace) demo(t *testing.T) func(*socketmode.Client, socketmode.Event) {
	drift, modal, done := readBlocks(t, "drift.json"), readBlocks(t, "modal.json"), readBlocks(t, "record.json")
	post := func(channel string, options ...slack.MsgOption) string {
		_, ts, err := w.client.PostMessage(channel, options...)
		if err != nil {
			t.Errorf("post: %v", err)
		}
		return ts
	}
	return func(app *socketmode.Client, e socketmode.Event) {
		if e.Request == nil || e.Request.EnvelopeID == "" {
			return
		}
		switch data := e.Data.(type) {
		case slack.SlashCommand:
			app.Ack(*e.Request, map[string]any{"response_type": "ephemeral", "text": "Looking at payments-web in production-eu."})
			post(data.ChannelID, slack.MsgOptionText("payments-web is OutOfSync: 1 change made by hand", false), slack.MsgOptionBlocks(drift.BlockSet...))
		case slack.InteractionCallback:
			app.Ack(*e.Request)
			if data.Type == slack.InteractionTypeBlockActions {
				view := slack.ModalViewRequest{
					Type: slack.VTModal, CallbackID: "adopt", PrivateMetadata: data.Message.Timestamp, Blocks: modal,
					Title:  slack.NewTextBlockObject("plain_text", "Adopt into Git", false, false),
					Submit: slack.NewTextBlockObject("plain_text", "Show the plan", false, false),
				}
				if _, err := w.client.OpenView(data.TriggerID, view); err != nil {
					t.Errorf("open the modal: %v", err)
				}
				return
			}
			ts := data.View.PrivateMetadata
			_, _, _, err := w.client.UpdateMessage("C0INC", ts, slack.MsgOptionText("payments-web is reconciled", false), slack.MsgOptionBlocks(done.BlockSet...))
			if err != nil {
				t.Errorf("update: %v", err)
			}
			post("C0INC", slack.MsgOptionTS(ts), slack.MsgOptionText("Pull request <https://github.example.com/acme/gitops/pull/412|#412> is open: `replicas: 3` becomes `replicas: 6`.", false))
			post("C0INC", slack.MsgOptionTS(ts), slack.MsgOptionText("payments-web is reconciled, 14:02 to 14:31.", false), slack.MsgOptionBlocks(done.BlockSet...))
		}
	}
}

func TestAPersonDoesTheWholeJobOnThePage(t *testing.T) {
	ctx := browser(t)
	sim, err := New(demoSeed(), Options{Limits: LimitsOff})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { sim.Close(); srv.Close() })
	w := workspace{sim, srv.URL, slack.New(sim.BotToken(), slack.OptionAppLevelToken(sim.AppToken()), slack.OptionAPIURL(srv.URL+"/api/"))}
	w.run(t, w.demo(t))
	if _, err := sim.As("bob").In("inc-1234-payments").Say(t.Context(), "Checkout is slow, *p99 at 4 s*. I scaled `payments/web` to 6, see https://grafana.example.com/d/checkout."); err != nil {
		t.Fatal(err)
	}

	err = chromedp.Do(ctx,
		chromedp.Navigate(srv.URL+"/?as=alice&channel=inc-1234-payments"),
		chromedp.WaitVisible(testid("persona-alice")+"[aria-checked=true]"),
		chromedp.SendKeys(testid("composer"), "/rec"),
		chromedp.WaitVisible(".hints li"),
		shot("1-hints"),
		chromedp.SendKeys(testid("composer"), "oncile drift payments-web\r"),
		chromedp.WaitVisible(`[data-action-id="adopt"]`),
		shot("2-card"),
		chromedp.Click(`[data-action-id="revert"]`),
		chromedp.WaitVisible(testid("confirm-no")),
		shot("3-confirm"),
		chromedp.Click(testid("confirm-no")),
		chromedp.Click(`[data-action-id="adopt"]`),
		chromedp.WaitVisible(testid("modal-submit")),
		chromedp.Click(testid("modal-submit")),
		chromedp.WaitVisible(`[data-input="reason"] .error`),
		shot("4-modal"),
		chromedp.SendKeys(`[data-input="reason"] textarea`, "checkout queue backing up; 3 pods saturated"),
		chromedp.Click(testid("modal-submit")),
		chromedp.WaitVisible(testid("open-thread")),
		chromedp.WaitNotVisible(testid("modal-submit")),
		chromedp.Click(testid("open-thread")),
		chromedp.WaitVisible("#replies li:nth-child(3)"),
		shot("5-thread"),
		chromedp.Click(testid("persona-bob")),
		chromedp.WaitVisible(testid("persona-bob")+"[aria-checked=true]"),
		chromedp.Click(testid("inspect")),
		chromedp.WaitVisible(testid("envelope")),
		shot("6-inspector"),
	)
	if err != nil {
		t.Fatal(err)
	}
	w.ExpectNoFindings(t)
}

// TestHostileTextIsOnlyText shows that nothing an app sends becomes markup.
func TestHostileTextIsOnlyText(t *testing.T) {
	ctx := browser(t)
	w := start(t, Options{Limits: LimitsOff})
	evil := `<img src=x onerror=alert(1)> *b* <javascript:alert(1)|click> <https://example.com|ok>`
	for _, kind := range []string{"mrkdwn", "plain_text"} {
		w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": evil,
			"blocks": string(encode([]obj{{"type": "section", "text": obj{"type": kind, "text": evil}}}))})
	}
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": evil,
		"blocks": string(encode([]obj{{"type": "markdown", "text": evil + " [x](javascript:alert(1)) [y](https://example.com)"}}))})
	count := func(selector string) chromedp.Action[int] {
		return chromedp.Evaluate[int]("document.querySelectorAll(" + string(encode(selector)) + ").length")
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(w.url+"/?as=alice&channel=inc-1234"), chromedp.WaitVisible(".message:nth-child(3)")); err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]int{"img": 0, "script:not([src])": 0, "a[href^=javascript]": 0, `a[href="https://example.com"]`: 2} {
		got, err := chromedp.Run(ctx, count(selector))
		if err != nil || got != want {
			t.Errorf("%d of %s on the page, want %d; %v", got, selector, want, err)
		}
	}
}

func TestThePageSaysWhenTheAppIsAway(t *testing.T) {
	ctx := browser(t)
	w := start(t, Options{})
	err := chromedp.Do(ctx,
		chromedp.Navigate(w.url+"/?as=alice&channel=general"),
		chromedp.WaitVisible(".lamp.off"),
		chromedp.WaitVisible(testid("invite")),
		chromedp.Click(testid("invite")),
		chromedp.WaitNotVisible(testid("invite")),
		chromedp.SendKeys(testid("composer"), "/reconcile help\r"),
		chromedp.WaitVisible(testid("failure")),
		chromedp.Click(testid("chaos")),
		chromedp.WaitVisible(testid("chaos-reset")),
		shot("7-away"),
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestCardsOnAPageOfTheirOwn(t *testing.T) {
	ctx := browser(t)
	var cards []NamedCard
	for _, name := range []string{"drift", "record", "modal"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, NamedCard{Name: name, Text: "payments-web: 1 change made by hand", Blocks: raw,
			Names: map[string]string{"U0ALICE": "alice", "U0BOB": "bob", "U0CAROL": "carol", "S0OWN": "payments-owners"}})
	}
	srv := httptest.NewServer(CardsPage(cards))
	t.Cleanup(srv.Close)
	if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL), chromedp.WaitVisible("#modal"), shot("8-cards")); err != nil {
		t.Fatal(err)
	}
}
