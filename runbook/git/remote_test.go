package git

import (
	"bytes"
	"context"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// remote is a bare repository behind Git's own server for smart HTTP, with
// a password.
type remote struct {
	t   *testing.T
	dir string
	URL string
	// status, if set, is answered to every request.
	status atomic.Int32
	// requests counts them.
	requests atomic.Int32
}

const token = "s3cr3t-t0ken"

var when = time.Date(2026, 11, 30, 14, 2, 0, 0, time.UTC)

func newRemote(t *testing.T) *remote {
	t.Helper()
	root := t.TempDir()
	r := &remote{t: t, dir: filepath.Join(root, "web.git")}
	r.git("init", "--quiet", "--bare", "--initial-branch=main", r.dir)
	r.git("--git-dir="+r.dir, "config", "http.receivepack", "true")
	backend := filepath.Join(strings.TrimSpace(r.git("--exec-path")), "git-http-backend")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.requests.Add(1)
		if code := r.status.Load(); code != 0 {
			http.Error(w, "no: "+req.Header.Get("Authorization"), int(code))
			return
		}
		if user, password, _ := req.BasicAuth(); user != "x-access-token" || password != token {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bot"}}).ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL + "/web.git"
	return r
}

// git runs Git and gives its output.
func (r *remote) git(args ...string) string {
	return r.gitInput("", args...)
}

func (r *remote) gitInput(input string, args ...string) string {
	r.t.Helper()
	// Not t.Context(): the server may be asked in a cleanup.
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// at runs Git on the remote's repository.
func (r *remote) at(args ...string) string {
	r.t.Helper()
	return strings.TrimSpace(r.git(append([]string{"--git-dir=" + r.dir}, args...)...))
}

// load feeds git fast-import.
func (r *remote) load(stream string) {
	r.t.Helper()
	r.gitInput(stream, "--git-dir="+r.dir, "fast-import", "--quiet", "--force")
}

// history is what most tests find on the remote: three commits on main, one
// beside it, a tag with a message, a link, a program and a submodule.
const history = `blob
mark :1
data 9
one
two

commit refs/heads/main
mark :10
author Alice <alice@example.com> 1000000000 +0000
committer Alice <alice@example.com> 1000000000 +0000
data <<E
First
E
M 100644 :1 apps/web.yaml
M 100755 inline bin/run
data 3
run
M 120000 inline link.yaml
data 13
apps/web.yaml
M 160000 0123456789012345678901234567890123456789 vendored

commit refs/heads/main
mark :11
author Bob <bob@example.com> 1000000100 +0000
committer Bob <bob@example.com> 1000000100 +0000
data <<E
hotfix(reconcile): second

For a reason.

Incident: INC-1234
Reconcile-Operator: alice@example.com
 and bob@example.com
E
M 100644 inline apps/web.yaml
data 15
zero
one
2 two

commit refs/heads/side
mark :12
author Eve <eve@example.com> 1000000200 +0000
committer Eve <eve@example.com> 1000000200 +0000
data <<E
Side
E
from :10
M 100644 inline side.txt
data 5
side

commit refs/heads/main
mark :13
author Alice <alice@example.com> 1000000300 +0000
committer Alice <alice@example.com> 1000000300 +0000
data <<E
Third
E
from :11
M 100644 inline other.txt
data 6
other

tag v1
from :11
tagger Alice <alice@example.com> 1000000400 +0000
data <<E
Version one
E

`

func (r *remote) open(dir string) *Repo {
	r.t.Helper()
	repo, err := Open(r.t.Context(), Config{Dir: dir, URL: r.URL, Token: func(context.Context) (string, error) { return token, nil }, Timeout: 20 * time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	return repo
}
