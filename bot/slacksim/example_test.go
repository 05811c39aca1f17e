package slacksim_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"reconcilebot/bot/slacksim"

	"github.com/slack-go/slack"
)

// A workspace with one channel, an app that posts, and what a person sees.
func Example() {
	sim, err := slacksim.New(slacksim.Seed{
		App:      slacksim.App{UserID: "U0BOT", Name: "reconcile"},
		Users:    []slacksim.User{{ID: "U0ALICE", Name: "alice"}},
		Channels: []slacksim.Channel{{ID: "C0INC", Name: "inc-1234", Members: []string{"U0BOT", "U0ALICE"}}},
	}, slacksim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	defer sim.Close()

	app := slack.New(sim.BotToken(), slack.OptionAPIURL(server.URL+"/api/"))
	if _, _, err := app.PostMessage("C0INC", slack.MsgOptionText("payments-web is reconciled", false)); err != nil {
		fmt.Println(err)
	}
	for _, m := range sim.Messages("#inc-1234") {
		fmt.Println(m.PlainText())
	}
	_, err = sim.As("alice").In("#inc-1234").Slash(context.Background(), "/reconcile help")
	fmt.Println(err)
	// Output:
	// payments-web is reconciled
	// /reconcile help: dispatch_failed: the app has no connection
}
