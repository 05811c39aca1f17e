package slacksim

import (
	"encoding/json"
	"time"
)

// A transcript is what went on between the workspace and the app, a JSON
// object per line, in the order in which it happened: envelopes with how they
// ended, calls with their answers' fate, sockets, and findings. Tokens are not
// in it; what people and the app wrote is.

// Line is one line of a transcript.
type Line struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // sent, ended, call, socket, finding
	// One of these is set, by kind.
	Envelope *Envelope `json:"envelope,omitempty"`
	Call     *Call     `json:"call,omitempty"`
	Finding  *Finding  `json:"finding,omitempty"`
	Socket   int       `json:"socket,omitempty"`
	Event    string    `json:"event,omitempty"` // of a socket: opened, closed
}

// record writes a line. The lock is held, so lines do not mix. A transcript
// that can't be written is given up, and that is a finding.
func (s *Sim) record(l Line) {
	if s.opts.Transcript == nil || s.mumbled {
		return
	}
	l.At = s.clock.Now()
	raw, err := json.Marshal(l)
	if err == nil {
		_, err = s.opts.Transcript.Write(append(raw, '\n'))
	}
	if err != nil {
		s.mumbled = true
		s.find("transcript", "the transcript ends here: %v", err)
	}
}
