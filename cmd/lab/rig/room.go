package rig

import (
	"fmt"
	"syscall"
)

// needed is what a run writes: etcd's log, which it makes at once, the logs,
// the repositories.
const needed = 512 << 20

// room refuses to begin what would end in a full disk, of which etcd tells
// with a stack trace.
func room(dir string, needed uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return nil // making the run folder will say what is wrong with it
	}
	if free := uint64(fs.Bavail) * uint64(fs.Bsize); free < needed {
		return fmt.Errorf("a run writes up to %d MB and the disk of %s has %d MB free: make room, or name a folder on another disk in TMPDIR",
			needed>>20, dir, free>>20)
	}
	return nil
}
