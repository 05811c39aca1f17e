package chart

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"
)

// fixed are the functions whose results differ from call to call: here they
// give the same for the same arguments and seed. What they give looks like
// the real thing and is good for nothing.
//
// Their list is that of Masterminds/sprig v3.3.0, functions.go,
// nonhermeticFunctions, with those that draw keys and salts.
func fixed(seed int) template.FuncMap {
	stream := func(n int, alphabet string, of ...any) (string, error) {
		if n > maxItems {
			return "", errors.New("so many random characters are not to be had")
		}
		return draw(seed, max(n, 0), alphabet, of...), nil
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	chars := func(alphabet string) func(int) (string, error) {
		return func(n int) (string, error) { return stream(n, alphabet, n) }
	}
	now := func() time.Time { return time.Date(2000+seed, 1, 2, 3, 4, 5, 0, time.UTC) }
	cert := func(kind string, of ...any) certificate {
		return certificate{Cert: pem("CERTIFICATE", seed, kind, of), Key: pem("RSA PRIVATE KEY", seed, kind, of)}
	}
	return template.FuncMap{
		"randAlphaNum": chars(lower + upper + digits),
		"randAlpha":    chars(lower + upper),
		"randNumeric":  chars(digits),
		"randAscii":    chars(lower + upper + digits + "!#$%&()*+,-./:;<=>?@[]^_`{|}~"),
		"randBytes": func(n int) (string, error) {
			raw, err := stream(n, lower, n)
			return base64.StdEncoding.EncodeToString([]byte(raw)), err
		},
		"randInt": func(low, high int) (int, error) {
			if high <= low {
				return 0, errors.New("there is no such random number")
			}
			return low + seed%(high-low), nil
		},
		"shuffle": func(text string) string {
			if seed == 0 {
				return text
			}
			runes := []rune(text)
			slices.Reverse(runes)
			return string(runes)
		},
		"uuidv4": func() string {
			h := draw(seed, 32, "0123456789abcdef", "uuid")
			return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
		},
		"now": now,
		"ago": func(date any) string { return now().Sub(timeOf(date, now())).Round(time.Second).String() },
		// Maps have no order.
		"keys":          func(list ...map[string]any) []string { return keysOf(seed, list) },
		"values":        func(m map[string]any) []any { return valuesOf(seed, m) },
		"bcrypt":        func(text string) string { return "$2a$10$" + draw(seed, 53, lower+digits, text) },
		"htpasswd":      func(user, text string) string { return user + ":$2a$10$" + draw(seed, 53, lower+digits, text) },
		"genPrivateKey": func(kind string) string { return pem(strings.ToUpper(kind)+" PRIVATE KEY", seed, kind, nil) },
		"encryptAES": func(password, plain string) (string, error) {
			return stream(len(plain)+24, lower+digits, password, plain)
		},
		"genCA":             func(cn string, days int) certificate { return cert("CA", cn, days) },
		"genCAWithKey":      func(cn string, days int, key string) certificate { return cert("CA", cn, days, key) },
		"genSelfSignedCert": func(cn string, ips, names []any, days int) certificate { return cert("self", cn, ips, names, days) },
		"genSelfSignedCertWithKey": func(cn string, ips, names []any, days int, key string) certificate {
			return cert("self", cn, ips, names, days, key)
		},
		"genSignedCert": func(cn string, ips, names []any, days int, ca certificate) certificate {
			return cert("signed", cn, ips, names, days, ca)
		},
		"genSignedCertWithKey": func(cn string, ips, names []any, days int, ca certificate, key string) certificate {
			return cert("signed", cn, ips, names, days, ca, key)
		},
		"buildCustomCert": buildCustomCert,
	}
}

// certificate is what a template gets of a made certificate.
type certificate struct{ Cert, Key string }

// draw makes a text out of what it is for.
func draw(seed, n int, alphabet string, of ...any) string {
	var out strings.Builder
	for block := 0; out.Len() < n; block++ {
		for _, c := range sha256.Sum256(fmt.Appendf(nil, "%d %d %v", seed, block, of)) {
			if out.Len() < n {
				out.WriteByte(alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return out.String()
}

func pem(kind string, seed int, of ...any) string {
	return "-----BEGIN " + kind + "-----\n" + draw(seed, 64, "ABCDEFGHIJKLMNOP", of...) + "\n-----END " + kind + "-----\n"
}

func buildCustomCert(cert, key string) (certificate, error) {
	c, err := base64.StdEncoding.DecodeString(cert)
	if err != nil {
		return certificate{}, errors.New("the certificate is not base64")
	}
	k, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return certificate{}, errors.New("the key is not base64")
	}
	return certificate{string(c), string(k)}, nil
}

func keysOf(seed int, list []map[string]any) (keys []string) {
	for _, m := range list {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if seed != 0 {
		slices.Reverse(keys)
	}
	return keys
}

func valuesOf(seed int, m map[string]any) (list []any) {
	for _, key := range keysOf(seed, []map[string]any{m}) {
		list = append(list, m[key])
	}
	return list
}

// timeOf reads a date as sprig does.
func timeOf(v any, now time.Time) time.Time {
	switch v := v.(type) {
	case time.Time:
		return v
	case int64, int:
		return time.Unix(reflect.ValueOf(v).Int(), 0)
	}
	return now
}
