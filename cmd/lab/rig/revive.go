package rig

import (
	"context"
	"fmt"
	"time"
)

// patience says when a bot that keeps ending is given up.
type patience struct {
	quick time.Duration // an end this soon after the start is a failed start
	tries int           // how many failed starts in a row are too many
	pause time.Duration // before the second start in a row; doubled each time
}

var usualPatience = patience{quick: 10 * time.Second, tries: 5, pause: 500 * time.Millisecond}

// revive starts the bot again when it ends without the lab's doing, as
// Kubernetes would, and says so, until ctx ends or patience does. A bot that is
// given up does not end the lab: it may be mended and started by hand.
func (b *Bot) revive(ctx context.Context, p patience, say func(string)) {
	failed, pause := 0, p.pause
	for begun := time.Now(); ; begun = time.Now() {
		process := b.current()
		select {
		case <-ctx.Done():
			return
		case <-process.Done():
		}
		how, wanted := process.Exit()
		if wanted {
			return
		}
		if time.Since(begun) >= p.quick {
			failed, pause = 0, p.pause
		} else if failed++; failed >= p.tries {
			say(fmt.Sprintf("reconcilebot ended (%s), %d times in a row within %s of its start, and is not started again; %s\nThe rest of the lab goes on. Start it by hand when it is mended:\n  %s",
				how, failed, p.quick, process.LastWords(), b.Command()))
			return
		}
		// The first start in a row comes at once: whoever killed it wants to
		// see what happens.
		if failed > 1 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause *= 2
		}
		if err := b.launch(); err != nil {
			if ctx.Err() != nil {
				return
			}
			say(fmt.Sprintf("reconcilebot ended (%s) and could not be started again: %v\nStart it by hand:\n  %s", how, err, b.Command()))
			return
		}
		say(fmt.Sprintf("reconcilebot ended (%s); started again, pid %d", how, b.PID()))
	}
}
