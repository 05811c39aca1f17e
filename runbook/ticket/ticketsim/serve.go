package ticketsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// call is one request to the API.
type call struct {
	*http.Request
	op    *operation
	names map[string]string // what the path names
	body  []byte
}

// reply is what is answered.
type reply struct {
	status int
	header map[string]string
	body   any
}

// serve answers one request: the fault that it meets, or what the system says.
func (s *Sim) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	defer func() { close(s.changed); s.changed = make(chan struct{}) }()
	if s.down {
		panic(http.ErrAbortHandler)
	}
	writes := r.Method != http.MethodGet && r.Method != http.MethodHead
	f, failing := s.fault(writes)
	if failing && f.Status != 0 {
		f.headers(w.Header())
		answer(w, reply{status: f.Status, body: map[string]any{"message": http.StatusText(f.Status)}})
		return
	}
	c := call{Request: r, body: body}
	c.op, c.names = s.schema.match(r.Method, strings.TrimPrefix(r.URL.Path, s.prefix()))
	if c.op == nil {
		s.find("%s %s is not in the published API", r.Method, r.URL.Path)
		answer(w, reply{status: http.StatusNotFound})
		return
	}
	s.findings = append(s.findings, c.op.checkRequest(r.URL.Query(), body)...)
	out := s.act(c)
	if writes && out.status < 300 {
		s.writes++
	}
	raw := answerBody(out)
	if err := c.op.checkResponse(out.status, raw); err != nil {
		s.find("%v", err)
	}
	if failing && f.Drop {
		panic(http.ErrAbortHandler)
	}
	answer(w, out)
}

func (s *Sim) act(c call) reply {
	switch s.kind {
	case GitHub:
		return s.github(c)
	case PagerDuty:
		return s.pagerDuty(c)
	case Webhook:
		return s.webhook(c)
	}
	return s.jira(c)
}

func answerBody(r reply) []byte {
	if r.body == nil {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r.body) // only what encodes is put there
	return b.Bytes()
}

func answer(w http.ResponseWriter, r reply) {
	for key, value := range r.header {
		w.Header().Set(key, value)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(r.status)
	_, _ = w.Write(answerBody(r)) // the other end may be gone
}

// number reads a number from the path; 0 is none's.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// comment finds a comment and its ticket.
func (s *Sim) comment(id int) (*ticket, *Comment) {
	for _, t := range s.tickets {
		for i := range t.comments {
			if t.comments[i].ID == id {
				return t, &t.comments[i]
			}
		}
	}
	return nil, nil
}
