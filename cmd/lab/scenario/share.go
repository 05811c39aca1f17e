package scenario

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// shares notes how long the bot itself took from command to card, and how long
// it waited for other systems. It is the one thing that the bot's log is read
// for: no one outside can tell these two apart.
func (t *story) shares() error {
	log, err := os.Open(t.rig.Bot.Log())
	if err != nil {
		return fmt.Errorf("read the bot's times: %w", err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	var last *timed
	for lines.Scan() {
		var line timed
		// Lines of others, and one that is being written, are no times.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Total > 0 && t.isCardOf(line.Run) {
			last = &line
		}
	}
	if last != nil {
		t.note("command to card, the bot's own", time.Duration(last.Own*float64(time.Millisecond)))
		t.note("command to card, waiting for others", time.Duration(last.Waiting*float64(time.Millisecond)))
	}
	return lines.Err()
}

// timed is a line of the bot's log about a card.
type timed struct {
	Run                 string
	Total, Own, Waiting float64 // milliseconds
}

// isCardOf tells whether the card belongs to a reconciliation: its id is in the
// card's metadata.
func (t *story) isCardOf(run string) bool {
	return run != "" && t.card.Metadata != nil && strings.Contains(string(t.card.Metadata.EventPayload), run)
}
