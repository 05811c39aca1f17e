package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// dockerfile is the instructions of the Dockerfile, continued lines joined.
func dockerfile(t *testing.T) (instructions []string) {
	t.Helper()
	raw, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.ReplaceAll(string(raw), "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			instructions = append(instructions, line)
		}
	}
	return instructions
}

// last is the arguments of the last instruction with that name.
func last(t *testing.T, instructions []string, name string) string {
	t.Helper()
	found := ""
	for _, line := range instructions {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			found = rest
		}
	}
	if found == "" {
		t.Fatalf("the Dockerfile has no %s", name)
	}
	return found
}

func TestImageHasTheBotAlone(t *testing.T) {
	lines := dockerfile(t)
	for name, want := range map[string]string{
		"FROM":       "scratch",
		"COPY":       "--from=build /reconcilebot /reconcilebot",
		"USER":       "65532:65532",
		"ENTRYPOINT": `["/reconcilebot"]`,
		"CMD":        `["serve", "--config", "/etc/reconcilebot/config.yaml"]`,
	} {
		if got := last(t, lines, name); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
	}
	if !strings.Contains(strings.Join(lines, "\n"), "COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt") {
		t.Error("the image has no certificates to trust")
	}
}

// TestBinaryRunsInAnEmptyRoot builds the bot with the Dockerfile's own line and
// starts it where there is nothing else: no libc, no shell, no /tmp.
func TestBinaryRunsInAnEmptyRoot(t *testing.T) {
	root := emptyRoot(t)
	build := last(t, dockerfile(t), "RUN")
	if !strings.HasPrefix(build, "CGO_ENABLED=0 go build ") || !strings.Contains(build, " -o /reconcilebot ") {
		t.Fatalf("RUN %s: that is not a static build of /reconcilebot", build)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(build, "-o /reconcilebot", "-o '"+root+"/reconcilebot'", 1))
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("RUN %s: %v\n%s", build, err, out)
	}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"version":                      {[]string{"version"}, exitDone, "reconcilebot "},
		"serve without its config":     {[]string{"serve", "--config", "/etc/reconcilebot/config.yaml"}, exitFailed, "/etc/reconcilebot/config.yaml does not exist"},
		"serve with a mistaken config": {[]string{"serve", "--config", "/config.yaml"}, exitFailed, "/config.yaml:1: lisen: unknown key"},
	}
	if err := os.WriteFile(filepath.Join(root, "config.yaml"), []byte("lisen: 127.0.0.1:8080\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, out := inside(t, root, tt.args...)
			if code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("exit %d, output %q; want exit %d and %q", code, out, tt.code, tt.want)
			}
		})
	}
}

// emptyRoot is an empty folder that everybody may enter.
func emptyRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// inside runs the binary with root as its whole file system and as the image's
// user. Who is not root does it in a user namespace.
func inside(t *testing.T, root string, args ...string) (code int, output string) {
	t.Helper()
	const nobody = 65532
	cmd := exec.CommandContext(t.Context(), "/reconcilebot", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = &out, &out, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil || errors.As(err, &exit):
		return cmd.ProcessState.ExitCode(), out.String()
	case errors.Is(err, syscall.EPERM):
		t.Skipf("needs root or user namespaces, to start a program in an empty root: %v", err)
	default:
		t.Fatal(err)
	}
	return 0, ""
}
