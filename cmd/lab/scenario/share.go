package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// The measures of a whole reconciliation.
const (
	// MachineShare is everything but people and waits: the work of the bot and
	// of those it asks.
	MachineShare = "whole job, the machine's share"
	BetweenPolls = "whole job, waits between polls"
	ForPeople    = "whole job, waits for people"
)

// shares notes how long the bot itself took from command to card, and how long
// it waited for other systems. It and spent are the two things that the bot's
// log is read for: no one outside can tell these times apart.
//
// Slack shows a card before the bot knows that it does: the line about the
// version of the card that the story saw may still be to come.
func (t *story) shares(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, errors.New("the bot logged no time of the card"))
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		var seen *logged
		versions := 0
		err := t.log(func(line logged) {
			if line.Msg == "card posted" || line.Msg == "card edited" {
				if versions++; versions <= t.card.Versions && line.Total > 0 {
					seen = &line
				}
			}
		})
		if err != nil {
			return err
		}
		if versions >= t.card.Versions {
			if seen != nil {
				t.note("command to card, the bot's own", seen.Own.duration())
				t.note("command to card, waiting for others", seen.Waiting.duration())
			}
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// spent notes where the time of the whole reconciliation went.
func (t *story) spent() error {
	return t.log(func(line logged) {
		if line.Msg == "ended" {
			t.note(MachineShare, line.Times.Machine.duration())
			t.note(BetweenPolls, line.Times.Polls.duration())
			t.note(ForPeople, line.Times.People.duration())
		}
	})
}

// logged is a line of the bot's log with times in it.
type logged struct {
	Msg, Run            string
	Total, Own, Waiting milliseconds
	Times               struct{ Machine, Polls, People milliseconds }
}

type milliseconds float64

func (ms milliseconds) duration() time.Duration {
	return time.Duration(float64(ms) * float64(time.Millisecond))
}

// log visits what the bot logged of this story's reconciliation.
func (t *story) log(visit func(logged)) error {
	log, err := os.Open(t.rig.Bot.Log())
	if err != nil {
		return fmt.Errorf("read the bot's times: %w", err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		var line logged
		// Lines of others, and one that is being written, are no times.
		if json.Unmarshal(lines.Bytes(), &line) == nil && t.isCardOf(line.Run) {
			visit(line)
		}
	}
	return lines.Err()
}

// isCardOf tells whether the card belongs to a reconciliation: its id is in the
// card's metadata.
func (t *story) isCardOf(run string) bool {
	return run != "" && t.card.Metadata != nil && strings.Contains(string(t.card.Metadata.EventPayload), run)
}
