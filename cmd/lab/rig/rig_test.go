package rig

import (
	"net"
	"strings"
	"testing"
)

func TestListenSaysWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct{ addr, says string }{
		"a port in use":            {taken.Addr().String(), "-addr 127.0.0.1:PORT"},
		"every interface":          {"0.0.0.0:7411", "loopback only"},
		"no interface named":       {":7411", "loopback only"},
		"another machine's":        {"192.0.2.1:7411", "loopback only"},
		"something else than that": {"7411", "write it like 127.0.0.1:7411"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := listen(c.addr)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("said %v, want it to say %q", err, c.says)
			}
		})
	}
}

func TestShortDiskSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := room(dir, 1); err != nil {
		t.Errorf("room for one byte: %v", err)
	}
	err := room(dir, 1<<62)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("said %v, want it to name the folder and TMPDIR", err)
	}
}

func TestTreeSaysWhereToStart(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Tree(t.Context()); err == nil || !strings.Contains(err.Error(), "from within reconcilebot's source tree") {
		t.Errorf("said %v, want it to say where to start the lab", err)
	}
}
