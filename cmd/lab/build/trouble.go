package build

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// What a first build writes in all: Go's build cache, the modules and the
// programs; and, of that, what stands in the folder for temporary files until
// one program is done.
const (
	needed     = 6 << 30
	neededWork = 3 << 30
)

// enoughDisk refuses to begin what would end in a full disk after minutes.
func enoughDisk(ctx context.Context, cache string, needed, neededWork uint64) error {
	need := map[string]uint64{os.TempDir(): neededWork}
	if out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output(); err == nil {
		need[strings.TrimSpace(string(out))] = needed
	}
	need[cache] = needed
	for _, dir := range slices.Sorted(maps.Keys(need)) {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(dir, &fs); err != nil {
			continue // not there yet, or a system that cannot tell
		}
		if free := uint64(fs.Bavail) * uint64(fs.Bsize); free < need[dir] {
			return fmt.Errorf("the first build needs %d GB and the disk of %s has %.1f GB free: make room, or name folders on another disk in RECONCILEBOT_LAB_CACHE, GOCACHE and TMPDIR",
				need[dir]>>30, dir, float64(free)/(1<<30))
		}
	}
	return nil
}

// noSpace is how the system, and so the compiler, names a full disk.
var noSpace = syscall.ENOSPC.Error()

// diskHint says what to do when the cause is a full disk. The compiler reports
// that once for every file that it could not write; one is enough.
func diskHint(cache string, err error) error {
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, noSpace) {
			return fmt.Errorf("%s\nThe disk is full. Make room (go clean -cache frees Go's build cache; %s holds the lab's programs), or name folders on another disk in RECONCILEBOT_LAB_CACHE, GOCACHE and TMPDIR", strings.TrimSpace(line), cache)
		}
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
