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
	if err := enoughDisk(t.Context(), cache, 1, 1); err != nil {
		t.Errorf("room for one byte: %v", err)
	}
	for short, err := range map[string]error{
		cache:        enoughDisk(t.Context(), cache, 1<<62, 1),
		os.TempDir(): enoughDisk(t.Context(), cache, 1, 1<<62),
	} {
		if err == nil {
			t.Errorf("a disk without room for %s was taken", short)
			continue
		}
		for _, says := range []string{"GB free", "RECONCILEBOT_LAB_CACHE", "GOCACHE", "TMPDIR"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("said %v, want it to say %q", err, says)
			}
		}
	}
}

func TestFullDiskGetsItsCure(t *testing.T) {
	other := errors.New("build kwok: go build: exit status 1\n  main.go:3: undefined: nothing")
	for name, c := range map[string]struct {
		err  error
		says string // its first line
		full bool
	}{
		"our own write":  {fmt.Errorf("put kwok into the cache: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), "put kwok into the cache: write x: no space left on device", true},
		"the compiler's": {errors.New("build kwok: go build: exit status 1\n  a: write /tmp/a: no space left on device\n  b: write /tmp/b: no space left on device"), "a: write /tmp/a: no space left on device", true},
		"something else": {other, "build kwok: go build: exit status 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := diskHint("/cache", c.err).Error()
			first, rest, _ := strings.Cut(got, "\n")
			if first != c.says || strings.HasPrefix(rest, "The disk is full. Make room") != c.full || c.full && strings.Contains(got, "/tmp/b") {
				t.Errorf("said %s", got)
			}
			if !c.full && got != other.Error() {
				t.Errorf("changed what is no full disk: %s", got)
			}
		})
	}
}
