package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// eventType marks the bot's messages in their metadata, by which they are
// found again; written to Slack, never renamed.
const eventType = "reconcilebot"

// maxMessageText is what chat.update takes as text, in bytes, with some room.
const maxMessageText = 3_800

// poster posts and edits messages. It is safe for concurrent use.
type poster struct {
	slack  *Slack
	rooms  *Directory
	db     *state.DB
	log    *slog.Logger
	now    func() time.Time
	redact func(string) string
	gates  *gates
	meters *meters
	me     atomic.Pointer[identity]
}

// post is a message that must not appear twice.
type post struct {
	key     state.MessageKey
	room    state.Room
	thread  string
	message card.Message
	// after is the ts of the message that this one replaces, if any.
	after string
	// turn waits for a turn to post in the channel; nil for what has it.
	turn func(context.Context, state.Room) (landed func(), err error)
	// stand remembers where it stands; nil leaves that to once.
	stand func(standing) error
}

// standing is a message that stands.
type standing struct {
	ts string
	// found means that it was not posted now.
	found bool
	// loose means that it was meant for a thread and stands in the channel.
	loose bool
}

// once posts a message unless it stands already, and remembers where. Before
// sending it notes that it tries; where a try may have arrived without our
// knowing, the channel is looked through first.
func (p *poster) once(ctx context.Context, m post) (s standing, err error) {
	if err := p.ours(ctx, m.room); err != nil {
		return s, err
	}
	was, err := p.db.Message(m.key)
	switch {
	case err != nil && !errors.Is(err, state.ErrNotFound):
		return s, err
	case was.TS != "":
		s = standing{ts: was.TS, found: true}
	case !was.Tried.IsZero():
		if s.ts, err = p.find(ctx, m, was.Tried); err != nil {
			return s, err
		}
		s.found = s.ts != ""
	}
	if !s.found {
		if m.turn != nil {
			landed, err := m.turn(ctx, m.room)
			if err != nil {
				return s, err
			}
			defer landed()
		}
		if err := p.db.SaveMessage(m.key, state.Message{Room: m.room, Tried: p.now()}); err != nil {
			return s, err
		}
		if s, err = p.send(ctx, m); err != nil {
			return s, p.settle(m, err)
		}
	}
	if m.stand != nil {
		return s, m.stand(s)
	}
	return s, p.db.SaveMessage(m.key, state.Message{Room: m.room, TS: s.ts})
}

// errShared means that another organisation would read along.
var errShared = errors.New("the channel is shared with another organisation")

// ours refuses a channel that another organisation sees: it may have become
// one since the reconciliation began.
func (p *poster) ours(ctx context.Context, room state.Room) error {
	info, err := p.rooms.Room(ctx, string(room))
	if err == nil && info.ExtShared {
		return errShared
	}
	return err
}

// settle takes the note of a try back when Slack has certainly not posted.
func (p *poster) settle(m post, err error) error {
	if troubleOf(err).Unsure {
		return err
	}
	return errors.Join(err, p.db.SaveMessage(m.key, state.Message{Room: m.room}))
}

// send posts, with the gate of the method closed while Slack wants a pause.
// Content that Slack refuses is sent as text alone: a plain answer is better
// than none.
func (p *poster) send(ctx context.Context, m post) (s standing, err error) {
	m.message = p.clean(m.message)
	s, err = p.sendAs(ctx, m)
	if err != nil && troubleOf(err).Remedy == unfit && len(m.message.Blocks) > 0 {
		p.log.Error("Slack refuses a message; it is sent as text alone", "key", m.key, "err", troubleOf(err).Err)
		m.message.Blocks = nil
		s, err = p.sendAs(ctx, m)
	}
	return s, err
}

func (p *poster) sendAs(ctx context.Context, m post) (s standing, err error) {
	err = p.call(ctx, "chat.postMessage", func(api *slack.Client) error {
		options := append(content(m.message), slack.MsgOptionMetadata(metadata(m)))
		if m.thread != "" {
			options = append(options, slack.MsgOptionTS(m.thread))
			if m.message.Aloud {
				options = append(options, slack.MsgOptionBroadcast())
			}
		}
		_, got, msg, err := api.PostMessageWithResponseContext(ctx, string(m.room), options...)
		if err == nil && got == "" {
			err = errEmpty
		}
		s = standing{ts: got, loose: m.thread != "" && msg.ThreadTimestamp == ""}
		return err
	})
	if err == nil {
		p.meters.posted.Add(1)
	}
	return s, err
}

// errEmpty is Slack's ok:false without a word why, which slack-go takes for
// success.
var errEmpty = errors.New("slack answered with neither a timestamp nor an error")

// edit changes a message that stands.
func (p *poster) edit(ctx context.Context, room state.Room, ts string, m card.Message) error {
	if err := p.ours(ctx, room); err != nil {
		return err
	}
	m = p.clean(m)
	p.gates.edited()
	err := p.change(ctx, room, ts, m)
	for _, smaller := range lesser(m) {
		// Old buttons invite people to decide what is decided: a plain text in
		// their place is better than the card from before.
		if err == nil || troubleOf(err).Remedy != unfit {
			break
		}
		p.log.Error("Slack refuses the update of a message; a smaller one is sent", "room", room, "err", troubleOf(err).Err)
		err = p.change(ctx, room, ts, smaller)
	}
	if err == nil {
		p.meters.edited.Add(1)
	}
	return err
}

// lesser are forms of a message that hold less and less of it: its text, and
// the beginning of that.
func lesser(m card.Message) []card.Message {
	return []card.Message{{Text: m.Text}, {Text: cut(m.Text, maxLesser)}}
}

// maxLesser is far below any limit of Slack's, in bytes.
const maxLesser = 1000

func (p *poster) change(ctx context.Context, room state.Room, ts string, m card.Message) error {
	return p.call(ctx, "chat.update", func(api *slack.Client) error {
		_, got, _, err := api.UpdateMessageContext(ctx, string(room), ts, content(m)...)
		if err == nil && got == "" {
			err = errEmpty
		}
		return err
	})
}

// ephemeral sends to one member of a channel.
func (p *poster) ephemeral(ctx context.Context, room, user, thread string, m card.Message) error {
	return p.call(ctx, "chat.postEphemeral", func(api *slack.Client) error {
		options := content(m)
		if thread != "" {
			options = append(options, slack.MsgOptionTS(thread))
		}
		got, err := api.PostEphemeralContext(ctx, room, user, options...)
		if err == nil && got == "" {
			err = errEmpty
		}
		return err
	})
}

// call makes one call of a method unless Slack asked to leave it alone.
func (p *poster) call(ctx context.Context, method string, do func(*slack.Client) error) error {
	if d := p.gates.closed(method); d > 0 {
		return &slack.RateLimitedError{RetryAfter: d}
	}
	api, err := p.slack.use()
	if err != nil {
		return err
	}
	began := p.gates.now()
	if err = do(api); err == nil {
		p.gates.opened(method, began)
		return nil
	}
	if t := troubleOf(err); t.Remedy == later {
		p.gates.close(method, t)
		if t.Code == "ratelimited" {
			p.meters.limited.Add(1)
		}
	}
	return fmt.Errorf("%s: %w", method, err)
}

// content is a message's words and blocks. Links are not expanded: that would
// fetch internal addresses.
func content(m card.Message) []slack.MsgOption {
	text := cut(m.Text, maxMessageText)
	if strings.TrimSpace(text) == "" {
		text = "reconcilebot"
	}
	options := []slack.MsgOption{
		slack.MsgOptionText(text, false), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	// Without blocks an empty list is sent, which removes those from before.
	return append(options, slack.MsgOptionBlocks(m.Blocks...))
}

func metadata(m post) slack.SlackMetadata {
	payload := map[string]any{"key": string(m.key)}
	if m.after != "" {
		payload["after"] = m.after
	}
	return slack.SlackMetadata{EventType: eventType, EventPayload: payload}
}

// escape makes plain words safe where Slack reads mrkdwn.
func escape(words string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(words)
}
