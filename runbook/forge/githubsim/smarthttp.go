package githubsim

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"strings"
)

// serveGit answers clone, fetch and push by git's own http-backend.
func (s *Sim) serveGit(w http.ResponseWriter, req *http.Request) {
	fullName, rest, ok := splitGit(req.URL.Path)
	login := s.login(req)
	s.mu.Lock()
	r, err := s.repo(fullName)
	s.mu.Unlock()
	push := strings.HasSuffix(rest, "/git-receive-pack") || req.URL.Query().Get("service") == "git-receive-pack"
	switch {
	case !ok || login == "":
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Authentication failed: a token is needed as the password.", http.StatusUnauthorized)
		return
	case err != nil || r.may(login) < Read:
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return
	case push && r.may(login) < Write:
		http.Error(w, fmt.Sprintf("Permission to %s.git denied to %s.", fullName, login), http.StatusForbidden)
		return
	}
	backend, lookErr := exec.LookPath("git")
	if lookErr != nil {
		http.Error(w, lookErr.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	env := append(gitEnv(), "GIT_PROJECT_ROOT="+s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+login, "SIM_PROTECTED="+r.protectedRefs())
	s.mu.Unlock()
	if protocol := req.Header.Get("Git-Protocol"); protocol != "" {
		env = append(env, "GIT_PROTOCOL="+protocol)
	}
	(&cgi.Handler{Path: backend, Args: []string{"http-backend"}, Env: env}).ServeHTTP(w, req)
	if push {
		s.mu.Lock()
		r.arrived()
		s.mu.Unlock()
	}
}

// splitGit takes /owner/name.git/rest apart.
func splitGit(path string) (fullName, rest string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), ".git")
	if !ok || strings.Count(name, "/") != 1 || strings.Contains(path, "..") {
		return "", "", false
	}
	return name, rest, true
}

// login finds whose token a request carries: as a bearer, as GitHub's older
// "token", or as the password of any user.
func (s *Sim) login(req *http.Request) string {
	token := ""
	if _, password, ok := req.BasicAuth(); ok {
		token = password
	} else if kind, value, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && (strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token")) {
		token = strings.TrimSpace(value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}
