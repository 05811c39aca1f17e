package pages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const auditLines = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"a-1","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/payments/deployments/web/scale","verb":"patch","user":{"username":"alice@example.com"},"sourceIPs":["127.0.0.1"],"userAgent":"kubectl/v1.31 <b>","objectRef":{"resource":"deployments","subresource":"scale","namespace":"payments","name":"web","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"code":200},"requestObject":{"spec":{"replicas":6,"apiToken":"canary"}},"stageTimestamp":"2026-03-14T14:02:00.000000Z"}
{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a-2","verb":"get","stage":"ResponseComplete","user":{"username":"a-1"}}
`

func TestAnAuditEventIsShownMasked(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(log, []byte(auditLines+`{"half a line, as it is being writ`), 0o600); err != nil {
		t.Fatal(err)
	}
	site := New(nil, log)
	for path, want := range map[string]struct {
		status int
		texts  []string
	}{
		"/audit/a-1":    {http.StatusOK, []string{"patch deployments/scale payments/web", "alice@example.com", "14 Mar 2026 14:02:00 UTC", "&#34;replicas&#34;: 6", "&lt;b&gt;"}},
		"/audit/a-2":    {http.StatusNotFound, []string{"no write with this id"}}, // a read
		"/audit/a-3":    {http.StatusNotFound, []string{"no write with this id"}},
		"/audit/%22%22": {http.StatusNotFound, []string{"no write with this id"}},
	} {
		got := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Host = "127.0.0.1:80"
		site.ServeHTTP(got, req)
		if got.Code != want.status {
			t.Errorf("%s: status %d, want %d", path, got.Code, want.status)
		}
		for _, text := range want.texts {
			if !strings.Contains(got.Body.String(), text) {
				t.Errorf("%s does not say %q:\n%s", path, text, got.Body)
			}
		}
		if strings.Contains(got.Body.String(), "canary") {
			t.Errorf("%s shows a credential", path)
		}
	}
}
