package githubsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"reconcilebot/bot/slacksim/peer"
)

// The releases that the local GitHub is held against, and the server that it
// says it is.
const (
	openapiPackage = "@octokit/openapi@23.0.2"
	described      = "ghes-3.17.json"
)

// description is GitHub's own description of its REST interface.
// https://github.com/octokit/openapi
type description struct {
	doc      map[string]any
	compiler *jsonschema.Compiler

	mu       sync.Mutex // guards what follows
	compiled map[string]*jsonschema.Schema
}

var (
	readOnce sync.Once
	github   *description
)

// githubDescribed reads the description once; nil without npm and in short
// runs, where answers are not held against it.
func githubDescribed(t *testing.T) *description {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil || testing.Short() {
		return nil
	}
	readOnce.Do(func() {
		raw, err := os.ReadFile(filepath.Join(peer.Install(t, openapiPackage), "node_modules", "@octokit", "openapi", "generated", described))
		if err != nil {
			t.Fatal(err)
		}
		d := &description{compiled: map[string]*jsonschema.Schema{}}
		if err := json.Unmarshal(raw, &d.doc); err != nil {
			t.Fatal(err)
		}
		mend(d.doc)
		d.compiler = jsonschema.NewCompiler()
		d.compiler.DefaultDraft(jsonschema.Draft4) // what OpenAPI 3.0 builds on
		if err := d.compiler.AddResource("mem:///github.json", nullable(d.doc)); err != nil {
			t.Fatal(err)
		}
		github = d
	})
	return github
}

// mend puts right where the description is not what GitHub answers.
func mend(doc map[string]any) {
	// Null where auto-merge is off, which is nearly always:
	// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
	autoMerge, ok := dig(doc, "components", "schemas", "auto-merge")
	if ok {
		autoMerge["nullable"] = true
	}
	// An account can't be a person and an enterprise at once. The component
	// named installation says it right, and this copy of it does not.
	account, ok := dig(doc, "paths", "/app/installations", "get", "responses", "200", "content", "application/json", "schema", "items", "properties", "account")
	if ok && account["allOf"] != nil {
		account["anyOf"] = account["allOf"]
		delete(account, "allOf")
	}
}

// nullable turns OpenAPI 3.0's word for it into JSON Schema's.
// https://spec.openapis.org/oas/v3.0.3#fixed-fields-for-schema-object
func nullable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = nullable(v[i])
		}
	case map[string]any:
		delete(v, "example") // examples are no schemas, whatever is in them
		delete(v, "examples")
		for key := range v {
			v[key] = nullable(v[key])
		}
		if v["nullable"] != true {
			return v
		}
		delete(v, "nullable")
		return map[string]any{"anyOf": []any{v, map[string]any{"enum": []any{nil}}}}
	}
	return v
}

// operation finds what describes a request: the pointer to it, and the
// addresses with the fewest parameters first.
func (d *description) operation(method, path string) (name string, op map[string]any) {
	paths := d.doc["paths"].(map[string]any)
	best := 1 << 10
	for template, item := range paths {
		found, ok := item.(map[string]any)[strings.ToLower(method)]
		if !ok || !fits(template, path) {
			continue
		}
		n := strings.Count(template, "{")
		if strings.Count(template, "/") != strings.Count(path, "/") {
			n += 100
		}
		if n < best {
			best, name, op = n, template, found.(map[string]any)
		}
	}
	return name, op
}

// fits compares a path with its template. The last parameter may hold
// slashes: references and files do.
func fits(template, path string) bool {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case i >= len(have):
			return false
		case i == len(want)-1 && strings.HasPrefix(part, "{") && (part == "{ref}" || part == "{path}" || part == "{basehead}" || part == "{branch}"):
			return have[i] != ""
		case strings.HasPrefix(part, "{") && have[i] != "":
		case part != have[i]:
			return false
		}
	}
	return len(want) == len(have)
}

// check holds a JSON text against the schema at a pointer.
func (d *description) check(pointer string, raw []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.compiled[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile("mem:///github.json#" + pointer); err != nil {
			return err
		}
		d.compiled[pointer] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func escape(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(part)
}

// held is a handler whose every request and answer is held against the
// description.
func (d *description) held(t *testing.T, next http.Handler) http.Handler {
	if d == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path, ok := strings.CutPrefix(req.URL.EscapedPath(), "/api/v3")
		if !ok {
			next.ServeHTTP(w, req)
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client went away
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		said := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(said, req)
		if err := d.judge(req.Method, path, body, said); err != nil {
			t.Errorf("%s %s answered %d, which is not what GitHub describes: %v\nbody %s\nanswer %s", req.Method, path, said.status, err, body, said.body.Bytes())
		}
	})
}

func (d *description) judge(method, path string, body []byte, said *recorder) error {
	name, op := d.operation(method, path)
	switch {
	case op == nil && said.status == http.StatusNotFound:
		return nil
	case op == nil:
		return fmt.Errorf("there is no such address")
	case said.status == http.StatusNotModified:
		return nil
	case said.Header().Get("Content-Type") != "application/json; charset=utf-8" && said.status >= 500: // a page, as GitHub's own
		return nil
	case said.status >= 400: // not every operation lists all of its errors
		return d.check("/components/schemas/basic-error", said.body.Bytes())
	}
	at := "/paths/" + escape(name) + "/" + strings.ToLower(method)
	if content, ok := dig(op, "requestBody", "content", "application/json"); ok && len(body) > 0 && content["schema"] != nil {
		if err := d.check(at+"/requestBody/content/application~1json/schema", body); err != nil {
			return fmt.Errorf("the request: %w", err)
		}
	}
	code := fmt.Sprint(said.status)
	answer, ok := dig(op, "responses", code)
	if !ok {
		return fmt.Errorf("there is no such status; there are %v", slices.Sorted(maps.Keys(op["responses"].(map[string]any))))
	}
	if ref, ok := answer["$ref"].(string); ok {
		at, answer = strings.TrimPrefix(ref, "#"), nil
		return d.check(at+"/content/application~1json/schema", said.body.Bytes())
	}
	if content, ok := dig(answer, "content", "application/json"); ok && content["schema"] != nil {
		return d.check(at+"/responses/"+code+"/content/application~1json/schema", said.body.Bytes())
	}
	if said.body.Len() > 0 {
		return fmt.Errorf("it has no content")
	}
	return nil
}

func dig(v map[string]any, keys ...string) (map[string]any, bool) {
	for _, key := range keys {
		next, ok := v[key].(map[string]any)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// recorder keeps what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(raw []byte) (int, error) {
	r.body.Write(raw)
	return r.ResponseWriter.Write(raw)
}

// TestTheDescriptionFindsWhatIsWrong holds what GitHub would never answer
// against its description.
func TestTheDescriptionFindsWhatIsWrong(t *testing.T) {
	d := githubDescribed(t)
	if d == nil {
		t.Skip("needs npm, and is left out of short runs")
	}
	const ref = "/repos/acme/gitops/git/ref/heads/a/b"
	good := `{"ref":"refs/heads/a/b","node_id":"x","url":"https://example.com/x","object":{"type":"commit","sha":"` + strings.Repeat("0", 40) + `","url":"https://example.com/y"}}`
	for name, tt := range map[string]struct {
		method, path, body, answer string
		status                     int
		wrong                      bool
	}{
		"right":               {"GET", ref, "", good, 200, false},
		"a missing field":     {"GET", ref, "", strings.Replace(good, `"node_id":"x",`, "", 1), 200, true},
		"a number for a text": {"GET", ref, "", strings.Replace(good, `"x"`, "1", 1), 200, true},
		"another status":      {"GET", ref, "", good, 202, true},
		"no such address":     {"GET", "/repos/acme/gitops/nothing", "", "{}", 200, true},
		"a wrong request":     {"POST", "/repos/acme/gitops/pulls", `{"head":1,"base":"main"}`, "{}", 201, true},
		"an error's form":     {"GET", ref, "", `{"message":"Not Found"}`, 404, false},
		"an error of no form": {"GET", ref, "", `{"message":404}`, 404, true},
	} {
		said := &recorder{ResponseWriter: httptest.NewRecorder(), status: tt.status}
		said.body.WriteString(tt.answer)
		if err := d.judge(tt.method, tt.path, []byte(tt.body), said); (err != nil) != tt.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
