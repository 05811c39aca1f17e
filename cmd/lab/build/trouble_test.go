package build

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestShortDiskIsToldBeforeTheBuild(t *testing.T) {
	cache := t.TempDir()
	if err := enoughDisk(t.Context(), cache, 1); err != nil {
		t.Errorf("room for one byte: %v", err)
	}
	err := enoughDisk(t.Context(), cache, 1<<62)
	if err == nil {
		t.Fatal("a disk without room was taken")
	}
	for _, says := range []string{cache, "GB free", "RECONCILEBOT_LAB_CACHE", "GOCACHE"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("said %v, want it to say %q", err, says)
		}
	}
}

func TestFullDiskGetsItsCure(t *testing.T) {
	other := errors.New("undefined: nothing")
	for name, c := range map[string]struct {
		err  error
		full bool
	}{
		"our own write":     {fmt.Errorf("put kwok into the cache: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), true},
		"the compiler's":    {errors.New("go build: exit status 1\n  write $WORK/b1/_pkg_.a: no space left on device"), true},
		"something else is": {other, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := diskHint("/cache", c.err)
			if !errors.Is(got, c.err) || strings.Contains(got.Error(), "The disk is full. Make room") != c.full {
				t.Errorf("said %v", got)
			}
		})
	}
}
