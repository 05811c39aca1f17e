package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"reconcilebot/state"
)

// Disk is what the bot keeps on disk.
type Disk struct {
	// State is the path of the state file, Cache the folder for repositories.
	State, Cache string
}

// What should be free at least, in bytes: the state file grows by some
// kilobytes for each reconciliation, the cache by whole repositories.
const (
	stateRoom = 100 << 20
	cacheRoom = 1 << 30
)

// Checks lists what to look at.
func (d Disk) Checks() []Check { return []Check{d.state, d.cache} }

func (d Disk) state(context.Context) []Finding {
	const area area = "state"
	found := folder(area, "folder", filepath.Dir(d.State), stateRoom)
	info, err := os.Stat(d.State)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return append(found, area.ok("file", "%s will be created", d.State))
	case err != nil:
		return append(found, area.fail("file", "give user "+fmt.Sprint(os.Getuid())+" the right to read it", "%v", err))
	case info.Mode().Perm()&0o077 != 0:
		found = append(found, area.warn("file", "chmod 600 "+d.State, "%s can be read by others", d.State))
	}
	db, err := bolt.Open(d.State, 0o600, &bolt.Options{ReadOnly: true, Timeout: 500 * time.Millisecond})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		by := "a running bot"
		if who, ok := state.OwnerOf(d.State); ok {
			by += ", " + who.String()
		}
		return append(found, area.ok("file", "%s is in use by %s", d.State, by))
	case err != nil:
		return append(found, area.fail("file", "put a backup in its place", "%s: %v", d.State, err))
	}
	if err := db.Close(); err != nil {
		return append(found, area.fail("file", "look at the disk", "%s: %v", d.State, err))
	}
	return append(found, area.ok("file", "%s can be read", d.State))
}

// cache looks at the folder for repositories, or at the first one above it
// that is there: the bot makes the rest.
func (d Disk) cache(context.Context) []Finding {
	dir := d.Cache
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return folder("git", "cache", dir, cacheRoom)
}

// folder looks whether a folder is there, can be written, and has room.
func folder(area area, check, dir string, room uint64) []Finding {
	// Writing is asked for with access(2): nothing is left behind, and nothing
	// appears in a folder that others watch.
	const write = 2
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return []Finding{area.fail(check, "create it", "%v", err)}
	case !info.IsDir():
		return []Finding{area.fail(check, "name another", "%s is not a folder", dir)}
	}
	if err := syscall.Access(dir, write); err != nil {
		return []Finding{area.fail(check, fmt.Sprintf("give user %d the right to write", os.Getuid()), "%s can't be written: %v", dir, err)}
	}
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return []Finding{area.warn(check, "", "%s: how much is free can't be told: %v", dir, err)}
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if free < room {
		return []Finding{area.warn(check, "make room", "%s has %d MB free, less than %d", dir, free>>20, room>>20)}
	}
	return []Finding{area.ok(check, "%s can be written, %d MB free", dir, free>>20)}
}
