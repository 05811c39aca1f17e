package slacksim

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody bounds what one request may carry; Slack's own bound is near it.
const maxBody = 4 << 20

// failure is an answer with ok:false.
type failure struct {
	code string
	more obj // fields beside ok and error
}

func fail(code string) *failure { return &failure{code: code} }

// args are a call's arguments. JSON values other than strings are kept as
// their JSON text, which is also how form clients send them.
type args map[string]string

func (a args) has(name string) bool { _, ok := a[name]; return ok }

func (a args) flag(name string) bool { return a[name] == "true" || a[name] == "1" }

func (a args) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(a[name]); err == nil {
		return n
	}
	return otherwise
}

// call is one request to the Web API.
type call struct {
	name    string
	method  *method
	args    args
	token   string
	base    string // scheme and host the app used, for URLs in the answer
	warning string
	short   bool // pages hold fewer than was asked for
	lose    bool // a fault: answer ok and show nothing
}

// api serves /api/METHOD.
func (s *Sim) api(w http.ResponseWriter, r *http.Request) {
	began := s.clock.Now()
	c := &call{name: strings.TrimPrefix(r.URL.Path, "/api/"), base: "http://" + r.Host}
	c.method = methods()[c.name]
	if err := c.read(r); err != nil {
		writeJSON(w, http.StatusOK, obj{"ok": false, "error": "invalid_form_data"})
		return
	}
	c.short = s.opts.ShortPages
	rule := s.faultFor(trait{Method: c.name, Channel: c.args["channel"], User: c.args["user"]})
	if rule.before(w, r) {
		s.note(c, began, http.StatusServiceUnavailable, "fault")
		return
	}
	if rule != nil {
		c.lose = rule.Lose
		if rule.Warn != "" {
			c.warning = rule.Warn
		}
	}
	status, answer := s.answer(w, c)
	s.note(c, began, status, str(answer["error"]))
	if rule.after(w) {
		return
	}
	if rule.truncates() {
		raw := encode(answer)
		_, _ = w.Write(raw[:len(raw)/2]) // a client that is gone needs no answer
		return
	}
	writeJSON(w, status, answer)
}

// answer decides a call under the lock.
func (s *Sim) answer(w http.ResponseWriter, c *call) (int, obj) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := w.Header()
	h.Set("X-Slack-Req-Id", s.secret(32))
	if f := s.admit(c); f != nil {
		return http.StatusOK, f.body()
	}
	h.Set("X-OAuth-Scopes", s.manifest.scopes())
	h.Set("X-Accepted-OAuth-Scopes", strings.Join(c.method.scopes, ","))
	if wait := s.limit(c); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return http.StatusTooManyRequests, fail("ratelimited").body()
	}
	s.lint(c)
	answer, f := c.method.do(s, c)
	if f != nil {
		return http.StatusOK, f.body()
	}
	if answer == nil {
		answer = obj{}
	}
	answer["ok"] = true
	if c.warning != "" {
		answer["warning"] = c.warning
		answer["response_metadata"] = obj{"warnings": []string{c.warning}}
	}
	if c.method.writes {
		s.bump()
	}
	return http.StatusOK, answer
}

// admit checks method, token and scope.
func (s *Sim) admit(c *call) *failure {
	if c.method == nil {
		s.find(RuleUnknownMethod, "the app called %q, which is not a method here", c.name)
		return &failure{"unknown_method", obj{"req_method": c.name}}
	}
	switch {
	case c.method.open:
		return nil
	case c.token == "":
		return fail("not_authed")
	case s.inactive && c.token == s.opts.BotToken:
		return fail("account_inactive")
	case s.revoked[c.token]:
		return fail("token_revoked")
	case c.token != s.opts.BotToken && c.token != s.opts.AppToken:
		return fail("invalid_auth")
	case (c.token == s.opts.AppToken) != c.method.app:
		return fail("not_allowed_token_type")
	}
	return s.scope(c.method.scopes...)
}

// scope wants one of the scopes; none wanted is always granted.
func (s *Sim) scope(anyOf ...string) *failure {
	if len(anyOf) == 0 {
		return nil
	}
	for _, scope := range anyOf {
		if s.manifest.granted(scope) {
			return nil
		}
	}
	s.find(RuleScope, "the app needs %s, which its manifest does not ask for", strings.Join(anyOf, " or "))
	return &failure{"missing_scope", obj{"needed": strings.Join(anyOf, ","), "provided": s.manifest.scopes()}}
}

func (f *failure) body() obj {
	o := obj{"ok": false, "error": f.code}
	for k, v := range f.more {
		o[k] = v
	}
	return o
}

// read takes arguments and token from wherever clients put them. A token in a
// JSON body is ignored, as Slack does.
func (c *call) read(r *http.Request) error {
	c.args = args{}
	for k, v := range r.URL.Query() {
		c.args[k] = v[0]
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	switch kind {
	case "application/json":
		if err := c.readJSON(body); err != nil {
			return err
		}
		delete(c.args, "token")
		if !strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "charset") {
			c.warning = "missing_charset"
		}
	case "multipart/form-data":
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return err
		}
		c.take(r.MultipartForm.Value)
	default:
		if strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "charset") {
			c.warning = "superfluous_charset"
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return err
		}
		c.take(form)
	}
	c.token = c.args["token"]
	delete(c.args, "token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		c.token = bearer
	}
	return nil
}

func (c *call) take(form url.Values) {
	for k, v := range form {
		c.args[k] = v[0]
	}
}

func (c *call) readJSON(body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil || len(raw) == 0 {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for k, v := range fields {
		var text string
		switch {
		case string(v) == "null":
		case json.Unmarshal(v, &text) == nil:
			c.args[k] = text
		default:
			c.args[k] = string(v)
		}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body)) // a client that is gone needs no answer
}
