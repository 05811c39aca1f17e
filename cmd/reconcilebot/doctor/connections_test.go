package doctor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// listens opens a connection of the app, as any process can that has the
// token, and holds it.
func listens(t *testing.T, s Slack) {
	t.Helper()
	a, _, err := s.call(t.Context(), s.AppToken, "apps.connections.open", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.DefaultDialer.Dial(a.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, _, err := conn.ReadMessage(); err != nil {
		t.Fatal(err)
	}
}

// TestConnections: whoever else listens with the app-level token is found.
func TestConnections(t *testing.T) {
	bot := func(answer string) func(*testing.T, *Slack) {
		return func(t *testing.T, s *Slack) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
			t.Cleanup(srv.Close)
			s.Listen = srv.Listener.Addr().String()
		}
	}
	const holdsTwo = "# TYPE reconcilebot_slack_sockets gauge\nreconcilebot_slack_sockets 2\n"
	tests := map[string]struct {
		open   int
		change func(*testing.T, *Slack)
		level  Level
		words  string
	}{
		"nobody":                       {0, nil, OK, "Slack counts none of this app besides the doctor's own"},
		"a stranger, and no bot here":  {1, nil, Warn, "Slack counts 1 of this app besides the doctor's own, though no bot answers here"},
		"the bot's own":                {2, bot(holdsTwo), OK, "Slack counts 2 of this app, all of the bot here"},
		"a stranger beside the bot":    {3, bot(holdsTwo), Warn, "Slack counts 3 of this app besides the doctor's own, and the bot here holds 2 of them"},
		"something else answers there": {1, bot("hello"), Warn, "does not say how many are its"},
		"a bot that does not run": {0, func(t *testing.T, s *Slack) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s.Listen = l.Addr().String()
			_ = l.Close()
		}, OK, "besides the doctor's own"},
		"a token that opens nothing": {0, func(_ *testing.T, s *Slack) { s.AppToken = token("xapp-hidden-old") }, Warn, "Slack does not say how many are open"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := workspace(t)
			for range tt.open {
				listens(t, s)
			}
			if tt.change != nil {
				tt.change(t, &s)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			found := s.connections(ctx)
			want(t, found, tt.level, tt.words)
			for _, f := range found {
				if strings.Contains(f.Say+f.Cure, "hidden") || strings.Contains(f.Say, "ticket") {
					t.Errorf("a secret is in %+v", f)
				}
			}
		})
	}
}
