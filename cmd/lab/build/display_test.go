package build

import (
	"strings"
	"testing"
	"time"
)

// TestErrorDoesNotFollowALiveLine: what is written beside the display begins
// on a line of its own.
func TestErrorDoesNotFollowALiveLine(t *testing.T) {
	var out strings.Builder
	l := &Lines{Out: &out, Terminal: true, Now: time.Now}
	l.Live("building kwok")
	l.Clear()
	l.Clear()
	if want := "\r\033[Kbuilding kwok\r\033[K"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}
