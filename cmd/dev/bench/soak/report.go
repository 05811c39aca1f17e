package soak

import (
	"fmt"
	"io"
	"time"
)

// Report is what came of a soak.
type Report struct {
	Envelopes, Acked, LostOnTheWay, Deeds int
	Kills                                 int
	Played, Settled                       time.Duration

	Acks           int
	P50, P99, Most time.Duration
	// Memory is what the bot took at each thousand envelopes.
	Memory []memory

	Reconciliations, Decided, Adopted, Messages int
	// Lost are acts that were acknowledged and had no effect; the others came
	// out twice, or were found by the local Slack. Each says which.
	Lost, DoubledDecisions, DoubledMessages, Findings []string
	// Again counts answers to one person that came more than once. Nobody can
	// look up whether such an answer arrived, so it is given again when Slack's
	// word is lost: twice is better than never.
	Again int
	// Faults are whatever else is wrong.
	Faults []string
	Bot    status
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Clean tells whether nothing was lost, doubled or found.
func (r *Report) Clean() bool {
	return len(r.Lost)+len(r.DoubledDecisions)+len(r.DoubledMessages)+len(r.Findings)+len(r.Faults) == 0
}

// Limits of what the bot may take: in all, and by how much its own memory may
// grow between the second thousand envelopes and the last.
const (
	maxMemory = 150 << 20
	maxGrowth = 16 << 20
)

// Flat tells whether the bot kept within its memory. It is true where nothing
// was measured.
func (r *Report) Flat() bool {
	for _, m := range r.Memory {
		if m.total() > maxMemory {
			return false
		}
	}
	n := len(r.Memory)
	return n < 3 || r.Memory[n-1].Anon-r.Memory[1].Anon <= maxGrowth
}

// shown is how many of each kind of fault are printed.
const shown = 10

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	p := &printer{w: w}
	p.line("%d envelopes (%d acknowledged, %d lost by Slack or the network) from %d acts, in %s and %s to come to rest",
		r.Envelopes, r.Acked, r.LostOnTheWay, r.Deeds, r.Played.Round(time.Second), r.Settled.Round(time.Second))
	p.line("%d kills; %d reconciliations, %d decided, %d carried out; %d messages stand", r.Kills, r.Reconciliations, r.Decided, r.Adopted, r.Messages)
	p.line("the bot: %d deliveries came again, %d refused for lack of room, %d pauses asked for, %d sockets opened, %d answers given up, %d panics",
		r.Bot.Repeated, r.Bot.Refused, r.Bot.Limited, r.Bot.Opens, r.Bot.Missed, r.Bot.Panics)
	p.line("")
	p.line("acknowledged after: p50 %s, p99 %s, most %s (of %d, as Slack sees it)", ms(r.P50), ms(r.P99), ms(r.Most), r.Acks)
	for i, m := range r.Memory {
		p.line("  %6d envelopes: %5.1f MB resident (%5.1f of its own, %5.1f of files)", (i+1)*thousand, mb(m.total()), mb(m.Anon), mb(m.File))
	}
	if len(r.Memory) == 0 {
		p.line("  memory was not measured: %v", errNoMemory)
	}
	p.line("")
	for _, l := range []struct {
		name string
		list []string
	}{
		{"lost acknowledged acts", r.Lost}, {"doubled decisions", r.DoubledDecisions},
		{"doubled messages", r.DoubledMessages}, {"findings", r.Findings}, {"other faults", r.Faults},
	} {
		p.line("%5d %s", len(l.list), l.name)
		for _, one := range l.list[:min(shown, len(l.list))] {
			p.line("        %s", one)
		}
	}
	p.line("%5d answers to one person alone given again, since Slack's word that they had come was lost", r.Again)
	return p.err
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mb(n int64) float64 { return float64(n) / (1 << 20) }
