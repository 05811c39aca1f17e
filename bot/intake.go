package bot

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands"
	"reconcilebot/state"
)

// intake takes frames off the sockets: stored, acknowledged, handed over. It
// is safe for concurrent use.
type intake struct {
	app       app
	db        *state.DB
	pool      *pool
	outbox    *outbox
	directory *Directory
	health    *health
	meters    *meters
	within    time.Duration // for the disk
	log       *slog.Logger
	now       func() time.Time
	mint      func() string
	me        atomic.Pointer[identity]
	appID     atomic.Pointer[string]
	slots     chan struct{}  // bounds the frames under way
	bg        sync.WaitGroup // the frames under way, and writes that were given up on
	stopping  atomic.Bool
	flushing  sync.Mutex // one flush at a time: two would wait for each other
}

// slots is how many frames may be under way; the next waits to be read.
const slots = 64

func (in *intake) ownApp(id string) {
	if id != "" {
		in.appID.Store(&id)
	}
}

// letter is a frame and what could be read of it.
type letter struct {
	frame
	act   act
	from  origin
	news  news
	err   error
	place *place // nil until there is an act, and when it was handed over
}

// take acknowledges one frame, after storing the act in it, without keeping
// the next from being read: those that arrive together share one write. Its
// place in the order of acts it has before the next is read.
func (in *intake) take(s *socket, f frame) {
	in.slots <- struct{}{}
	l := in.open(f)
	in.bg.Go(func() {
		defer func() { <-in.slots }()
		defer func() {
			l.place.leave()
			if p := recover(); p != nil {
				in.panicked(f, p)
			}
		}()
		in.sort(s, l)
	})
}

// open reads what is in a frame.
func (in *intake) open(f frame) *letter {
	l := &letter{frame: f}
	defer func() {
		if p := recover(); p != nil {
			in.panicked(f, p)
			l.err = errors.New("reading it panicked")
		}
	}()
	if f.EnvelopeID == "" {
		return l
	}
	l.act, l.news, l.from, l.err = in.read(f)
	if l.err == nil && !in.foreign(l.from) {
		l.place = in.pool.order.enter(l.act)
	}
	return l
}

func (in *intake) panicked(f frame, p any) {
	in.meters.panics.Add(1)
	in.log.Error("taking an envelope panicked", "type", f.Type, "err", fmt.Sprint(p), "stack", string(debug.Stack()))
}

// flush returns when the frames under way are acknowledged. From then on
// people are told to try again: the bot is about to stop.
func (in *intake) flush() {
	in.stopping.Store(true)
	in.flushing.Lock()
	defer in.flushing.Unlock()
	for range slots {
		in.slots <- struct{}{}
	}
	for range slots {
		<-in.slots
	}
}

// sort decides what an envelope is.
func (in *intake) sort(s *socket, l *letter) {
	f := l.frame
	if f.EnvelopeID == "" {
		in.log.Warn("a frame that is no envelope", "type", f.Type, "bytes", f.size)
		return
	}
	if l.news.Type != "" && !in.foreign(l.from) {
		if err := in.hear(l.news); err != nil {
			// Without an acknowledgement Slack sends it again.
			in.log.Error("news from Slack could not be written down", "err", err)
			return
		}
	}
	switch {
	case l.err != nil:
		in.meters.unknown.Add(1)
		if !errors.Is(l.err, errUnknown) {
			in.log.Warn("an envelope that is not understood", "type", f.Type, "bytes", f.size, "err", l.err)
		}
		in.ack(s, f, nil)
	case in.foreign(l.from):
		in.log.Warn("an envelope for another app or workspace", "type", f.Type, "app", l.from.App, "team", l.from.Team)
		in.ack(s, f, nil)
	default:
		in.receive(s, l)
	}
}

func (in *intake) read(f frame) (a act, n news, from origin, err error) {
	if f.odd {
		return a, n, from, errors.New("not the JSON that Slack documents")
	}
	switch f.Type {
	case "slash_commands":
		a, from, err = readSlash(f.Payload)
	case "interactive":
		a, from, err = readInteraction(f.Payload)
	case "events_api":
		a, n, from, err = readEvent(f.Payload, *in.me.Load())
	default:
		err = fmt.Errorf("envelope type %.40q: %w", f.Type, errUnknown)
	}
	return a, n, from, err
}

// foreign tells whether a payload is for another app or another workspace's
// installation.
func (in *intake) foreign(from origin) bool {
	if app := in.appID.Load(); app != nil && from.App != "" && from.App != *app {
		return true
	}
	me := in.me.Load()
	return from.Team != "" && me.Team != "" && from.Team != me.Team
}

// receive stores an act and acknowledges it.
func (in *intake) receive(s *socket, l *letter) {
	f, a := l.frame, l.act
	if a.Kind == commands.Submit {
		if wrong := in.check(a); len(wrong) > 0 {
			in.ack(s, f, slack.NewErrorsViewSubmissionResponse(wrong))
			return
		}
	}
	d, fresh, err := in.store(a, f.at)
	if err != nil {
		in.refuse(s, f, a, err)
		return
	}
	if !fresh {
		in.meters.repeated.Add(1)
		in.ack(s, f, nil)
		return
	}
	in.meters.received.Add(1)
	in.ack(s, f, nil)
	j := job{d: d, at: f.at, acked: time.Since(f.at), place: l.place}
	l.place = nil
	in.pool.enqueue(j)
}

// check lets commands look at a modal; a panic there must not close the
// connection.
func (in *intake) check(a act) (wrong map[string]string) {
	defer func() {
		if p := recover(); p != nil {
			in.meters.panics.Add(1)
			in.log.Error("checking a modal panicked", "err", fmt.Sprint(p))
			wrong = nil
		}
	}()
	return in.app.Check(a.request(state.Delivery{Kind: string(a.Kind)}))
}

// refuse tells the person to try again, by the means that the kind has. What
// nobody could be told of is not acknowledged; nor is an event, which Slack
// sends again.
func (in *intake) refuse(s *socket, f frame, a act, err error) {
	in.meters.refused.Add(1)
	in.log.Error("an act was not stored", "command", a.Kind, "user", a.User, "err", err)
	switch a.Kind {
	case commands.Slash:
		in.ack(s, f, map[string]string{"response_type": "ephemeral", "text": busyText})
	case commands.Submit:
		wrong := map[string]string{}
		for block := range a.View.Values {
			wrong[block] = busyText
		}
		in.ack(s, f, slack.NewErrorsViewSubmissionResponse(wrong))
	case commands.Mention:
	default:
		// Beside the frames under way: it calls Slack, which may take long.
		in.bg.Go(func() {
			if in.pool.apologise(a, f.at.Add(tellWithin)) {
				in.ack(s, f, nil)
			}
		})
	}
}

// tellWithin is how long somebody may be told in words that nothing was done.
// Without an acknowledgement after three seconds Slack shows it by itself.
const tellWithin = 2700 * time.Millisecond

const busyText = "I can't take this on right now, so nothing was done. Try again in a moment."

// ack acknowledges and measures. A lost acknowledgement changes nothing: what
// was stored is done, and what comes again is known.
func (in *intake) ack(s *socket, f frame, payload any) {
	if err := s.ack(f.EnvelopeID, payload); err != nil {
		in.meters.ackFailed.Add(1)
		in.log.Warn("an acknowledgement was lost", "type", f.Type, "err", err)
		return
	}
	in.meters.acks.add(time.Since(f.at))
}

// hear takes note of what happens in the workspace.
func (in *intake) hear(n news) error {
	switch n.Type {
	case "channel_shared", "channel_unshared", "member_joined_channel":
		in.directory.forgetRoom(n.Channel)
		in.outbox.reopen(state.Room(n.Channel))
	case "channel_id_changed":
		return in.moved(n)
	case "app_uninstalled", "tokens_revoked":
		in.health.removed("the Slack app was removed from the workspace (" + n.Type + "); install it again, and give the bot its new token")
		in.log.Error("the Slack app was removed from the workspace; install it again, and give the bot its new token", "event", n.Type)
	}
	return nil
}

// moved follows a channel to its new id, which it gets when sharing begins or
// ends, https://docs.slack.dev/reference/events/channel_id_changed.
func (in *intake) moved(n news) error {
	if len(n.Old) > maxID || len(n.New) > maxID {
		return nil // no ids of Slack's
	}
	in.directory.forgetRoom(n.Old)
	records, err := in.db.MoveRoom(state.Room(n.Old), state.Room(n.New))
	if err != nil {
		return err
	}
	in.log.Warn("Slack gave a channel a new id", "old", n.Old, "new", n.New, "records", records)
	in.directory.forgetRoom(n.New)
	in.outbox.reopen(state.Room(n.New))
	return nil
}
