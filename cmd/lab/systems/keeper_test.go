package systems

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(name, script string) Command {
	return Command{Name: name, Path: "/bin/sh", Args: []string{"-c", script}}
}

func TestDeathOfAProcessIsReportedWithItsLastWords(t *testing.T) {
	k, ctx := NewKeeper(t.Context(), t.TempDir())
	defer k.Close()
	if _, err := k.Start(shell("etcd", "echo no space left on device >&2; exit 3")); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	why := context.Cause(ctx).Error()
	for _, part := range []string{"etcd ended", "exit status 3", "no space left on device"} {
		if !strings.Contains(why, part) {
			t.Errorf("said %q, want it to say %q", why, part)
		}
	}
}

func TestCloseEndsWhatProcessesStartedToo(t *testing.T) {
	dir := t.TempDir()
	k, ctx := NewKeeper(t.Context(), dir)
	child := filepath.Join(dir, "child")
	if _, err := k.Start(shell("parent", "sleep 1000 & echo $! > "+child+".tmp; mv "+child+".tmp "+child+"; wait")); err != nil {
		t.Fatal(err)
	}
	var pid int
	if err := await(ctx, "the child", func(context.Context) error {
		text, err := os.ReadFile(child)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	k.Close()
	if ctx.Err() != nil {
		t.Errorf("an end that was asked for was reported: %v", context.Cause(ctx))
	}
	if err := await(ctx, "the child's end", func(context.Context) error { return gone(pid) }); err != nil {
		t.Error(err)
	}
	if _, err := k.Start(shell("late", "true")); err == nil {
		t.Error("a process was started after the end")
	}
}

// gone is nil when a process is no more, or has only its parent's notice left.
func gone(pid int) error {
	if err := syscall.Kill(pid, 0); err != nil {
		return nil
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || strings.Contains(string(stat), ") Z ") {
		return nil
	}
	return os.ErrExist
}

func TestGracefulProcessMayEndByItself(t *testing.T) {
	dir := t.TempDir()
	k, ctx := NewKeeper(t.Context(), dir)
	defer k.Close()
	c := shell("bot", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	c.Graceful = true
	p, err := k.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	says := func(what string) error {
		return await(ctx, what, func(context.Context) error {
			text, err := os.ReadFile(p.Log())
			if err == nil && !strings.Contains(string(text), what) {
				err = os.ErrNotExist
			}
			return err
		})
	}
	if err := says("ready"); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if err := says("bye"); err != nil {
		t.Error(err)
	}
}

func TestReadinessThatNeverComesSaysWhatWasAwaited(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := Answers(ctx, "Argo CD", "http://127.0.0.1:1/healthz")
	if err == nil || !strings.Contains(err.Error(), "wait for Argo CD") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("said %v", err)
	}
}
