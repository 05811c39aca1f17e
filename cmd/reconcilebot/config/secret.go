package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// Secret knows where a secret is, and hides what it is: printing it, logging
// it or writing it as JSON shows the place. The zero Secret is unset.
type Secret struct {
	file, env string
	getenv    func(string) string
}

// maxSecret bounds what is read as a secret: nobody's token is longer, and a
// wrong path must not be swallowed whole.
const maxSecret = 64 << 10

// IsSet tells whether the config names a place for it.
func (s Secret) IsSet() bool { return s.file != "" || s.env != "" }

// Value reads the secret, without the white space around it. It looks each
// time, so that a token replaced on disk is used from the next call on;
// reading a few bytes costs nothing beside the request they are for.
func (s Secret) Value() (string, error) {
	switch {
	case s.env != "":
		if v := strings.TrimSpace(s.getenv(s.env)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("environment variable %s is empty; set it to the token", s.env)
	case s.file == "":
		return "", errors.New("no place for it is named")
	}
	info, err := os.Stat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("file %s does not exist; write the token into it", s.file)
	case err != nil:
		return "", fmt.Errorf("look at the token's file: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file; name the file that holds the token", s.file)
	case info.Size() > maxSecret:
		return "", fmt.Errorf("file %s has %d bytes, too many for a token; is it the right one?", s.file, info.Size())
	}
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	v := strings.TrimSpace(string(raw))
	if v == "" {
		return "", fmt.Errorf("file %s is empty; write the token into it", s.file)
	}
	return v, nil
}

// File is where the secret is, or "" when it comes from the environment.
func (s Secret) File() string { return s.file }

// String shows the place, never the secret.
func (s Secret) String() string {
	switch {
	case s.env != "":
		return "$" + s.env
	case s.file != "":
		return "file " + s.file
	}
	return "unset"
}

// GoString keeps %#v from doing otherwise.
func (s Secret) GoString() string { return s.String() }

// LogValue shows the place, never the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText shows the place, never the secret; JSON and YAML use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
