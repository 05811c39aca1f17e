package ticketsim

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema
var files embed.FS

// schema is the operations that a system publishes.
type schema struct{ operations []*operation }

// operation is one of them.
type operation struct {
	Method string `json:"method"`
	// Path has names in braces.
	Path      string                     `json:"path"`
	Query     map[string]json.RawMessage `json:"query"`
	Request   json.RawMessage            `json:"request"`
	Responses map[string]json.RawMessage `json:"responses"`

	query     map[string]*jsonschema.Schema
	request   *jsonschema.Schema
	responses map[string]*jsonschema.Schema
}

// load reads and compiles a system's file.
func load(kind Kind) (*schema, error) {
	name := "schema/" + string(kind) + ".json"
	raw, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("there is no ticket system %q: %w", kind, err)
	}
	var file struct{ Operations []*operation }
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	at := "https://ticketsim.invalid/" + name
	if err := c.AddResource(at, doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for i, op := range file.Operations {
		if err := op.compile(c, fmt.Sprintf("%s#/operations/%d", at, i)); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return &schema{file.Operations}, nil
}

func (op *operation) compile(c *jsonschema.Compiler, at string) (err error) {
	op.query, op.responses = map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	for name := range op.Query {
		if op.query[name], err = c.Compile(at + "/query/" + name); err != nil {
			return err
		}
	}
	for code := range op.Responses {
		if op.responses[code], err = c.Compile(at + "/responses/" + code); err != nil {
			return err
		}
	}
	if op.Request != nil {
		op.request, err = c.Compile(at + "/request")
	}
	return err
}

// match finds the operation of a request, and what its path names.
func (s *schema) match(method, path string) (op *operation, names map[string]string) {
	have := strings.Split(path, "/")
	for _, op := range s.operations {
		want := strings.Split(op.Path, "/")
		if op.Method != method || len(want) != len(have) {
			continue
		}
		names, fits := map[string]string{}, true
		for i, w := range want {
			if strings.HasPrefix(w, "{") && have[i] != "" {
				names[strings.Trim(w, "{}")] = have[i]
			} else if w != have[i] {
				fits = false
			}
		}
		if fits {
			return op, names
		}
	}
	return nil, nil
}

// checkRequest says what does not fit.
func (op *operation) checkRequest(query url.Values, body []byte) (wrong []string) {
	for name, values := range query {
		one, ok := op.query[name]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s %s: there is no parameter %q", op.Method, op.Path, name))
			continue
		}
		for _, v := range values {
			if err := one.Validate(typed(v)); err != nil && one.Validate(v) != nil {
				wrong = append(wrong, fmt.Sprintf("%s %s: parameter %s: %v", op.Method, op.Path, name, err))
			}
		}
	}
	switch {
	case op.request == nil && len(body) > 0:
		wrong = append(wrong, fmt.Sprintf("%s %s: has a body and should have none", op.Method, op.Path))
	case op.request != nil:
		if err := valid(op.request, body); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s %s: body: %v", op.Method, op.Path, err))
		}
	}
	return wrong
}

// checkResponse holds our own answer to the schema.
func (op *operation) checkResponse(status int, body []byte) error {
	one, ok := op.responses[strconv.Itoa(status)]
	if !ok {
		return nil // an error's body has no schema that anybody could rely on
	}
	if err := valid(one, body); err != nil {
		return fmt.Errorf("our own answer to %s %s: %w", op.Method, op.Path, err)
	}
	return nil
}

func valid(s *jsonschema.Schema, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// typed is a parameter as the JSON value that it may mean.
func typed(v string) any {
	if v == "true" || v == "false" {
		return v == "true"
	}
	if _, err := strconv.ParseInt(v, 10, 64); err == nil {
		return json.Number(v)
	}
	return v
}
