package slacksim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
)

// shared is a file that connections write to while they end.
type shared struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *shared) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func TestATranscriptTellsWhatHappenedInOrder(t *testing.T) {
	file := &shared{}
	w := start(t, Options{Transcript: file})
	w.run(t, acking)
	if _, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile drift"); err != nil {
		t.Fatal(err)
	}
	w.post(t, "C0INC", "<!channel> look")
	w.Close()
	var got []string
	lines := bufio.NewScanner(strings.NewReader(file.text()))
	for lines.Scan() {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		switch {
		case l.Call != nil:
			got = append(got, l.Call.Method)
		case l.Envelope != nil:
			got = append(got, l.Kind+" "+l.Envelope.State)
		case l.Finding != nil:
			got = append(got, l.Finding.Rule)
		default:
			got = append(got, l.Event)
		}
		if strings.Contains(lines.Text(), w.BotToken()) || strings.Contains(lines.Text(), w.AppToken()) {
			t.Errorf("a token is in %s", lines.Text())
		}
	}
	want := "apps.connections.open opened sent sent ended acked " + RuleBroadcast + " chat.postMessage"
	if all := strings.Join(got, " "); !strings.HasPrefix(all, want) {
		t.Errorf("told %s, want %s", all, want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestATranscriptThatCannotBeWritten(t *testing.T) {
	w := start(t, Options{Transcript: full{}})
	w.post(t, "C0INC", "x")
	w.post(t, "C0INC", "y")
	if f := w.Findings(); len(f) != 1 || !strings.Contains(f[0].Detail, "no space left") {
		t.Errorf("findings %v", f)
	}
}
