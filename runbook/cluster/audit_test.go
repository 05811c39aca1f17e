package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const scaleEvent = `{"auditID":"5be1","stage":"ResponseComplete","verb":"patch",
"requestURI":"/apis/apps/v1/namespaces/payments/deployments/web/scale?fieldManager=x","user":{"username":"alice@example.com","groups":["sre"]},
"sourceIPs":["6.6.6.6","10.0.0.9"],"userAgent":"kubectl/v1.34.4","objectRef":{"resource":"deployments","subresource":"scale","namespace":"payments","name":"web","apiGroup":"apps","apiVersion":"v1"},
"responseStatus":{"code":200},"requestObject":{"spec":{"replicas":6}},
"responseObject":{"kind":"Scale","metadata":{"name":"web","uid":"u-1","resourceVersion":"101"}},"stageTimestamp":"2026-03-14T14:02:00.123456Z"}`

func events(items ...string) string {
	return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[` + strings.Join(items, ",") + `]}`
}

func TestDecodeEvents(t *testing.T) {
	writes, err := DecodeEvents([]byte(events(scaleEvent, scaleEvent)))
	if err != nil || len(writes) != 1 {
		t.Fatalf("%v, %v", writes, err)
	}
	w := writes[0]
	if w.User != "alice@example.com" || w.SourceIP != "10.0.0.9" || w.FieldManager != "x" || w.Object.UID != "u-1" ||
		w.ResourceVersion != "101" || string(w.Body) != `{"spec":{"replicas":6}}` || w.At.Nanosecond() == 0 {
		t.Errorf("%+v", w)
	}
}

func TestWhatIsNoWriteIsLeftOut(t *testing.T) {
	for name, change := range map[string][2]string{
		"not complete":  {"ResponseComplete", "RequestReceived"},
		"refused":       {`"code":200`, `"code":403`},
		"a read":        {`"verb":"patch"`, `"verb":"get"`},
		"a dry run":     {"?fieldManager=x", "?dryRun=All"},
		"a status":      {`"subresource":"scale"`, `"subresource":"status"`},
		"a lease":       {`"resource":"deployments"`, `"resource":"leases"`},
		"no audit id":   {`"auditID":"5be1"`, `"auditID":""`},
		"no object":     {`"objectRef"`, `"object"`},
		"a panic in it": {"ResponseComplete", "Panic"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.Replace(scaleEvent, change[0], change[1], 1)
			if raw == scaleEvent {
				t.Fatal("the case changes nothing")
			}
			writes, err := DecodeEvents([]byte(events(raw)))
			if err != nil || len(writes) != 0 {
				t.Errorf("%+v, %v", writes, err)
			}
		})
	}
}

func TestImpersonationNamesBoth(t *testing.T) {
	raw := strings.Replace(scaleEvent, `"sourceIPs"`, `"impersonatedUser":{"username":"bob@example.com","groups":["dev"]},"sourceIPs"`, 1)
	writes, err := DecodeEvents([]byte(events(raw)))
	if err != nil || writes[0].User != "bob@example.com" || writes[0].By != "alice@example.com" || writes[0].Groups[0] != "dev" {
		t.Errorf("%+v, %v", writes, err)
	}
}

func TestNothingConfidentialIsKept(t *testing.T) {
	const canary = "hunter2"
	for name, change := range map[string][2]string{
		"a Secret":               {`"resource":"deployments","subresource":"scale","namespace":"payments","name":"web","apiGroup":"apps"`, `"resource":"secrets","name":"db"`},
		"a ConfigMap":            {`"resource":"deployments","subresource":"scale","namespace":"payments","name":"web","apiGroup":"apps"`, `"resource":"configmaps","name":"db"`},
		"an environment value":   {`{"spec":{"replicas":6}}`, `{"spec":{"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}}`},
		"a JSON patch":           {`{"spec":{"replicas":6}}`, `[{"op":"add","path":"/data/api_token","value":"hunter2"}]`},
		"a map under such a key": {`{"spec":{"replicas":6}}`, `{"spec":{"credentials":{"a":["hunter2"]}}}`},
		"a copy of the object":   {`{"spec":{"replicas":6}}`, `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter2"}}}`},
		"a text that is no JSON": {`{"spec":{"replicas":6}}`, `"hunter2"`},
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.Replace(scaleEvent, change[0], change[1], 1)
			if strings.HasPrefix(change[1], `"resource"`) {
				raw = strings.Replace(raw, `{"spec":{"replicas":6}}`, `{"data":{"a":"hunter2"}}`, 1)
			}
			writes, err := DecodeEvents([]byte(events(raw)))
			if err != nil || len(writes) != 1 {
				t.Fatalf("%v, %v", writes, err)
			}
			if bytes.Contains(writes[0].Body, []byte(canary)) {
				t.Errorf("kept %s", writes[0].Body)
			}
		})
	}
}

func TestKeysFindAWriteByUIDAndByName(t *testing.T) {
	writes, err := DecodeEvents([]byte(events(scaleEvent)))
	if err != nil {
		t.Fatal(err)
	}
	keys := ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}.Keys("u-1")
	for _, want := range writes[0].Keys() {
		found := false
		for _, key := range keys {
			found = found || key == want
		}
		if !found {
			t.Errorf("%q is not among %q", want, keys)
		}
	}
}

func TestAuditHandler(t *testing.T) {
	for name, test := range map[string]struct {
		method, auth, body string
		sink               error
		want, stored       int
	}{
		"stored":           {"POST", "Bearer sesame", events(scaleEvent), nil, 200, 1},
		"nothing to store": {"POST", "Bearer sesame", events(), nil, 200, 0},
		"not stored":       {"POST", "Bearer sesame", events(scaleEvent), errors.New("disk full"), 503, 1},
		"no token":         {"POST", "", events(scaleEvent), nil, 401, 0},
		"another token":    {"POST", "Bearer sesam", events(scaleEvent), nil, 401, 0},
		"not as a bearer":  {"POST", "Basic sesame", events(scaleEvent), nil, 401, 0},
		"a read":           {"GET", "Bearer sesame", "", nil, 405, 0},
		"no JSON":          {"POST", "Bearer sesame", "{", nil, 400, 0},
		"another kind":     {"POST", "Bearer sesame", `{"kind":"Event","apiVersion":"audit.k8s.io/v1"}`, nil, 400, 0},
		"too large":        {"POST", "Bearer sesame", events(scaleEvent) + strings.Repeat(" ", 5000), nil, 413, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stored := 0
			h := AuditHandler(AuditConfig{
				Token: func() (string, error) { return "sesame", nil }, MaxBytes: 4000,
				Sink: func(_ context.Context, list []Write) error { stored += len(list); return test.sink },
			})
			r := httptest.NewRequest(test.method, "/", strings.NewReader(test.body))
			r.Header.Set("Authorization", test.auth)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != test.want || stored != test.stored {
				t.Errorf("answered %d with %d stored, want %d and %d", w.Code, stored, test.want, test.stored)
			}
			if strings.Contains(w.Body.String(), "sesame") {
				t.Error("the token is in the answer")
			}
		})
	}
}

func TestAnEmptyTokenLetsNobodyIn(t *testing.T) {
	h := AuditHandler(AuditConfig{Token: func() (string, error) { return "", nil }})
	r := httptest.NewRequest("POST", "/", strings.NewReader(events(scaleEvent)))
	r.Header.Set("Authorization", "Bearer ")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("answered %d", w.Code)
	}
}

func TestWithoutATokenAVerifiedCertificateIsAskedFor(t *testing.T) {
	h := AuditHandler(AuditConfig{Sink: func(context.Context, []Write) error { return nil }})
	for _, test := range []struct {
		state *tls.ConnectionState
		want  int
	}{
		{nil, 401},
		{&tls.ConnectionState{}, 401},
		{&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}, 200},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(events(scaleEvent)))
		r.TLS = test.state
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%+v: answered %d, want %d", test.state, w.Code, test.want)
		}
	}
}

func FuzzDecodeEvents(f *testing.F) {
	f.Add([]byte(events(scaleEvent)))
	f.Add([]byte(events(strings.Replace(scaleEvent, `{"spec":{"replicas":6}}`, `[{"op":"add","path":"/a","value":null}]`, 1))))
	f.Add([]byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"a","objectRef":null}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		writes, err := DecodeEvents(raw)
		if err != nil && writes != nil {
			t.Error("writes beside an error")
		}
		for _, w := range writes {
			if w.AuditID == "" || w.Object.Resource == "" {
				t.Errorf("a write without identity: %+v", w)
			}
			if len(w.Body) > 2*maxBody {
				t.Errorf("a body of %d bytes is kept", len(w.Body))
			}
		}
	})
}
