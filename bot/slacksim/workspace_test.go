package slacksim

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

const testManifest = `
display_information: {name: Reconcile}
features:
  bot_user: {display_name: reconcile}
  slash_commands:
    - {command: /reconcile, description: Reconcile, usage_hint: "help", should_escape: true}
  shortcuts:
    - {name: Reconciliation status, type: message, callback_id: reconcile_status, description: Status}
oauth_config:
  scopes:
    bot: [commands, chat:write, files:write, files:read, app_mentions:read, users:read, users:read.email,
          usergroups:read, channels:read, groups:read, channels:history, groups:history, im:write, pins:write, reactions:write]
settings:
  event_subscriptions: {bot_events: [app_mention, channel_shared]}
  interactivity: {is_enabled: true}
  socket_mode_enabled: true
`

func testSeed() Seed {
	return Seed{
		App: App{UserID: "U0BOT"},
		Users: []User{
			{ID: "U0ALICE", Name: "alice", Email: "alice@example.com"},
			{ID: "U0BOB", Name: "bob"},
			{ID: "U0GWEN", Name: "gwen", Guest: true},
			{ID: "U0EXT", Name: "eve", TeamID: "T0EXT", Stranger: true},
			{ID: "U0GONE", Name: "gone", Deleted: true},
		},
		Channels: []Channel{
			{ID: "C0INC", Name: "inc-1234", Members: []string{"U0BOT", "U0ALICE", "U0BOB", "U0GWEN", "U0EXT"}},
			{ID: "C0PUB", Name: "general", Members: []string{"U0ALICE"}},
			{ID: "G0PRIV", Name: "private", Private: true, Members: []string{"U0ALICE"}},
			{ID: "C0OLD", Name: "old", Archived: true, Members: []string{"U0BOT", "U0ALICE"}},
			{ID: "C0READ", Name: "news", ReadOnly: true, Members: []string{"U0BOT", "U0ALICE"}},
		},
		Groups:   []Group{{ID: "S0OWN", Handle: "owners", Name: "Owners", Members: []string{"U0BOB"}}},
		Manifest: []byte(testManifest),
	}
}

// workspace is a simulator that listens, and a client of it.
type workspace struct {
	*Sim
	url    string
	client *slack.Client
}

func start(t *testing.T, opts Options) workspace {
	t.Helper()
	return startSeed(t, testSeed(), opts)
}

func startSeed(t *testing.T, seed Seed, opts Options) workspace {
	t.Helper()
	sim, err := New(seed, opts)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		sim.Close()
		srv.Close()
	})
	client := slack.New(sim.BotToken(), slack.OptionAppLevelToken(sim.AppToken()), slack.OptionAPIURL(srv.URL+"/api/"))
	return workspace{sim, srv.URL, client}
}

// run connects an app over Socket Mode; handle gets what is delivered.
func (w workspace) run(t *testing.T, handle func(*socketmode.Client, socketmode.Event)) *socketmode.Client {
	t.Helper()
	app := socketmode.New(w.client)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{}, 2)
	go func() {
		_ = app.RunContext(ctx)
		ended <- struct{}{}
	}()
	go func() {
		defer func() { ended <- struct{}{} }()
		for {
			select {
			case e := <-app.Events:
				handle(app, e)
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		<-ended
	})
	w.must(t, "a socket", func() bool { return len(w.Connections()) > 0 })
	return app
}

func (w workspace) must(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := w.Wait(ctx, what, cond); err != nil {
		t.Fatal(err)
	}
}

// card is an app that answers a command with a card, a button with a modal,
// and the modal with an edit.
func (w workspace) card(t *testing.T) func(*socketmode.Client, socketmode.Event) {
	return func(app *socketmode.Client, e socketmode.Event) {
		if e.Request == nil || e.Request.EnvelopeID == "" {
			return
		}
		switch data := e.Data.(type) {
		case slack.SlashCommand:
			app.Ack(*e.Request)
			button := slack.NewButtonBlockElement("adopt", "r-1", slack.NewTextBlockObject("plain_text", "Adopt into Git", false, false))
			_, _, err := w.client.PostMessage(data.ChannelID, slack.MsgOptionText("payments-web is OutOfSync", false),
				slack.MsgOptionBlocks(
					slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "*payments-web* replicas 3 to 6", false, false), nil, nil),
					slack.NewActionBlock("r-1.1", button)))
			if err != nil {
				t.Errorf("post the card: %v", err)
			}
		case slack.InteractionCallback:
			w.interact(t, app, *e.Request, data)
		}
	}
}

func (w workspace) interact(t *testing.T, app *socketmode.Client, req socketmode.Request, data slack.InteractionCallback) {
	switch data.Type {
	case slack.InteractionTypeBlockActions:
		app.Ack(req)
		input := slack.NewInputBlock("reason", slack.NewTextBlockObject("plain_text", "Why was Git bypassed?", false, false), nil,
			slack.NewPlainTextInputBlockElement(nil, "text"))
		_, err := w.client.OpenView(data.TriggerID, slack.ModalViewRequest{
			Type: slack.VTModal, Title: slack.NewTextBlockObject("plain_text", "Adopt", false, false), CallbackID: "adopt",
			Submit: slack.NewTextBlockObject("plain_text", "Adopt", false, false), PrivateMetadata: data.Message.Timestamp,
			Blocks: slack.Blocks{BlockSet: []slack.Block{input}},
		})
		if err != nil {
			t.Errorf("open the modal: %v", err)
		}
	case slack.InteractionTypeViewSubmission:
		reason := data.View.State.Values["reason"]["text"].Value
		if strings.Contains(reason, "no reason") {
			app.Ack(req, slack.NewErrorsViewSubmissionResponse(map[string]string{"reason": "Say why."}))
			return
		}
		app.Ack(req)
		_, _, _, err := w.client.UpdateMessage("C0INC", data.View.PrivateMetadata, slack.MsgOptionText("adopting: "+reason, false))
		if err != nil {
			t.Errorf("update the card: %v", err)
		}
	}
}

func TestFromCommandToCardToModalToEdit(t *testing.T) {
	w := start(t, Options{})
	w.run(t, w.card(t))
	alice := w.As("alice").In("#inc-1234")

	inv, err := alice.Slash(t.Context(), "/reconcile drift payments-web")
	if err != nil {
		t.Fatal(err)
	}
	if inv.AckLatency <= 0 || inv.AckLatency > time.Second {
		t.Errorf("acknowledged after %s", inv.AckLatency)
	}
	w.must(t, "the card", func() bool { return len(w.Messages("inc-1234")) == 1 })
	card := w.Messages("inc-1234")[0]
	if got := card.PlainText(); !strings.Contains(got, "replicas 3 to 6") {
		t.Errorf("card reads %q", got)
	}

	if _, err := alice.ClickButton(t.Context(), card.TS, "Adopt into Git"); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the modal", func() bool { return alice.OpenView() != nil })

	for reason, want := range map[string]string{"": "Please complete this required field.", "no reason": "Say why."} {
		inv, err := alice.Submit(t.Context(), "", map[string]string{"Why was Git bypassed?": reason})
		if err != nil || inv.Errors["reason"] != want {
			t.Errorf("reason %q: errors %v, %v; want %q", reason, inv.Errors, err, want)
		}
	}
	if _, err := alice.Submit(t.Context(), "", map[string]string{"reason": "queue backing up"}); err != nil {
		t.Fatal(err)
	}
	if alice.OpenView() != nil {
		t.Error("the modal stayed open")
	}
	w.must(t, "the edit", func() bool { return w.Messages("inc-1234")[0].Edited })
	if got := w.Messages("inc-1234")[0].Text; got != "adopting: queue backing up" {
		t.Errorf("edited to %q", got)
	}
	w.ExpectNoFindings(t)
}
