package slacksim

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/http"
	"sync"
)

// Slack drops messages that arrive in several frames, which clients with a
// small write buffer send without knowing. The WebSocket library joins frames,
// so the bytes are watched on their way to it.

// watched is a connection that remembers for each message whether it came in
// one frame. It is safe for concurrent use.
type watched struct {
	net.Conn
	parser frameParser

	mu    sync.Mutex
	whole []bool // per message, the oldest first
}

// Read passes bytes on and follows the frames in them.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = append(w.whole, w.parser.feed(p[:n])...)
	return n, err
}

// next tells whether the oldest message not yet asked about came in one frame.
func (w *watched) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.whole) == 0 {
		return true
	}
	one := w.whole[0]
	w.whole = w.whole[1:]
	return one
}

// frameParser follows frame headers, RFC 6455 section 5.2, and skips payloads.
type frameParser struct {
	head    []byte // of the frame that is being read
	skip    uint64 // payload bytes still to come
	started bool   // within a message of several frames
}

// feed returns an entry for each message that ends in these bytes.
func (f *frameParser) feed(p []byte) []bool {
	var whole []bool
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(p)))
			f.skip -= n
			p = p[n:]
			continue
		}
		f.head = append(f.head, p[0])
		p = p[1:]
		size, ok := f.payload()
		if !ok {
			continue
		}
		fin, opcode := f.head[0]&0x80 != 0, f.head[0]&0x0f
		f.head, f.skip = f.head[:0], size
		if opcode >= 8 {
			continue // control frames stand between those of a message
		}
		if fin {
			whole = append(whole, !f.started && opcode != 0)
		}
		f.started = !fin
	}
	return whole
}

// payload is the frame's length, once its header is complete.
func (f *frameParser) payload() (uint64, bool) {
	if len(f.head) < 2 {
		return 0, false
	}
	need, size := 2, uint64(f.head[1]&0x7f)
	masked := f.head[1]&0x80 != 0
	switch size {
	case 126:
		need += 2
	case 127:
		need += 8
	}
	if masked {
		need += 4
	}
	if len(f.head) < need {
		return 0, false
	}
	switch size {
	case 126:
		size = uint64(binary.BigEndian.Uint16(f.head[2:]))
	case 127:
		size = binary.BigEndian.Uint64(f.head[2:])
	}
	return size, true
}

// watcher hands the WebSocket library a watched connection.
type watcher struct {
	http.ResponseWriter
	conn *watched
}

// Hijack takes the connection over from the HTTP server.
func (w *watcher) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.conn = &watched{Conn: conn}
	return w.conn, rw, nil
}
