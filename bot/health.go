package bot

import "sync"

// health knows whether people's commands reach the bot. It is safe for
// concurrent use.
type health struct {
	mu    sync.Mutex // guards what follows
	alive int
	why   string
	// gone says that the app was removed; empty while it is not.
	gone string
}

func newHealth() *health { return &health{why: "not connected to Slack yet"} }

func (h *health) ready() (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.gone != "":
		return false, h.gone
	case h.alive > 0:
		return true, ""
	}
	return false, h.why
}

// up notes that Slack said hello on one more socket.
func (h *health) up() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive++
	h.why, h.gone = "", ""
}

// removed notes that Slack took the app's rights away. Connections that are
// still open bring nothing any more; the next hello shows that it is back.
func (h *health) removed(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = why
}

// down notes that such a socket is gone.
func (h *health) down(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive--
	if h.why == "" { // otherwise the reason is known better already
		h.why = why
	}
}

// trouble notes why there is no connection.
func (h *health) trouble(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.why = why
}

func (h *health) sockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.alive
}
