package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// needed is what a first build writes in all: Go's build cache, the modules and
// the programs.
const needed = 6 << 30

// enoughDisk refuses to begin what would end in a full disk after minutes.
func enoughDisk(ctx context.Context, cache string, needed uint64) error {
	folders := []string{cache}
	if out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	for _, dir := range folders {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(dir, &fs); err != nil {
			continue // not there yet, or a system that cannot tell
		}
		if free := uint64(fs.Bavail) * uint64(fs.Bsize); free < needed {
			return fmt.Errorf("the first build needs %d GB and the disk of %s has %.1f GB free: make room, or name folders on another disk in RECONCILEBOT_LAB_CACHE and GOCACHE",
				needed>>30, dir, float64(free)/(1<<30))
		}
	}
	return nil
}

// diskHint says what to do when the cause is a full disk, which the compiler
// reports in its own words.
func diskHint(cache string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "no space left on device") {
		return fmt.Errorf("%w\nThe disk is full. Make room (go clean -cache frees Go's build cache; %s holds the lab's programs), or name folders on another disk in RECONCILEBOT_LAB_CACHE, GOCACHE and TMPDIR", err, cache)
	}
	return err
}

func networkHint(said string) string {
	for _, sign := range []string{"dial tcp", "no such host", "i/o timeout", "TLS handshake", "proxyconnect"} {
		if strings.Contains(said, sign) {
			return "\nThe first build downloads Go modules and could not. Check the network and GOPROXY, then start again: what was built is kept."
		}
	}
	return ""
}
