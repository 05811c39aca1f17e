package githubsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// version is that of the GitHub Enterprise Server that this host is.
const version = "3.17.0"

// Handler serves everything on one address.
func (s *Sim) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.mu.Lock()
		down := s.down
		s.mu.Unlock()
		if down {
			http.Error(w, "We had issues producing the response to your request.", http.StatusServiceUnavailable)
			return
		}
		if !s.held(req) {
			panic(http.ErrAbortHandler)
		}
		if strings.HasPrefix(req.URL.Path, "/api/v3/") {
			s.api.ServeHTTP(w, req)
			return
		}
		s.pages.ServeHTTP(w, req)
	})
}

// asked is one REST request, after authentication.
type asked struct {
	*http.Request
	sim    *Sim
	actor  actor
	login  string      // the actor's
	header http.Header // of the answer
}

// failure is an answer that is no success, in GitHub's form.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
type failure struct {
	status  int
	message string
	errors  []map[string]string
	doc     string // documentation_url, if it is a special one
}

func (f *failure) Error() string { return f.message }

func notFound() error { return &failure{status: http.StatusNotFound, message: "Not Found"} }

// invalid is GitHub's 422 for a request that breaks a rule.
func invalid(resource, text string) error {
	return &failure{status: http.StatusUnprocessableEntity, message: "Validation Failed",
		errors: []map[string]string{{"resource": resource, "code": "custom", "message": text}}}
}

// endpoint answers with a status and a value for JSON.
type endpoint func(a *asked) (status int, body any, err error)

// rest makes a handler of an endpoint: it authenticates, counts, looks whether
// the token has the right that is needed, and answers as GitHub's REST API
// does. The endpoint runs under the host's lock.
func (s *Sim) rest(needs string, f endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-GitHub-Request-Id", fmt.Sprintf("SIM:%X", s.now().UnixNano()))
		w.Header().Set("X-GitHub-Enterprise-Version", version)
		who, refusal := s.actor(req)
		if refusal != nil {
			s.answer(w, req, refusal.status, problem(refusal))
			return
		}
		s.mu.Lock()
		if who.rights == nil && who.app == nil {
			w.Header().Set("X-OAuth-Scopes", s.users[who.login].Scopes)
		}
		status, body, err := s.respond(&asked{Request: req, sim: s, actor: who, login: who.login, header: w.Header()}, needs, f)
		s.mu.Unlock()
		if err != nil {
			f, ok := errors.AsType[*failure](err)
			if !ok {
				f = &failure{status: http.StatusInternalServerError, message: err.Error()}
			}
			status, body = f.status, problem(f)
		}
		s.answer(w, req, status, body)
	}
}

func (s *Sim) respond(a *asked, needs string, f endpoint) (int, any, error) {
	if over := s.overLimit(a.header, a.login); over != nil {
		return 0, nil, over
	}
	if refusal := s.permit(a, needs); refusal != nil {
		return 0, nil, refusal
	}
	return f(a)
}

func problem(f *failure) map[string]any {
	p := map[string]any{"message": f.message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(f.status)}
	if f.doc != "" {
		p["documentation_url"] = f.doc
	}
	if f.errors != nil {
		p["errors"] = f.errors
	}
	return p
}

// answer writes JSON with an ETag; an unchanged GET is 304 and costs nothing.
func (s *Sim) answer(w http.ResponseWriter, req *http.Request, status int, body any) {
	var raw bytes.Buffer
	if body != nil {
		encoder := json.NewEncoder(&raw)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if req.Method == http.MethodGet && status == http.StatusOK {
		sum := sha256.Sum256(raw.Bytes())
		etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
		w.Header().Set("ETag", etag)
		w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
		if req.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	s.mu.Lock()
	s.spent++
	s.mu.Unlock()
	w.WriteHeader(status)
	_, _ = w.Write(raw.Bytes())
}

// maxBody bounds what a request may carry.
const maxBody = 1 << 20

// body decodes the request's JSON.
func (a *asked) body(into any) error {
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxBody))
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &failure{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	return nil
}

// repo finds the repository of the path. Who may not see it gets the same
// answer as if there were none.
func (a *asked) repo(need Permission) (*repo, error) {
	r, err := a.sim.repo(a.PathValue("owner") + "/" + a.PathValue("repo"))
	if err != nil || r.may(a.login) < Read {
		return nil, notFound()
	}
	if r.may(a.login) < need {
		return nil, &failure{status: http.StatusForbidden, message: "Must have " + need.String() + " rights to Repository."}
	}
	return r, nil
}

func (a *asked) pull(need Permission) (*repo, *pull, error) {
	r, err := a.repo(need)
	if err != nil {
		return nil, nil, err
	}
	p, ok := r.numbered(a.PathValue("number"))
	if !ok {
		return nil, nil, notFound()
	}
	return r, p, nil
}

// numbered finds a pull request.
func (r *repo) numbered(text string) (*pull, bool) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > len(r.pulls) {
		return nil, false
	}
	return r.pulls[number-1], true
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func (s *Sim) apiURL(parts ...string) string { return s.url + "/api/v3/" + strings.Join(parts, "/") }
