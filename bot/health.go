package bot

import "sync"

// health knows whether people's commands reach the bot. It is safe for
// concurrent use.
type health struct {
	mu    sync.Mutex // guards what follows
	alive int
	why   string
}

func newHealth() *health { return &health{why: "not connected to Slack yet"} }

func (h *health) ready() (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive > 0 {
		return true, ""
	}
	return false, h.why
}

// up notes that Slack said hello on one more socket.
func (h *health) up() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive++
	h.why = ""
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
