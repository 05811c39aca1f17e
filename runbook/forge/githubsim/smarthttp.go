package githubsim

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"strings"
)

// serveGit answers clone, fetch and push by git's own http-backend.
func (s *Sim) serveGit(w http.ResponseWriter, req *http.Request) {
	fullName, rest, ok := splitGit(req.URL.Path)
	who, refusal := s.actor(req)
	push := strings.HasSuffix(rest, "/git-receive-pack") || req.URL.Query().Get("service") == "git-receive-pack"
	may := None
	s.mu.Lock()
	r, err := s.repo(fullName)
	if err == nil {
		may = r.may(who.login)
	}
	s.mu.Unlock()
	switch {
	case !ok || refusal != nil || who.app != nil:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Authentication failed: a token is needed as the password.", http.StatusUnauthorized)
		return
	case may < Read || !who.has("contents=read"):
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return
	case push && (may < Write || !who.has("contents=write")):
		http.Error(w, fmt.Sprintf("Permission to %s.git denied to %s.", fullName, who.login), http.StatusForbidden)
		return
	}
	whole, err := buffered(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer whole.Close()
	backend, lookErr := exec.LookPath("git")
	if lookErr != nil {
		http.Error(w, lookErr.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	env := append(gitEnv(), "GIT_PROJECT_ROOT="+s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+who.login)
	env = append(env, r.hookEnv()...)
	s.mu.Unlock()
	if protocol := req.Header.Get("Git-Protocol"); protocol != "" {
		env = append(env, "GIT_PROTOCOL="+protocol)
	}
	(&cgi.Handler{Path: backend, Args: []string{"http-backend"}, Env: env}).ServeHTTP(w, req)
	if push {
		s.mu.Lock()
		r.pusher = who.login
		r.arrived()
		s.mu.Unlock()
	}
}

// spool is a request's body on disk, gone when it is closed.
type spool struct{ *os.File }

func (s spool) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

// buffered reads the whole of a request before it is handed on. What git sends
// in pieces, as it does from one megabyte on, has no length; Go's CGI takes no
// such request, and git-http-backend wants to be told where it ends.
func buffered(req *http.Request) (io.Closer, error) {
	if req.ContentLength >= 0 {
		return req.Body, nil
	}
	file, err := os.CreateTemp("", "githubsim-push-")
	if err != nil {
		return nil, fmt.Errorf("take in a push: %w", err)
	}
	whole := spool{file}
	size, err := io.Copy(file, io.LimitReader(req.Body, maxPush+1))
	if err == nil && size > maxPush {
		err = fmt.Errorf("it is larger than %d MB", maxPush>>20)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take in a push: %w", err), whole.Close())
	}
	req.Body, req.ContentLength, req.TransferEncoding = whole, size, nil
	return whole, nil
}

// maxPush is how much one push may bring: GitHub's own limit.
// https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit
const maxPush = 2 << 30

// splitGit takes /owner/name.git/rest apart.
func splitGit(path string) (fullName, rest string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), ".git")
	if !ok || strings.Count(name, "/") != 1 || strings.Contains(path, "..") {
		return "", "", false
	}
	return name, rest, true
}
