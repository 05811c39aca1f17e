package ticket

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for text, hidden := range map[string]string{
		"the password is hunter2, sorry":                                       "hunter2",
		"PASSWORD=hunter2":                                                     "hunter2",
		`{"api_key": "k-123456"}`:                                              "k-123456",
		"access-key: 'AbC'":                                                    "AbC",
		"rotated xoxb-1234-abcdefgh":                                           "1234-abcdefgh",
		"with ghp_0123456789abcdef":                                            "0123456789abcdef",
		"AKIAIOSFODNN7EXAMPLE was used":                                        "IOSFODNN7",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln":                            "eyJzdWIi",
		"curl -H 'Authorization: Bearer abcdefghijklmnop'":                     "abcdefghijklmnop",
		"postgres://app:s3cr3t@db.example.com/pay":                             "s3cr3t",
		"-----BEGIN RSA PRIVATE KEY----- MIIE -----END RSA PRIVATE KEY----- x": "MIIE",
		"-----BEGIN PRIVATE KEY----- MIIE":                                     "MIIE",
		"https://x.example.com/?token=abc":                                     "abc",
		"whsec_cmVjb25jaWxlYm90":                                               "cmVjb25j",
	} {
		if got := Mask(text); strings.Contains(got, hidden) || !strings.Contains(got, masked) {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
	for _, text := range []string{
		"", "checkout queue backing up, 3 pods saturated", "spec.replicas", "alice@example.com with kubectl, 14:02 UTC",
		"revision 9ab04f1, Synced, Healthy", "https://github.com/acme/gitops/pull/412", "overlays/prod/secret-store.yaml:9", "we ran out of tokens",
		"(secret value, not shown)", "plan 3f9c1e77aa",
	} {
		if got := Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
