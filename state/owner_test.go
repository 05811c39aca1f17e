package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestARefusalNamesTheProcess: whoever is woken by it knows where to look.
func TestARefusalNamesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(path, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, time.Now)
	for _, want := range []string{"another process", fmt.Sprintf("process %d on %q", os.Getpid(), host), "since 2026-03-14 12:00:00 UTC"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open = %v, want it to say %s", err, want)
		}
	}
	// What stands there may be damaged, or written by somebody else.
	if err := os.WriteFile(path+".owner", []byte(`{"pid":-1,"host":"\n"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(path, time.Now); err == nil || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("Open = %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := OwnerOf(path); ok {
		t.Error("after the end it still has an owner")
	}
}
