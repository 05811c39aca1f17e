package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands"
	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// A modal can be opened until three seconds after a click, by Slack's clock.
// What the click took to come here and the call takes to get there is left of
// it, and no call is begun that will hardly arrive.
const (
	triggerLife = 2500 * time.Millisecond
	openBefore  = 2 * time.Second
)

// giveWithin bounds the calls that bring one answer to a person.
const giveWithin = 45 * time.Second

// perhapsOpenText is for when Slack's answer did not arrive.
const perhapsOpenText = "Slack did not say whether it opened the form. If you don't see it, nothing was done: press the button again."

const tooLateText = "That took too long for Slack to open the form. Nothing was done: press the button again."

// answers gives people their answers. It is safe for concurrent use.
type answers struct {
	slack *Slack
	post  *poster
	hooks *hooks
	// turn waits for a turn to post in a channel; landed ends it.
	turn func(context.Context, state.Room) (landed func(), err error)
	log  *slog.Logger
	now  func() time.Time
}

// give sends all parts of a reply. The modal is first: it can't wait.
func (a *answers) give(ctx context.Context, q *question, r commands.Reply) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.post.meters.panics.Add(1)
			err = &drawError{p}
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, giveWithin, fmt.Errorf("giving an answer took longer than %s", giveWithin))
	defer cancel()
	var all []error
	if r.Modal != nil {
		all = append(all, a.open(ctx, q, *r.Modal))
	}
	if r.Ephemeral != nil {
		all = append(all, a.whisper(ctx, q, *r.Ephemeral))
	}
	if r.Public != nil {
		all = append(all, a.public(ctx, q, *r.Public))
	}
	if r.File != nil {
		all = append(all, a.upload(ctx, q, *r.File))
	}
	return errors.Join(all...)
}

// open opens a modal, or says that it is too late for it.
func (a *answers) open(ctx context.Context, q *question, m slack.ModalViewRequest) error {
	if q.d.Tries > 1 { // the process ended while this was under way
		return a.whisper(ctx, q, card.Message{Text: perhapsOpenText})
	}
	if q.act.Trigger == "" || a.now().Sub(q.d.Received) > openBefore {
		return a.whisper(ctx, q, card.Message{Text: tooLateText})
	}
	api, err := a.slack.use()
	if err != nil {
		return err
	}
	if m.Blocks.BlockSet, err = a.post.cleanBlocks(m.Blocks.BlockSet); err != nil {
		return fmt.Errorf("check a modal for secrets: %w", err)
	}
	if v := q.act.View; v != nil && q.act.Kind == commands.Click {
		return a.turnPage(ctx, m, v)
	}
	m.ExternalID = externalID(q.d.Mint, q.act)
	asking := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, triggerLife-a.now().Sub(q.d.Received), errors.New("the trigger of the click ran out"))
	defer cancel()
	_, err = api.OpenViewContext(ctx, q.act.Trigger, m)
	if err == nil {
		return nil
	}
	t := troubleOf(err)
	if t.Code == "duplicate_external_id" {
		return nil // opened before a restart
	}
	a.log.Warn("a modal was not opened", "user", q.act.User, "err", t.Err)
	if t.Unsure {
		return a.whisper(asking, q, card.Message{Text: perhapsOpenText})
	}
	return a.whisper(asking, q, card.Message{Text: tooLateText})
}

// say sends plain words to the person alone.
func (a *answers) say(ctx context.Context, q *question, words string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, giveWithin, fmt.Errorf("giving an answer took longer than %s", giveWithin))
	defer cancel()
	return a.whisper(ctx, q, card.Message{Text: escape(words)})
}

// whisper sends to the person alone: by the response URL, which works in every
// channel, otherwise as an ephemeral message.
func (a *answers) whisper(ctx context.Context, q *question, m card.Message) error {
	m = a.post.clean(m)
	if q.act.Answer != "" {
		err := a.hooks.send(ctx, q, hookBody{Text: m.Text, Blocks: m.Blocks, Thread: q.act.Thread})
		if err == nil {
			return nil
		}
		a.log.Warn("a response URL did not work", "user", q.act.User, "err", err)
	}
	if q.act.Room == "" {
		return fmt.Errorf("answer %s: %w", q.act.User, errNowhere)
	}
	return a.post.ephemeral(ctx, q.act.Room, q.act.User, q.act.Thread, m)
}

// errNowhere means that nothing says where to answer somebody.
var errNowhere = errors.New("there is neither a response URL nor a channel")

// public posts where the request came from, once, however often it is handled.
func (a *answers) public(ctx context.Context, q *question, m card.Message) error {
	key := state.MessageKey("reply/" + q.d.Mint)
	thread := q.act.Thread
	if thread == "" && q.act.Kind == commands.Mention {
		thread = q.act.Message
	}
	_, err := a.post.once(ctx, post{key: key, room: state.Room(q.act.Room), thread: thread, message: m, turn: a.turn})
	if err == nil {
		return nil
	}
	if t := troubleOf(err); t.Remedy == closedRoom {
		return a.whisper(ctx, q, card.Message{Text: escape(roomAdvice(t.Code))})
	}
	return err
}

// roomAdvice says what to do about a channel that can't be posted to.
func roomAdvice(code string) string {
	switch code {
	case "not_in_channel", "channel_not_found":
		return "I'm not in this channel, so I can't post here. Invite me with /invite and my name: what is waiting appears then."
	case "is_archived", "is_inactive":
		return "This channel is archived, so I can't post here. Unarchive it, or bind the incident to another channel."
	case codeShared:
		return "This channel is shared with another organisation, so nothing about the cluster is posted here. Use a channel of your own."
	}
	return "I'm not allowed to post in this channel (" + code + "). Ask its owner, or use another channel."
}
