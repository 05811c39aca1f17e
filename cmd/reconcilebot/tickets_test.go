package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	yamltree "reconcilebot/runbook/manifest"
	"reconcilebot/runbook/ticket/ticketsim"
	"reconcilebot/state"
)

// ticketSystem is a local one, with ticket 7.
func ticketSystem(t *testing.T, kind ticketsim.Kind) (sim *ticketsim.Sim, url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sim.Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	sim, err := ticketsim.New(kind, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	sim.Open(7)
	return sim, server.URL
}

// found writes a state file in which a change made by hand was found and
// nobody has decided yet.
func found(t *testing.T, path string, tickets ...string) {
	t.Helper()
	db, err := state.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	change := drift.Change{
		Object: yamltree.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "pay", Name: "web"},
		Path:   yamltree.Path{yamltree.Key("spec"), yamltree.Key("replicas")}, Op: yamltree.Set, Git: 3.0, Live: 6.0,
		Evidence: drift.Evidence{Kind: drift.ByAudit, Person: "mallory@example.com", Tool: "kubectl", At: time.Now()},
	}
	target := drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "web"}
	survey, err := json.Marshal(book.Seen{Drift: drift.Drift{Target: target, Sync: "OutOfSync", Health: "Healthy", Changes: []drift.Change{change}, Digest: "d1", SeenAt: time.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.OpenIncident(state.Incident{ID: "INC-1", Room: "C0PAY", Ticket: tickets[0], Also: tickets[1:]})
	if err != nil {
		t.Fatal(err)
	}
	alice := state.Person{ID: "U0ALICE", Name: "alice"}
	_, _, err = db.Open(state.Reconciliation{ID: "r-01JTICKET", Incident: "INC-1", Room: "C0PAY", Target: target.String(), Book: "survey", BookVersion: 1, OpenedBy: alice})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Change("r-01JTICKET", func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		r.Steps = map[state.StepID]state.Step{"survey": {Started: now, Finished: now, Result: survey}}
		return nil, nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTicketsLeadToTheThreadAndBack runs the whole bot with a Jira and a
// webhook: the record comes to both tickets with the way to the thread, the
// thread leads to them, and the last word follows the decision.
func TestTicketsLeadToTheThreadAndBack(t *testing.T) {
	slack, url := localSlack(t)
	jira, jiraURL := ticketSystem(t, ticketsim.JiraDataCenter)
	hook, hookURL := ticketSystem(t, ticketsim.Webhook)
	path := installed(t, url, freeAddress(t))
	dir := filepath.Dir(path)
	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config = fmt.Appendf(config, `tickets:
- {kind: jira, url: %[1]q, match: ["%[1]s/browse/*"], tokenFile: jira}
- {kind: webhook, url: %[2]q, match: ["%[3]s/tickets/*"], tokenFile: hook}
`, jiraURL, hook.API(), hookURL)
	for name, text := range map[string]string{"config.yaml": string(config), "jira": ticketsim.Token, "hook": ticketsim.Secret} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found(t, filepath.Join(dir, "state.db"), jira.Address(7), hook.Address(7))
	var log shared
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--config", path}, func(string) string { return "" }, io.Discard, &log)
	}()
	defer func() {
		stop()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
		if strings.Contains(log.String(), ticketsim.Token) || strings.Contains(log.String(), "whsec_") {
			t.Error("a secret is in the log")
		}
	}()
	wait, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	onTicket := func(sim *ticketsim.Sim, says ...string) {
		t.Helper()
		err := sim.Wait(wait, "the record", func() bool {
			list := sim.Texts(7)
			for _, want := range says {
				if len(list) != 1 || !strings.Contains(list[0], want) {
					return false
				}
			}
			return true
		})
		if err != nil {
			t.Fatalf("%v: the ticket says %q", err, sim.Texts(7))
		}
	}
	for _, sim := range []*ticketsim.Sim{jira, hook} {
		onTicket(sim, "mallory", "Slack thread", url)
	}
	var card string
	err = slack.Wait(wait, "the way to both tickets in the thread", func() bool {
		for _, m := range slack.Messages("C0PAY") {
			card = m.TS
			said := ""
			for _, reply := range slack.Thread("C0PAY", m.TS) {
				said += written(reply)
			}
			if strings.Contains(said, jira.Address(7)+"?focusedCommentId=") && strings.Contains(said, hook.Address(7)+"#r-01JTICKET") {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slack.As("alice").In("pay").ClickButton(wait, card, "Not now"); err != nil {
		t.Fatal(err)
	}
	for _, sim := range []*ticketsim.Sim{jira, hook} {
		onTicket(sim, "left as it is", "closed")
		for _, f := range sim.Findings() {
			t.Errorf("not what is published: %s", f)
		}
	}
	for _, finding := range slack.Findings() {
		t.Errorf("Slack's rules: %v", finding)
	}
}

// written is a message with the addresses behind its words.
func written(m slacksim.Message) string {
	text := m.Text
	for _, b := range m.Blocks {
		text += string(b.Raw)
	}
	return text
}
