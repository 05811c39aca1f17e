package ticketsim_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reconcilebot/runbook/ticket/ticketsim"
)

func serve(t *testing.T, kind ticketsim.Kind) (*ticketsim.Sim, string) {
	t.Helper()
	var sim *ticketsim.Sim
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sim.Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	sim, err := ticketsim.New(kind, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return sim, server.URL
}

func do(t *testing.T, method, url, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range header {
		req.Header.Set(key, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // read to its end
	return resp.StatusCode, string(text)
}

// TestWhatIsNotInTheSchemaIsAFinding shows that the contract suite can fail:
// each of these is what a careless client would send.
func TestWhatIsNotInTheSchemaIsAFinding(t *testing.T) {
	bearer := map[string]string{"Authorization": "Bearer " + ticketsim.Token}
	for name, c := range map[string]struct {
		kind               ticketsim.Kind
		method, path, body string
		header             map[string]string
		finding            string
	}{
		"GitHub, no body at all":          {ticketsim.GitHub, "POST", "/api/v3/repos/acme/ops/issues/7/comments", `{"text":"x"}`, bearer, "body"},
		"GitHub, another parameter":       {ticketsim.GitHub, "GET", "/api/v3/repos/acme/ops/issues/7/comments?limit=3", "", bearer, `no parameter "limit"`},
		"GitHub, another operation":       {ticketsim.GitHub, "DELETE", "/api/v3/repos/acme/ops/issues/7", "", bearer, "not in the published API"},
		"Jira Cloud, text for a document": {ticketsim.JiraCloud, "POST", "/rest/api/3/issue/OPS-7/comment", `{"body":"h3. text"}`, nil, "body"},
		"Jira Cloud, a document with an empty text": {ticketsim.JiraCloud, "POST", "/rest/api/3/issue/OPS-7/comment",
			`{"body":{"type":"doc","version":1,"content":[{"type":"paragraph","content":[{"type":"text","text":""}]}]}}`, nil, "body"},
		"Jira Data Center, a document for text": {ticketsim.JiraDataCenter, "POST", "/rest/api/2/issue/OPS-7/comment", `{"body":{"type":"doc"}}`, bearer, "body"},
		"Jira Data Center, a choice of Cloud's": {ticketsim.JiraDataCenter, "PUT", "/rest/api/2/issue/OPS-7/comment/1?notifyUsers=false", `{"body":"x"}`, bearer, "notifyUsers"},
		"PagerDuty, an edit":                    {ticketsim.PagerDuty, "PUT", "/api/incidents/Q0TICKET7/notes/1", `{"note":{"content":"x"}}`, nil, "not in the published API"},
		"PagerDuty, nobody's note": {ticketsim.PagerDuty, "POST", "/api/incidents/Q0TICKET7/notes", `{"note":{"content":"x"}}`,
			map[string]string{"Authorization": "Token token=" + ticketsim.Token, "Accept": "application/vnd.pagerduty+json;version=2"}, "From"},
		"a webhook with more in it": {ticketsim.Webhook, "POST", "/hooks/records", `{"type":"reconcilebot.record.closed","data":{},"more":1}`, nil, "body"},
	} {
		t.Run(name, func(t *testing.T) {
			sim, url := serve(t, c.kind)
			sim.Open(7)
			do(t, c.method, url+c.path, c.body, c.header)
			for _, f := range sim.Findings() {
				if strings.Contains(f, c.finding) {
					return
				}
			}
			t.Errorf("findings are %q, want one with %q", sim.Findings(), c.finding)
		})
	}
}

func TestPageShowsWhatArrived(t *testing.T) {
	sim, _ := serve(t, ticketsim.JiraCloud)
	address := sim.Open(7)
	sim.Say(7, "mallory", "<script>alert(1)</script>")
	status, page := do(t, "GET", address, "", nil)
	if status != http.StatusOK || !strings.Contains(page, "mallory") || strings.Contains(page, "<script>") {
		t.Errorf("the page answers %d:\n%s", status, page)
	}
	if status, _ := do(t, "GET", strings.TrimSuffix(address, "7")+"9", "", nil); status != http.StatusNotFound {
		t.Errorf("a ticket that is not there: %d", status)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	sim, url := serve(t, ticketsim.GitHub)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sim.Wait(ctx, "nothing", func() bool { return false }); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("Wait = %v", err)
	}
	go func() { _, _ = http.Get(url + "/api/v3/user") }()
	if err := sim.Wait(t.Context(), "a request", func() bool { n, _ := sim.Counts(); return n > 0 }); err != nil {
		t.Error(err)
	}
}
