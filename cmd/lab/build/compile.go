package build

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A count is what a program consists of.
type count struct {
	packages int // all of them, the standard library's too
	stale    int // those that Go's own build cache does not have yet
}

// list counts a program's packages; it downloads modules where they are missing.
func list(ctx context.Context, p Program, report *stage) (count, error) {
	var out bytes.Buffer
	if err := run(ctx, p, &out, report.downloading, "list", "-deps", "-f", "{{.Stale}}", p.Package); err != nil {
		return count{}, fmt.Errorf("list the packages of %s: %w", p.Name, err)
	}
	return count{
		packages: bytes.Count(out.Bytes(), []byte("\n")),
		stale:    bytes.Count(out.Bytes(), []byte("true\n")),
	}, nil
}

func compile(ctx context.Context, p Program, out string, report *stage) error {
	if err := run(ctx, p, io.Discard, report.compiled, "build", "-v", "-o", out, "-ldflags", p.LDFlags, p.Package); err != nil {
		return fmt.Errorf("build %s: %w", p.Name, err)
	}
	return nil
}

// run starts go in the program's module and gives each line of its standard
// error to line. What an error quotes are the last lines that were not progress.
func run(ctx context.Context, p Program, stdout io.Writer, line func(string), args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.Module
	// The workspace of whoever starts the lab has no say in what is built.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	cmd.Stdout = stdout
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := tail(stderr, line)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("go %s: %w\n%s%s", args[0], err, said, networkHint(said))
	}
	return nil
}

// tail passes on every line and keeps the last ones that are not plain package
// names or downloads: those are what the compiler had to say.
func tail(r io.Reader, line func(string)) string {
	const keep = 20
	var last []string
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		text := lines.Text()
		line(text)
		if !strings.ContainsAny(text, " \t") || strings.HasPrefix(text, "go: downloading") {
			continue
		}
		last = append(last, "  "+text)
		last = last[max(0, len(last)-keep):]
	}
	return strings.Join(last, "\n")
}

// lock takes a file lock that ends with the process, however that ends.
func lock(ctx context.Context, path string, busy func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the cache folder: %w", err)
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !told {
			busy()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}
