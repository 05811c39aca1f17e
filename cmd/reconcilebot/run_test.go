package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// call runs the program as a user would.
func call(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(ctx, args, func(string) string { return "" }, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSubcommands(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	tests := map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"nothing":                      {nil, exitNotSaid, "", "reconcilebot SUBCOMMAND"},
		"help":                         {[]string{"help"}, exitDone, "doctor --config FILE", ""},
		"help by flag":                 {[]string{"--help"}, exitDone, "doctor --config FILE", ""},
		"help on one":                  {[]string{"help", "doctor"}, exitDone, "Usage: reconcilebot doctor --config", ""},
		"help on one, by its flag":     {[]string{"serve", "-h"}, exitDone, "config FILE", ""},
		"a misspelt one":               {[]string{"docter"}, exitNotSaid, "", "did you mean doctor?"},
		"version":                      {[]string{"version"}, exitDone, "reconcilebot ", ""},
		"version with too much":        {[]string{"version", "all"}, exitNotSaid, "", "no arguments"},
		"manifest":                     {[]string{"manifest"}, exitDone, "command: /reconcile", ""},
		"serve without a config":       {[]string{"serve"}, exitNotSaid, "", "needs --config FILE"},
		"serve with an unknown flag":   {[]string{"serve", "--confg", "x"}, exitNotSaid, "", "confg"},
		"serve with one word too many": {[]string{"serve", "--config", "x", "y"}, exitNotSaid, "", `"y"`},
		"serve with a missing config":  {[]string{"serve", "--config", missing}, exitFailed, "", "does not exist"},
		"doctor with a missing config": {[]string{"doctor", "--config", missing}, exitFailed, "", "does not exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(t, t.Context(), tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("exit %d, stdout %q, stderr %q; want exit %d, %q, %q", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
			if tt.stdout == "" && stdout != "" || tt.stderr == "" && stderr != "" {
				t.Errorf("stdout %q, stderr %q: one of them should be empty", stdout, stderr)
			}
		})
	}
}

func TestMistakesInTheConfigStandAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("state: x\nlisen: y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(t, t.Context(), "serve", "--config", path)
	if code != exitFailed {
		t.Errorf("exit %d, want %d", code, exitFailed)
	}
	for _, line := range strings.Split(strings.TrimSpace(stderr), "\n") {
		if !strings.HasPrefix(line, path+":") {
			t.Errorf("line %q does not begin with the file and a line number", line)
		}
	}
}

func TestVersionSaysWhatIsKnown(t *testing.T) {
	at := []debug.BuildSetting{{Key: "vcs.revision", Value: "5d0c4e1"}, {Key: "vcs.modified", Value: "true"}}
	for want, info := range map[string]debug.BuildInfo{
		"reconcilebot v1.2.0 (revision 5d0c4e1, modified) go1.26.5":            {Main: debug.Module{Version: "v1.2.0"}, Settings: at},
		"reconcilebot v1.2.0 go1.26.5":                                         {Main: debug.Module{Version: "v1.2.0"}},
		"reconcilebot development build (revision 5d0c4e1, modified) go1.26.5": {Main: debug.Module{Version: "(devel)"}, Settings: at},
		"reconcilebot development build go1.26.5":                              {Main: debug.Module{Version: "(devel)"}},
	} {
		info.GoVersion = "go1.26.5"
		if got := versionText(&info); got != want {
			t.Errorf("version = %q, want %q", got, want)
		}
	}
}

func TestProbes(t *testing.T) {
	numbers := func(w io.Writer) error { _, err := io.WriteString(w, "slack_acks 7\n"); return err }
	ready, why := false, "no connection to Slack yet"
	l, err := listen("probes", "127.0.0.1:0", probes(func() (bool, string) { return ready, why }, numbers), quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.serve(ctx) }()
	base := "http://" + l.socket.Addr().String()

	look := func(path string) string {
		t.Helper()
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var body bytes.Buffer
		if _, err := body.ReadFrom(resp.Body); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", resp.StatusCode, body.String())
	}
	if got := look("/livez"); got != "200 alive\n" {
		t.Errorf("/livez = %q", got)
	}
	if got := look("/readyz"); got != "503 no connection to Slack yet\n" {
		t.Errorf("/readyz = %q", got)
	}
	ready = true
	if got := look("/readyz"); got != "200 ready\n" {
		t.Errorf("/readyz = %q", got)
	}
	if got := look("/metrics"); !strings.Contains(got, "\nreconcilebot_goroutines ") || !strings.HasSuffix(got, "\nslack_acks 7\n") {
		t.Errorf("/metrics = %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	if _, err := listen("probes", taken.Addr().String(), nil, quiet()); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error = %v, want the likely reason", err)
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
