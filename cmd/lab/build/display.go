package build

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Lines is a Display on a writer: on a terminal one live line, elsewhere (a log,
// a pipe) a line every ten seconds. It is safe for concurrent use.
type Lines struct {
	Out      io.Writer
	Terminal bool
	Now      func() time.Time

	mu    sync.Mutex
	live  bool
	shown time.Time
}

// Live implements Display.
func (l *Lines) Live(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Terminal {
		fmt.Fprintf(l.Out, "\r\033[K%s", cut(text, 118))
		l.live = true
		return
	}
	switch {
	case l.shown.IsZero():
		l.shown = l.Now()
	case l.Now().Sub(l.shown) >= 10*time.Second:
		l.shown = l.Now()
		fmt.Fprintln(l.Out, text)
	}
}

// Say implements Display.
func (l *Lines) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintln(l.Out, text)
}

// Clear takes the live line away, so that something else can be written there.
func (l *Lines) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Lines) clear() {
	if l.live {
		fmt.Fprint(l.Out, "\r\033[K")
		l.live = false
	}
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
