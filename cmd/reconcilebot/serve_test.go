package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/deploy/slack"
	"reconcilebot/state"
)

// shared is a buffer that a running program may write to while a test reads.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}
func (s *shared) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.text.String() }

// localSlack is a workspace with alice and a channel.
func localSlack(t *testing.T) (*slacksim.Sim, string) {
	t.Helper()
	sim, err := slacksim.New(slacksim.Seed{
		Team:     slacksim.Team{ID: "T0ACME", Name: "Acme", Domain: "acme"},
		App:      slacksim.App{ID: "A0RECONCILE", BotID: "B0RECONCILE", UserID: "U0APP"},
		Users:    []slacksim.User{{ID: "U0ALICE", Name: "alice"}},
		Channels: []slacksim.Channel{{ID: "C0PAY", Name: "pay", Members: []string{"U0ALICE", "U0APP"}}},
		Manifest: []byte(slack.Manifest()),
	}, slacksim.Options{BotToken: "xoxb-hidden-bot", AppToken: "xapp-hidden-app"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { sim.Close(); server.Close() })
	return sim, server.URL
}

// installed writes a config as an installation would, with a cluster and a
// Git host that are down.
func installed(t *testing.T, slackURL, listen string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"app": "xapp-hidden-app", "bot": "xoxb-hidden-bot", "argocd": "hidden-argocd", "github": "hidden-github",
		"kubeconfig": `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {}}]
current-context: a
`,
		"config.yaml": fmt.Sprintf(`state: state.db
listen: %s
slack: {api: %s/api/, appTokenFile: app, botTokenFile: bot}
clusters:
- {name: eu, kubeconfig: kubeconfig, argocd: {server: "http://127.0.0.1:1", tokenFile: argocd}}
github: {api: "http://127.0.0.1:1/api/v3/", tokenFile: github}
people: [{name: alice, slack: U0ALICE}]
policy: [{targets: ["eu/*"], see: [everyone], decide: [alice], approve: {by: [alice]}}]
`, listen, slackURL),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestServe runs the whole bot in an ordinary installation whose cluster is
// down: it answers people, says that it is ready, and stops when told to.
func TestServe(t *testing.T) {
	sim, url := localSlack(t)
	address := freeAddress(t)
	path := installed(t, url, address)
	var log shared
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--config", path}, func(string) string { return "" }, io.Discard, &log)
	}()
	defer func() {
		if t.Failed() {
			t.Log(log.String())
		}
	}()

	wait, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := sim.Wait(wait, "the bot's connection", func() bool { return len(sim.Connections()) > 0 }); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.As("alice").In("pay").Slash(wait, "/reconcile help"); err != nil {
		t.Fatal(err)
	}
	if err := sim.Wait(wait, "the answer", func() bool { return len(sim.Ephemerals("alice", "pay")) > 0 }); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/readyz answers %s with a connection to Slack", resp.Status)
	}

	stop()
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d after SIGTERM, want %d", code, exitDone)
	}
	db, err := state.Open(filepath.Join(filepath.Dir(path), "state.db"), time.Now)
	if err != nil {
		t.Fatalf("the state file was not let go: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "hidden") {
		t.Errorf("a secret is in the log:\n%s", log.String())
	}
	for _, finding := range sim.Findings() {
		t.Errorf("Slack's rules: %v", finding)
	}
}

// TestDoctorOnASickInstallation: everything that is down is named, with what
// to do, and nothing secret.
func TestDoctorOnASickInstallation(t *testing.T) {
	_, url := localSlack(t)
	code, out, stderr := call(t, t.Context(), "doctor", "--config", installed(t, url, "127.0.0.1:0"))
	if code != exitFailed || stderr != "" {
		t.Errorf("exit %d, stderr %q; want %d and nothing", code, stderr, exitFailed)
	}
	for _, want := range []string{
		"ok    slack: bot token: works in Acme",
		"ok    slack: scopes: all",
		"fail  kubernetes eu: reach:",
		"fail  argocd eu: server:",
		"fail  github: token:",
		"warn  audit: listener: is off",
		"ok    state: file:",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "hidden") {
		t.Errorf("a secret is in:\n%s", out)
	}
}
