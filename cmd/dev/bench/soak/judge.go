package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// judge compares what people did with what stands in Slack and in the state
// file.
type judge struct {
	*stage
	r    *Report
	db   *state.DB
	runs map[state.ReconciliationID]state.Reconciliation
	// whispers are what each person alone was told, by channel.
	whispers map[place][]slacksim.Message
}

func (s *stage) judge(r *Report) error {
	m := s.sim.Metrics()
	r.Envelopes, r.Acked, r.LostOnTheWay, r.Deeds = m.Envelopes, m.Acked, m.Lost, len(s.people.book.deeds)
	r.Bot = s.bot.sums()
	for _, f := range s.sim.Findings() {
		r.Findings = append(r.Findings, f.Rule+": "+f.Detail)
	}
	if r.Bot.Panics > 0 {
		r.fault("%d panics", r.Bot.Panics)
	}
	db, err := state.Open(s.bot.setting.State, time.Now)
	if err != nil {
		return err
	}
	j := &judge{stage: s, r: r, db: db, runs: map[state.ReconciliationID]state.Reconciliation{}, whispers: map[place][]slacksim.Message{}}
	err = errors.Join(j.read(), j.secrets())
	if err == nil {
		j.decisions()
		j.deeds()
		err = j.messages()
	}
	return errors.Join(err, db.Close())
}

// read reads the state file.
func (j *judge) read() error {
	for i := range j.c.Channels {
		list, err := j.db.OfIncident(state.IncidentID(fmt.Sprintf("INC-%d", 1000+i)))
		if err != nil {
			return err
		}
		for _, run := range list {
			j.runs[run.ID] = run
		}
		for _, p := range inChannel(i, j.c.Channels, j.c.People) {
			j.whispers[place{p, i}] = j.sim.Ephemerals(personID(p), channelID(i))
		}
	}
	left, err := j.db.Unhandled()
	if len(left) > 0 {
		j.r.fault("%d acts were never handled", len(left))
	}
	return err
}

// secrets looks for the tokens, and for what must not happen, in the log.
func (j *judge) secrets() error {
	raw, err := os.ReadFile(j.log.Name())
	if err != nil {
		return err
	}
	for _, never := range []string{botToken, appToken, "ticket=", "/hooks/", "was given up", "panic"} {
		if n := strings.Count(string(raw), never); n > 0 {
			j.r.fault("the bot's log has %q, %d times", never, n)
		}
	}
	return nil
}

// decisions wants one decision, and one vote of each person, per
// reconciliation.
func (j *judge) decisions() {
	log, err := j.db.Journal("")
	if err != nil {
		j.r.fault("the journal can't be read: %v", err)
	}
	decided := map[state.ReconciliationID]int{}
	for _, e := range log {
		if e.Kind == "decided" {
			decided[e.Reconciliation]++
		}
	}
	targets := map[string]int{}
	for id, run := range j.runs {
		j.r.Reconciliations++
		targets[run.Target]++
		if run.Decided() {
			j.r.Decided++
		}
		if run.Outcome == "adopted" {
			j.r.Adopted++
		}
		if decided[id] > 1 || decided[id] > 0 != run.Decided() {
			j.r.DoubledDecisions = append(j.r.DoubledDecisions, fmt.Sprintf("%s was decided %d times", id, decided[id]))
		}
		voters := map[string]bool{}
		for _, v := range run.Votes {
			if voters[v.By.ID] {
				j.r.DoubledDecisions = append(j.r.DoubledDecisions, fmt.Sprintf("%s voted twice on %s", v.By.Name, id))
			}
			voters[v.By.ID] = true
		}
	}
	for t, n := range targets {
		if n > 1 {
			j.r.DoubledDecisions = append(j.r.DoubledDecisions, fmt.Sprintf("%s was opened %d times, though one person asked once", t, n))
		}
	}
}

// place is a person in a channel.
type place struct{ person, channel int }

// deeds wants an effect, or an answer, for each act that Slack took for
// acknowledged.
func (j *judge) deeds() {
	opened := map[string]state.Reconciliation{}
	for _, run := range j.runs {
		if t, err := drift.ParseTarget(run.Target); err == nil {
			opened[t.Name] = run
		}
	}
	need, boards := map[place][]kind{}, map[place]int{}
	tried := map[int]int{}
	for _, d := range j.people.book.deeds {
		if d.ts != "" {
			d.acked = j.times.acknowledged(d.ts)
		}
		if d.kind == board {
			tried[d.channel]++
		}
		if d.kind == ask {
			j.r.Again += max(0, j.count(d)-1)
		}
		if !d.acked || d.refused {
			continue
		}
		at := place{d.person, d.channel}
		switch {
		case d.kind == ask && j.count(d) == 0:
			j.r.Lost = append(j.r.Lost, fmt.Sprintf("%s %s by %s in #%s", d.kind, d.mark, personName(d.person), channelName(d.channel)))
		case d.kind == ask:
		case d.kind == board:
			boards[at]++
		case !j.effect(d, opened):
			need[at] = append(need[at], d.kind)
		}
	}
	j.answers(need, boards, tried)
}

// effect tells whether an act had its effect.
func (j *judge) effect(d *deed, opened map[string]state.Reconciliation) bool {
	switch d.kind {
	case look:
		return opened[d.target].OpenedBy.ID == personID(d.person)
	case click:
		return d.form || j.times.opened(d.trigger)
	case submit:
		return j.runs[d.run].Decision.By.ID == personID(d.person)
	case vote:
		return slices.ContainsFunc(j.runs[d.run].Votes, func(v state.Vote) bool { return v.By.ID == personID(d.person) })
	}
	return false
}

// answers wants an answer to the person alone for each act without an effect,
// and one to the whole channel for each question to all, or else, when it was
// refused, one to the person alone.
func (j *judge) answers(need map[place][]kind, boards map[place]int, tried map[int]int) {
	short := map[int]int{}
	for channel := range j.c.Channels {
		n := -1 // the first is the incident's own
		j.each(channel, func(m slacksim.Message) {
			if strings.HasPrefix(key(m), "reply/") {
				n++
			}
		})
		short[channel] -= n
		if n > tried[channel] {
			j.r.DoubledMessages = append(j.r.DoubledMessages, fmt.Sprintf("%d answers stand in #%s, but only %d were asked for", n, channelName(channel), tried[channel]))
		}
		for _, person := range inChannel(channel, j.c.Channels, j.c.People) {
			at := place{person, channel}
			spare := j.unmarked(at) - len(need[at])
			if spare < 0 {
				j.r.Lost = append(j.r.Lost, fmt.Sprintf("%s was answered %d times in #%s, for these without another effect: %q", personName(person), spare+len(need[at]), channelName(channel), need[at]))
			}
			short[channel] += boards[at] - min(boards[at], max(spare, 0))
		}
		if short[channel] > 0 {
			j.r.Lost = append(j.r.Lost, fmt.Sprintf("%d answers to all are missing in #%s", short[channel], channelName(channel)))
		}
	}
}

// count counts the answers that have a mark.
func (j *judge) count(d *deed) (n int) {
	for _, m := range j.whispers[place{d.person, d.channel}] {
		if strings.Contains(m.PlainText()+" "+m.Text, d.mark) {
			n++
		}
	}
	return n
}

// marked finds a mark. An id that a card shows may have a part of one.
var marked = regexp.MustCompile(`zz[0-9]+q`)

// unmarked counts the answers that have none.
func (j *judge) unmarked(at place) (n int) {
	for _, m := range j.whispers[at] {
		if !marked.MatchString(m.PlainText() + " " + m.Text) {
			n++
		}
	}
	return n
}

// key is what a message was posted for.
func key(m slacksim.Message) string {
	var p struct{ Key, After string }
	if m.Metadata == nil || json.Unmarshal(m.Metadata.EventPayload, &p) != nil {
		return ""
	}
	if p.After != "" {
		return p.Key + " after " + p.After
	}
	return p.Key
}

// each visits what the bot wrote in a channel, threads included.
func (j *judge) each(channel int, visit func(slacksim.Message)) {
	for _, m := range j.sim.Messages(channelID(channel)) {
		for _, in := range j.sim.Thread(channelID(channel), m.TS) {
			if in.BotID != "" {
				visit(in)
			}
		}
	}
}

// messages wants every message once, where the bot believes it to stand, and
// the last word on every card.
func (j *judge) messages() error {
	seen := map[string]bool{}
	said := map[state.ReconciliationID]int{}
	cards := map[state.ReconciliationID]slacksim.Message{}
	var all []error
	for i := range j.c.Channels {
		j.each(i, func(m slacksim.Message) {
			j.r.Messages++
			k := key(m)
			if seen[k] || k == "" {
				j.r.DoubledMessages = append(j.r.DoubledMessages, fmt.Sprintf("%q stands more than once: %.80q", k, m.Text))
			}
			seen[k] = true
			name, _, _ := strings.Cut(k, " after ")
			known, err := j.db.Message(state.MessageKey(name))
			switch {
			case errors.Is(err, state.ErrNotFound) || err == nil && known.TS != m.TS:
				j.r.DoubledMessages = append(j.r.DoubledMessages, fmt.Sprintf("%s stands at %s, and the bot remembers %q", k, m.TS, known.TS))
			case err != nil:
				all = append(all, err)
			}
			if id, ok := strings.CutPrefix(name, "card/"); ok {
				cards[state.ReconciliationID(id)] = m
			} else if rest, ok := strings.CutPrefix(name, "notice/"); ok {
				id, _, _ := strings.Cut(rest, "/")
				said[state.ReconciliationID(id)]++
			}
		})
	}
	for id, run := range j.runs {
		j.card(run, cards[id], said[id])
	}
	return errors.Join(all...)
}

// card wants a reconciliation's card to show its end, and its thread to tell
// everything that happened.
func (j *judge) card(run state.Reconciliation, m slacksim.Message, said int) {
	if m.TS == "" {
		j.r.Lost = append(j.r.Lost, fmt.Sprintf("%s has no card", run.ID))
		return
	}
	want := 0
	if run.Decided() {
		want = 1 + len(run.Votes)
	}
	if run.IsClosed() {
		want++
		for _, action := range []string{card.ActionAdopt, card.ActionApprove} {
			if _, has := m.Button(action); has {
				j.r.fault("%s has ended and its card still has the button %s", run.ID, action)
			}
		}
	}
	if said != want {
		j.r.fault("%d things were said in the thread of %s, and %d happened", said, run.ID, want)
	}
}
