package state

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Owner is the process that holds a state file. It is written beside the file
// by whoever has its lock: the lock itself does not say whose it is.
type Owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func ownerPath(path string) string { return path + ".owner" }

// claim notes that this process holds the file.
func claim(path string, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	raw, err := json.Marshal(Owner{PID: os.Getpid(), Host: host, Since: now.UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	return os.WriteFile(ownerPath(path), raw, 0o600)
}

// OwnerOf says who holds a state file, as far as its owner could write that
// down; ok is false where nobody did. Only while the file's lock is taken does
// it tell of a process that is alive.
func OwnerOf(path string) (o Owner, ok bool) {
	f, err := os.Open(ownerPath(path))
	if err != nil {
		return o, false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil || json.Unmarshal(raw, &o) != nil || o.PID <= 0 {
		return Owner{}, false
	}
	return o, true
}

// String says it for people.
func (o Owner) String() string {
	return fmt.Sprintf("process %d on %q, since %s", o.PID, o.Host, o.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// held is the refusal of a file that another process has.
func held(path string) error {
	who := "another process"
	if o, ok := OwnerOf(path); ok {
		who += " (" + o.String() + ")"
	}
	return fmt.Errorf("open state file %s: %s holds it; is a second reconcilebot running? Stop it first, or give this one a state file of its own", path, who)
}
