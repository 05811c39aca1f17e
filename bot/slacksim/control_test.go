package slacksim

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// order uses the control API as a test in another process does.
func (w workspace) order(t *testing.T, path string, body obj) obj {
	t.Helper()
	answer, err := http.Post(w.url+"/_sim/"+path, "application/json", strings.NewReader(string(encode(body))))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var o obj
	if err := json.NewDecoder(answer.Body).Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

func (w workspace) look(t *testing.T, path string) any {
	t.Helper()
	answer, err := http.Get(w.url + "/_sim/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var v any
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheWholeJobFromOutsideTheProcess(t *testing.T) {
	w := start(t, Options{})
	w.run(t, w.card(t))
	if o := w.order(t, "command", obj{"user": "alice", "channel": "inc-1234", "text": "/reconcile drift"}); o["ok"] != true {
		t.Fatal(o)
	}
	card, _ := w.look(t, "wait?what=message&channel=inc-1234&contains=replicas").(obj)
	message, _ := card["result"].(obj)
	if o := w.order(t, "click", obj{"user": "alice", "channel": "inc-1234", "ts": message["ts"], "element": "Adopt into Git"}); o["ok"] != true {
		t.Fatal(o)
	}
	if o, _ := w.look(t, "wait?what=view&user=alice&contains=bypassed").(obj); o["ok"] != true {
		t.Fatal(o)
	}
	o := w.order(t, "submit", obj{"user": "alice", "values": obj{"reason": "no reason"}})
	result, _ := o["result"].(obj)
	if errors, _ := result["errors"].(obj); errors["reason"] != "Say why." {
		t.Errorf("submitting answered %v", o)
	}
	w.order(t, "submit", obj{"user": "alice", "values": obj{"reason": "queue"}})
	if o, _ := w.look(t, "wait?what=message&channel=inc-1234&contains=adopting").(obj); o["ok"] != true {
		t.Error(o)
	}
	if f, _ := w.look(t, "findings").([]any); len(f) != 0 {
		t.Errorf("findings %v", f)
	}
}

func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	w := start(t, Options{})
	for name, c := range map[string]struct {
		path string
		body obj
		want string
	}{
		"nobody":          {"command", obj{"user": "zoe", "channel": "C0INC", "text": "/reconcile"}, "no such person"},
		"nowhere":         {"message", obj{"user": "alice", "channel": "nowhere", "text": "x"}, "no such channel"},
		"no such message": {"click", obj{"user": "alice", "channel": "C0INC", "ts": "1.1", "element": "x"}, "no message 1.1"},
		"nothing open":    {"submit", obj{"user": "alice"}, "no view"},
		"a real clock":    {"clock/advance", obj{"seconds": 1}, "runs by itself"},
		"a taken name":    {"channel", obj{"new": obj{"name": "inc-1234"}}, "taken"},
	} {
		t.Run(name, func(t *testing.T) {
			if o := w.order(t, c.path, c.body); o["ok"] != false || !strings.Contains(str(o["error"]), c.want) {
				t.Errorf("answered %v, want %q", o, c.want)
			}
		})
	}
}

func TestOtherSitesCannotAct(t *testing.T) {
	w := start(t, Options{})
	for name, c := range map[string]struct{ host, origin string }{
		"another origin":         {"", "https://evil.example.com"},
		"another name for us":    {"evil.example.com", ""},
		"an origin without host": {"", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodPost, w.url+"/_sim/faults/clear", strings.NewReader("{}"))
			if c.host != "" {
				req.Host = c.host
			}
			if c.origin != "" {
				req.Header.Set("Origin", c.origin)
			}
			got := httptest.NewRecorder()
			w.Handler().ServeHTTP(got, req)
			if got.Code != http.StatusForbidden {
				t.Errorf("answered %d", got.Code)
			}
		})
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	sim, err := New(testSeed(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Serve(t.Context(), elsewhere{}); err == nil || !strings.Contains(err.Error(), "only loopback") {
		t.Errorf("got %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- sim.Serve(ctx, l) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, answer); !strings.Contains(got, "Local Slack") || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Errorf("the page is %s with %v", got, answer.Header)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// elsewhere is a listener on an address that others can reach.
type elsewhere struct{ net.Listener }

func (elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func TestThePageHearsOfChanges(t *testing.T) {
	w := start(t, Options{})
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/_sim/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	buf := make([]byte, 64)
	for n := range 2 {
		if _, err := answer.Body.Read(buf); err != nil {
			t.Fatalf("message %d: %v", n, err)
		}
		w.post(t, "C0INC", "news")
	}
}

func TestCardsAreDrawnWithoutAnApp(t *testing.T) {
	page := CardsPage([]NamedCard{
		{Name: "drift", Text: "x", Blocks: []byte(`[{"type":"header","text":{"type":"plain_text","text":"x"}}]`)},
		{Name: "wrong", Text: "x", Blocks: []byte(`[{"type":"headr"}]`)},
	})
	got := httptest.NewRecorder()
	page.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/cards.json", nil))
	var cards []struct {
		Name   string
		Faults []string
	}
	if err := json.Unmarshal(got.Body.Bytes(), &cards); err != nil || len(cards) != 2 {
		t.Fatalf("%s: %v", got.Body, err)
	}
	if len(cards[0].Faults) != 0 || len(cards[1].Faults) != 1 {
		t.Errorf("cards %+v", cards)
	}
}
