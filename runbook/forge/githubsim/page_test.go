package githubsim_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reconcilebot/runbook/forge/githubsim"
)

// look opens a page; redirects are not followed.
func (o office) look(t *testing.T, path string) (int, string, http.Header) {
	t.Helper()
	return o.send(t, http.MethodGet, path, nil, nil)
}

// press posts the pull request's form.
func (o office) press(t *testing.T, number int, form url.Values, header http.Header) (int, string) {
	t.Helper()
	status, page, _ := o.send(t, http.MethodPost, fmt.Sprintf("/%s/pull/%d", gitops, number), form, header)
	return status, page
}

func (o office) send(t *testing.T, method, path string, form url.Values, header http.Header) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw), resp.Header
}

func has(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
}

func TestAPersonReviewsAndMergesOnThePage(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}})
	pr := o.propose(t, "replicas: 6\n")
	path := fmt.Sprintf("/%s/pull/%d", gitops, pr.Number)

	_, page, header := o.look(t, path)
	has(t, page, `data-testid="approve"`, `data-testid="request-changes"`, `data-testid="merge"`, `<option value="carol">`,
		"replicas: 6", "Waiting on code owner review.", "expected, required")
	if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "form-action 'self'") {
		t.Errorf("policy = %q", csp)
	}

	merge := url.Values{"as": {"carol"}, "action": {"merge"}, "method": {"squash"}, "head": {pr.HeadSHA}}
	for _, refused := range []struct {
		name  string
		form  url.Values
		words string
	}{
		{"nobody chosen", url.Values{"action": {"approve"}}, "Choose who you are first."},
		{"the author approves", url.Values{"as": {"bot"}, "action": {"approve"}}, "Can not approve your own pull request"},
		{"merge before it may be", merge, "At least 1 approving review is required"},
		{"changes asked for without words", url.Values{"as": {"carol"}, "action": {"request_changes"}}, "Say in the comment"},
		{"an unknown button", url.Values{"as": {"carol"}, "action": {"explode"}}, "no button of this page"},
		{"a stranger", url.Values{"as": {"gwen"}, "action": {"approve"}}, "not for you to see"},
	} {
		status, page := o.press(t, pr.Number, refused.form, nil)
		if status < 400 || !strings.Contains(page, refused.words) {
			t.Errorf("%s: %d, want the words %q:\n%s", refused.name, status, refused.words, page)
		}
	}

	if status, page := o.press(t, pr.Number, url.Values{"as": {"carol"}, "action": {"approve"}, "comment": {"fits <b>"}}, nil); status != http.StatusSeeOther {
		t.Fatalf("approve = %d: %s", status, page)
	}
	if err := o.SetCheck(gitops, pr.HeadSHA, "validate", "success"); err != nil {
		t.Fatal(err)
	}
	_, page, _ = o.look(t, path+"?as=carol")
	has(t, page, `<option value="carol" selected>`, "Nothing: this can be merged.", "fits &lt;b&gt;", "approved")

	stale := url.Values{"as": {"carol"}, "action": {"merge"}, "method": {"squash"}, "head": {strings.Repeat("0", 40)}}
	if status, page := o.press(t, pr.Number, stale, nil); status != http.StatusConflict {
		t.Errorf("merge of another head = %d: %s", status, page)
	}
	if status, page := o.press(t, pr.Number, merge, nil); status != http.StatusSeeOther {
		t.Fatalf("merge = %d: %s", status, page)
	}
	_, page, _ = o.look(t, path)
	has(t, page, "Merged by <b>carol</b>")
	if strings.Contains(page, `data-testid="merge"`) {
		t.Error("a merged pull request still has a merge button")
	}
}

func TestAFormFromElsewhereDoesNothing(t *testing.T) {
	for name, header := range map[string]http.Header{
		"the browser says another site": {"Sec-Fetch-Site": {"cross-site"}},
		"another port of this machine":  {"Sec-Fetch-Site": {"same-site"}},
		"another origin":                {"Origin": {"https://evil.example"}},
		"no origin to be told":          {"Origin": {"null"}},
		"a name that points here":       {"Host": {"evil.example"}, "Sec-Fetch-Site": {"same-origin"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1})
			pr := o.propose(t, "replicas: 6\n")
			if status, page := o.press(t, pr.Number, url.Values{"as": {"carol"}, "action": {"approve"}}, header); status != http.StatusForbidden {
				t.Errorf("approve = %d: %s", status, page)
			}
			if _, page, _ := o.look(t, fmt.Sprintf("/%s/pull/%d", gitops, pr.Number)); strings.Contains(page, "APPROVED") {
				t.Error("the review was given")
			}
		})
	}
}

func TestPagesThatLinksPointTo(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	files := map[string]string{"README.md": "# Hello\n\nwith **bold**\n", "team/app.yaml": "a: 1\nb: <i>\n"}
	sha, err := o.Commit(gitops, "feature/x", githubsim.Change{Author: "bob", Message: "add an app\n\nbecause", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Commit(gitops, "main", githubsim.Change{Author: "bob", Message: "read me", Files: files}); err != nil {
		t.Fatal(err)
	}
	for path, parts := range map[string][]string{
		"/":                             {gitops, "no open pull requests"},
		"/" + gitops:                    {"<h2>Hello</h2>", "<strong>bold</strong>", "feature/x", "read me", "protected"},
		"/" + gitops + "?as=bob":        {`/commit/` + sha + `?as=bob`},
		"/-/page.css":                   {"--ink"},
		"/" + gitops + "/commit/" + sha: {"add an app", "because", "&lt;i&gt;", `class="add"`},
		"/" + gitops + "/blob/" + sha + "/team/app.yaml":           {`id="L2"`, "b: &lt;i&gt;"},
		"/" + gitops + "/blob/feature/x/team/app.yaml":             {"at feature/x"},
		"/" + gitops + "/blob/" + sha[:10] + "/.github/CODEOWNERS": {"@acme/payments"},
	} {
		status, page, _ := o.look(t, path)
		if status != http.StatusOK {
			t.Errorf("%s = %d: %s", path, status, page)
			continue
		}
		has(t, page, parts...)
	}
	for _, path := range []string{
		"/acme/none", "/nothing", "/" + gitops + "/pull/1", "/" + gitops + "/pull/x", "/" + gitops + "/commit/none", "/" + gitops + "/commit/--all",
		"/" + gitops + "/blob/main/none", "/" + gitops + "/blob/main/team", "/" + gitops + "?as=gwen", "/" + gitops + "/blob/main/..%2f..%2fconfig",
	} {
		if status, page, _ := o.look(t, path); status != http.StatusNotFound {
			t.Errorf("%s = %d: %s", path, status, page)
		}
	}
}
