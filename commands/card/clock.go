package card

import (
	"fmt"
	"time"
)

// clock is a time of day with its zone, and the date when it is not today's.
func clock(t, now time.Time) string {
	t = t.UTC()
	if t.Format(time.DateOnly) != now.UTC().Format(time.DateOnly) {
		return t.Format("2006-01-02 15:04 UTC")
	}
	return t.Format("15:04 UTC")
}

// when is a time, and how far it is from now.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	if t.After(now) {
		return fmt.Sprintf("%s (in %s)", clock(t, now), span(t.Sub(now)))
	}
	if now.Sub(t) < time.Minute {
		return clock(t, now) + " (just now)"
	}
	return fmt.Sprintf("%s (%s ago)", clock(t, now), span(now.Sub(t)))
}

// span is a length of time in the one or two units that matter.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Round(time.Second)/time.Second), 1))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
		if m == 0 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
	}
	return fmt.Sprintf("%d months", int(d/(30*24*time.Hour)))
}
