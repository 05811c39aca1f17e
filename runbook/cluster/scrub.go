package cluster

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// mask stands for a value that is not shown.
const mask = "********"

var credential = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|api_?-?key|access_?-?key|private_?-?key|auth(orization)?$|bearer|dsn|connection_?-?string|conn_?str|jwt|cookie|signing`)

// LooksSecret tells whether a name, such as an environment variable's, is
// one that credentials have. It rather says yes once too often.
func LooksSecret(name string) bool { return credential.MatchString(name) }

// scrub masks what looks like a credential in a request's object or patch. A
// body that is neither, or too large, is dropped: what can't be looked
// through isn't kept.
func scrub(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || len(raw) > maxBody {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		return nil
	}
	out, err := json.Marshal(scrubbed(v))
	if err != nil {
		return nil
	}
	return out
}

func scrubbed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return scrubbedMap(v)
	case []any:
		for i := range v {
			v[i] = scrubbed(v[i])
		}
	}
	return v
}

func scrubbedMap(m map[string]any) map[string]any {
	name, _ := m["name"].(string)
	// A JSON patch names the field in its path and has the value beside it.
	path, _ := m["path"].(string)
	// Copies of whole objects, with all their values, live in this one.
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	for key, v := range m {
		switch {
		case key == "data" || key == "stringData" || key == lastApplied, LooksSecret(key), key == "value" && LooksSecret(name+path):
			m[key] = masked(v)
		default:
			m[key] = scrubbed(v)
		}
	}
	return m
}

// masked hides text and what holds text; numbers and switches tell nothing.
func masked(v any) any {
	switch v := v.(type) {
	case string:
		return mask
	case map[string]any:
		for key := range v {
			// A reference says where the secret is, which is no secret.
			if key == "secretKeyRef" || key == "secretName" || key == "name" || key == "key" {
				continue
			}
			v[key] = masked(v[key])
		}
	case []any:
		for i := range v {
			v[i] = masked(v[i])
		}
	}
	return v
}
