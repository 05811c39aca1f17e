package git

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

func TestTreeShowsTheFilesOfACommit(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	tree, err := repo.Tree(t.Context(), r.at("rev-parse", "main"))
	if err != nil {
		t.Fatal(err)
	}
	// The root has entries that can't be opened, which TestFS does not allow.
	for dir, file := range map[string]string{"apps": "web.yaml", "bin": "run"} {
		sub, err := fs.Sub(tree, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(sub, file); err != nil {
			t.Error(err)
		}
	}
	if got, err := fs.ReadFile(tree, "apps/web.yaml"); string(got) != "zero\none\n2 two\n" || err != nil {
		t.Errorf("apps/web.yaml: %q, %v", got, err)
	}
	for name, want := range map[string]fs.FileMode{"apps": fs.ModeDir | 0o755, "apps/web.yaml": 0o644, "bin/run": 0o755, "link.yaml": fs.ModeSymlink | 0o777, "vendored": fs.ModeIrregular} {
		if st, err := fs.Lstat(tree, name); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, st, err, want)
		}
	}
	if to, err := fs.ReadLink(tree, "link.yaml"); to != "apps/web.yaml" || err != nil {
		t.Errorf("link: %q, %v", to, err)
	}
	for _, name := range []string{"link.yaml", "vendored", "apps", "apps/none", "../etc/passwd", "/etc/passwd", "bin/run/x"} {
		if data, err := fs.ReadFile(tree, name); err == nil {
			t.Errorf("%s was read: %q", name, data)
		}
	}
	if _, err := fs.Stat(tree, "apps/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestResolve(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main, side, second := r.at("rev-parse", "main"), r.at("rev-parse", "side"), r.at("rev-parse", "main~1")
	for revision, want := range map[string]string{
		"": main, "HEAD": main, "main": main, "side": side, "refs/heads/side": side, "v1": second, "refs/tags/v1": second,
		second: second, second[:8]: second,
	} {
		if got, err := repo.Resolve(t.Context(), revision); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", revision, got, err, want)
		}
	}
	for _, revision := range []string{"none", "refs/tags/main", "0123456789012345678901234567890123456789", "main~1", "-x", r.at("rev-parse", "main^{tree}")} {
		_, err := repo.Resolve(t.Context(), revision)
		if err == nil {
			t.Errorf("%s was resolved", revision)
		}
	}
	if name, err := repo.DefaultBranch(t.Context()); name != "main" || err != nil {
		t.Errorf("default branch %q, %v", name, err)
	}
}

func TestHistory(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main, second, first := r.at("rev-parse", "main"), r.at("rev-parse", "main~1"), r.at("rev-parse", "main~2")
	list, err := repo.History(t.Context(), main, "apps/web.yaml", 10)
	if err != nil || len(list) != 2 || list[0].SHA != second || list[1].SHA != first {
		t.Fatalf("%+v, %v", list, err)
	}
	want := Commit{SHA: second, AuthorName: "Bob", AuthorEmail: "bob@example.com", Subject: "hotfix(reconcile): second", When: time.Unix(1000000100, 0).UTC()}
	got := list[0]
	if got.Trailers["Incident"] != "INC-1234" || got.Trailers["Reconcile-Operator"] != "alice@example.com and bob@example.com" {
		t.Errorf("trailers: %q", got.Trailers)
	}
	if got.SHA != want.SHA || got.AuthorName != want.AuthorName || got.AuthorEmail != want.AuthorEmail || got.Subject != want.Subject || !got.When.Equal(want.When) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if list[1].Trailers != nil {
		t.Errorf("a message of one line has trailers %q", list[1].Trailers)
	}
	if list, err = repo.History(t.Context(), main, "apps/web.yaml", 1); len(list) != 1 || err != nil {
		t.Errorf("at most one: %+v, %v", list, err)
	}
	for line, want := range map[int]string{1: second, 2: first, 3: second} {
		if c, err := repo.LastTouched(t.Context(), main, "apps/web.yaml", line); c.SHA != want || err != nil {
			t.Errorf("line %d: %s, %v; want %s", line, c.SHA, err, want)
		}
	}
	if _, err := repo.LastTouched(t.Context(), main, "none", 1); err == nil {
		t.Error("a file that is not there was touched")
	}
	side := r.at("rev-parse", "side")
	for pair, want := range map[[2]string]bool{{main, first}: true, {main, main}: true, {first, main}: false, {main, side}: false, {side, first}: true, {main, strings.Repeat("1", 40)}: false} {
		if got, err := repo.Contains(t.Context(), pair[0], pair[1]); got != want || err != nil {
			t.Errorf("%v: %t, %v", pair, got, err)
		}
	}
	patch, err := repo.Diff(t.Context(), first, main, "apps")
	if err != nil || !strings.Contains(patch, "+2 two") || strings.Contains(patch, "other") {
		t.Errorf("diff: %s, %v", patch, err)
	}
}

func request(base string) CommitRequest {
	return CommitRequest{
		Base: base, Edits: map[string][]byte{"apps/web.yaml": []byte("new\n"), "bin/run": []byte("run 2"), "a/b/c.yaml": []byte("c\n")},
		Delete: []string{"other.txt"}, Message: "hotfix(reconcile): x\n\nIncident: INC-1",
		Author: Person{"Bot", "bot@example.com"}, Committer: Person{"Bot", "bot@example.com"}, When: when,
	}
}

func TestCommitAndPush(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main := r.at("rev-parse", "main")
	sha, err := repo.Commit(t.Context(), request(main))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := repo.Commit(t.Context(), request(main)); again != sha || err != nil {
		t.Errorf("the same request gave %s, %v; want %s", again, err, sha)
	}
	if other, err := r.open(t.TempDir()).Commit(t.Context(), request(main)); other != sha || err != nil {
		t.Errorf("in another copy the same request gave %s, %v; want %s", other, err, sha)
	}
	if _, found, err := repo.RemoteBranch(t.Context(), "reconcile/x"); found || err != nil {
		t.Fatalf("before the push: %t, %v", found, err)
	}
	for range 2 { // the second time nothing is left to do
		if err := repo.Push(t.Context(), sha, "reconcile/x"); err != nil {
			t.Fatal(err)
		}
	}
	r.at("fsck", "--strict", "--no-dangling")
	if got, found, err := repo.RemoteBranch(t.Context(), "reconcile/x"); got != sha || !found || err != nil {
		t.Errorf("after the push: %s, %t, %v", got, found, err)
	}
	want := "100644 a/b/c.yaml\n100644 apps/web.yaml\n100755 bin/run\n120000 link.yaml\n160000 vendored"
	if got := r.at("ls-tree", "-r", "--format=%(objectmode) %(path)", "reconcile/x"); got != want {
		t.Errorf("files:\n%s\nwant\n%s", got, want)
	}
	if got := r.at("log", "-1", "--format=%an <%ae> %at|%P|%s|%(trailers:key=Incident,valueonly)", "reconcile/x"); !strings.HasPrefix(got, "Bot <bot@example.com> 1796047320|"+main+"|hotfix(reconcile): x|INC-1") {
		t.Errorf("commit: %s", got)
	}
	if got := r.at("show", "reconcile/x:apps/web.yaml"); got != "new" {
		t.Errorf("content: %s", got)
	}
	if _, found, err := repo.Branch(t.Context(), "reconcile/x"); found || err != nil {
		t.Errorf("not fetched yet, but found: %t, %v", found, err)
	}
	if err := repo.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := repo.Branch(t.Context(), "reconcile/x"); got != sha {
		t.Errorf("after the fetch: %s", got)
	}
	if err := repo.DeleteBranch(t.Context(), "reconcile/x", sha); err != nil {
		t.Fatal(err)
	}
	if err := repo.DeleteBranch(t.Context(), "reconcile/x", sha); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	if err := repo.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := repo.Branch(t.Context(), "reconcile/x"); found {
		t.Error("a branch that is gone is still in the copy")
	}
}

func TestPushNeverMovesABranch(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main := r.at("rev-parse", "main")
	sha, err := repo.Commit(t.Context(), request(main))
	if err != nil {
		t.Fatal(err)
	}
	// Forward too: somebody else's branch is not ours to move.
	err = repo.Push(t.Context(), sha, "main")
	if c, ok := errors.AsType[*Conflict](err); !ok || c.Have != main || c.Want != sha {
		t.Errorf("got %v", err)
	}
	if err := repo.DeleteBranch(t.Context(), "main", sha); err == nil {
		t.Error("a branch that had moved was deleted")
	}
	if got := r.at("rev-parse", "main"); got != main {
		t.Errorf("main moved to %s", got)
	}
	for _, branch := range []string{"", "-f", "a b", "a..b", "x.lock", "a\nb"} {
		if err := repo.Push(t.Context(), sha, branch); err == nil {
			t.Errorf("pushed to %q", branch)
		}
	}
	if err := repo.Push(t.Context(), strings.Repeat("1", 40), "y"); err == nil {
		t.Error("pushed a commit that is not there")
	}
}

func TestProtectedBranch(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	hook := "#!/bin/sh\necho 'no, and here is why' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	repo := r.open(t.TempDir())
	sha, err := repo.Commit(t.Context(), request(r.at("rev-parse", "main")))
	if err != nil {
		t.Fatal(err)
	}
	err = repo.Push(t.Context(), sha, "x")
	if rejected, ok := errors.AsType[*Rejected](err); !ok || !strings.Contains(rejected.Reason, "pre-receive hook declined") || !strings.Contains(rejected.Reason, "here is why") {
		t.Errorf("got %v", err)
	}
}

func TestCommitsThatCannotBe(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main := r.at("rev-parse", "main")
	for name, spoil := range map[string]func(*CommitRequest){
		"no change":                func(c *CommitRequest) { c.Edits, c.Delete = nil, nil },
		"the same content":         func(c *CommitRequest) { c.Edits, c.Delete = map[string][]byte{"other.txt": []byte("other\n")}, nil },
		"no message":               func(c *CommitRequest) { c.Message = " \n" },
		"no time":                  func(c *CommitRequest) { c.When = time.Time{} },
		"no such base":             func(c *CommitRequest) { c.Base = strings.Repeat("1", 40) },
		"a branch for base":        func(c *CommitRequest) { c.Base = "main" },
		"a name with a line break": func(c *CommitRequest) { c.Author.Name = "a\nb" },
		"a path out of the tree":   func(c *CommitRequest) { c.Edits = map[string][]byte{"../x": nil} },
		"an absolute path":         func(c *CommitRequest) { c.Edits = map[string][]byte{"/x": nil} },
		"Git's own folder":         func(c *CommitRequest) { c.Edits = map[string][]byte{"a/.GIT/config": nil} },
		"a link":                   func(c *CommitRequest) { c.Edits = map[string][]byte{"link.yaml": nil} },
		"a submodule":              func(c *CommitRequest) { c.Edits = map[string][]byte{"vendored/x": nil} },
		"through a file":           func(c *CommitRequest) { c.Edits, c.Delete = map[string][]byte{"other.txt/x": nil}, nil },
		"a directory":              func(c *CommitRequest) { c.Edits = map[string][]byte{"apps": nil} },
		"deleting what is not":     func(c *CommitRequest) { c.Delete = []string{"none"} },
	} {
		req := request(main)
		spoil(&req)
		if sha, err := repo.Commit(t.Context(), req); err == nil {
			t.Errorf("%s: committed as %s", name, sha)
		}
	}
}

func TestCopyIsReusedAndMended(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	dir := t.TempDir()
	r.open(dir)
	before := r.requests.Load()
	repo := r.open(dir)
	if r.requests.Load() != before {
		t.Error("opening a good copy asked the remote")
	}
	if err := repo.Fetch(t.Context()); err != nil || r.requests.Load() != before+1 {
		t.Errorf("a fetch without news made %d requests, %v", r.requests.Load()-before, err)
	}
	// A first fetch that failed leaves an empty copy.
	broken := t.TempDir()
	r.status.Store(http.StatusBadGateway)
	if _, err := Open(t.Context(), Config{Dir: broken, URL: r.URL}); err == nil {
		t.Error("opened without a remote")
	}
	r.status.Store(0)
	if _, found, err := r.open(broken).Branch(t.Context(), "main"); !found || err != nil {
		t.Errorf("after a first fetch that failed: %t, %v", found, err)
	}
	packs, err := filepath.Glob(filepath.Join(repo.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	for _, p := range packs {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	mended := r.open(dir)
	if _, err := mended.Tree(t.Context(), r.at("rev-parse", "main")); err != nil {
		t.Errorf("after mending: %v", err)
	}
	if err := os.WriteFile(filepath.Join(repo.dir, "HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(repo.dir, "objects")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.open(dir).Tree(t.Context(), r.at("rev-parse", "main")); err != nil {
		t.Errorf("after mending again: %v", err)
	}
}

func TestEmptyRepository(t *testing.T) {
	r := newRemote(t)
	repo := r.open(t.TempDir())
	if _, found, err := repo.Branch(t.Context(), "main"); found || err != nil {
		t.Errorf("%t, %v", found, err)
	}
	if _, err := repo.Resolve(t.Context(), "HEAD"); err == nil {
		t.Error("HEAD was resolved")
	}
	r.load(history)
	if err := repo.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Resolve(t.Context(), "HEAD"); got != r.at("rev-parse", "main") || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestErrorsSayWhatToDoAndHideTheToken(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	sha, err := repo.Commit(t.Context(), request(r.at("rev-parse", "main")))
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"fetch":  func() error { return repo.Fetch(t.Context()) },
		"push":   func() error { return repo.Push(t.Context(), sha, "x") },
		"look":   func() error { _, _, err := repo.RemoteBranch(t.Context(), "x"); return err },
		"delete": func() error { return repo.DeleteBranch(t.Context(), "x", sha) },
	}
	for code, down := range map[int]bool{
		http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusNotFound: false,
		http.StatusInternalServerError: true, http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusTooManyRequests: true,
	} {
		r.status.Store(int32(code))
		for name, call := range calls {
			err := call()
			_, unavailable := errors.AsType[*Unavailable](err)
			denied, isDenied := errors.AsType[*Denied](err)
			if unavailable != down || isDenied == down || isDenied && denied.Cure == "" {
				t.Errorf("%d, %s: %T %v", code, name, err, err)
			}
			if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), base64.StdEncoding.EncodeToString([]byte(token))[4:12])) {
				t.Errorf("%d, %s: the token is in %q", code, name, err)
			}
		}
	}
	r.status.Store(0)
	for name, c := range map[string]Config{
		"a wrong token":   {URL: r.URL, Token: func(context.Context) (string, error) { return "wrong-" + token, nil }},
		"no token":        {URL: r.URL},
		"no repository":   {URL: strings.Replace(r.URL, "web", "none", 1), Token: func(context.Context) (string, error) { return token, nil }},
		"nobody there":    {URL: "http://127.0.0.1:1/web.git", Token: func(context.Context) (string, error) { return token, nil }},
		"a failing token": {URL: r.URL, Token: func(context.Context) (string, error) { return "", errors.New("the key is gone") }},
		"a file":          {URL: "file:///etc"},
		"ssh":             {URL: "git@github.com:a/b.git"},
		"a password":      {URL: "https://a:" + token + "@example.com/a.git"},
	} {
		c.Dir = t.TempDir()
		_, err := Open(t.Context(), c)
		if err == nil {
			t.Errorf("%s: opened", name)
		} else if strings.Contains(err.Error(), token) {
			t.Errorf("%s: the token is in %q", name, err)
		}
	}
	// Nor may it be on the disk.
	err = filepath.WalkDir(repo.config.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), token) {
			t.Errorf("the token is in %s, %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARemoteThatDoesNotAnswer(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	repo.config.Timeout = time.Nanosecond
	err := repo.Fetch(t.Context())
	if _, ok := errors.AsType[*Unavailable](err); !ok {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	repo.config.Timeout = time.Minute
	if err := repo.Fetch(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestReadersAndWritersAtOnce(t *testing.T) {
	r := newRemote(t)
	r.load(history)
	repo := r.open(t.TempDir())
	main := r.at("rev-parse", "main")
	tree, err := repo.Tree(t.Context(), main)
	if err != nil {
		t.Fatal(err)
	}
	r.at("branch", "another", "side")
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			req := request(main)
			req.Message += strings.Repeat("x", i)
			sha, err := repo.Commit(t.Context(), req)
			if err != nil {
				t.Error(err)
			}
			if err := repo.Push(t.Context(), sha, "b"+strings.Repeat("x", i)); err != nil {
				t.Error(err)
			}
			if err := repo.Fetch(t.Context()); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := fs.ReadFile(tree, "apps/web.yaml"); err != nil {
				t.Error(err)
			}
			if _, err := repo.History(t.Context(), main, "apps/web.yaml", 5); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := strings.Fields(r.at("for-each-ref", "--format=%(refname:short)", "refs/heads/b*")); !slices.Contains(got, "bxxxxx") || len(got) != 6 {
		t.Errorf("branches: %v", got)
	}
}
