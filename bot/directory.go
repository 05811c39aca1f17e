package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands"
)

// lookupLife is how old an answer about a person or channel may be: a guest
// or a leaver must not keep a right for longer.
const lookupLife = time.Minute

// Directory looks people and channels up in Slack, at most once a minute
// each. An error means that nothing is known and the right is to be denied.
// It is safe for concurrent use.
type Directory struct {
	slack   *Slack
	gates   *gates
	queues  queues
	members shelf[commands.Member]
	rooms   shelf[commands.RoomInfo]
}

// NewDirectory makes a directory; now is the clock, time.Now if nil.
func NewDirectory(s *Slack, now func() time.Time) *Directory {
	if now == nil {
		now = time.Now
	}
	return &Directory{
		slack:   s,
		gates:   newGates(now, 1),
		members: shelf[commands.Member]{now: now, keep: func(commands.Member) bool { return true }, slots: map[string]*slot[commands.Member]{}},
		rooms:   shelf[commands.RoomInfo]{now: now, keep: open, slots: map[string]*slot[commands.RoomInfo]{}},
	}
}

// Member finds a person. team is the one that the payload named, empty if it
// named none; somebody whom Slack knows under another team is a stranger.
func (d *Directory) Member(ctx context.Context, user, team string) (commands.Member, error) {
	m, err := d.members.get(ctx, user, d.member)
	if err == nil && team != "" && m.Team != team {
		m.Stranger = true
	}
	return m, err
}

func (d *Directory) member(ctx context.Context, user string) (commands.Member, error) {
	var u *slack.User
	err := d.ask(ctx, "users.info", func(api *slack.Client) (err error) {
		u, err = api.GetUserInfoContext(ctx, user)
		return err
	})
	if err != nil {
		return commands.Member{}, fmt.Errorf("look up user %s: %w", user, troubleOf(err).Err)
	}
	if u.ID != user || u.TeamID == "" {
		return commands.Member{}, fmt.Errorf("look up user %s: slack's answer is about somebody else, or nobody", user)
	}
	m := commands.Member{
		ID: u.ID, Team: u.TeamID, Name: firstOf(u.Profile.DisplayName, u.RealName, u.Name),
		Guest: u.IsRestricted || u.IsUltraRestricted, Stranger: u.IsStranger, Deleted: u.Deleted,
		Bot: u.IsBot || u.IsWorkflowBot || u.IsConnectorBot || u.ID == "USLACKBOT",
	}
	if u.IsEmailConfirmed {
		m.Email = u.Profile.Email
	}
	return m, nil
}

// Room finds a channel.
func (d *Directory) Room(ctx context.Context, id string) (commands.RoomInfo, error) {
	return d.rooms.get(ctx, id, d.room)
}

func (d *Directory) room(ctx context.Context, id string) (commands.RoomInfo, error) {
	var c *slack.Channel
	err := d.ask(ctx, "conversations.info", func(api *slack.Client) (err error) {
		c, err = api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
		return err
	})
	if err != nil && troubleOf(err).Code == "channel_not_found" {
		// Private channels that the bot is not in do not exist for it. It can
		// post nothing there, so nothing can be said to the wrong people.
		return commands.RoomInfo{}, nil
	}
	if err != nil {
		return commands.RoomInfo{}, fmt.Errorf("look up channel %s: %w", id, err)
	}
	if c.ID == "" {
		return commands.RoomInfo{}, fmt.Errorf("look up channel %s: %w", id, errEmpty)
	}
	return commands.RoomInfo{
		Name: c.Name, Archived: c.IsArchived, IsMember: c.IsMember || c.IsIM,
		ExtShared: c.IsExtShared || c.IsPendingExtShared,
	}, nil
}

// A look-up is made so often while Slack is unwell, and waits so long while
// Slack wants a method left alone: whoever asks waits for it.
const (
	lookTries    = 3
	lookPatience = 3 * time.Second
)

// ask makes one look-up.
func (d *Directory) ask(ctx context.Context, method string, look func(*slack.Client) error) error {
	api, err := d.slack.use()
	if err != nil {
		return err
	}
	var leave func()
	defer func() {
		if leave != nil {
			leave()
		}
	}()
	for try := 1; ; try++ {
		if leave == nil && (d.gates.closed(method) > 0 || d.queues.forming(method)) {
			if leave, err = d.queues.join(ctx, method); err != nil {
				return err
			}
		}
		began := d.gates.now()
		if wait := d.gates.closed(method); wait > lookPatience {
			return &slack.RateLimitedError{RetryAfter: wait}
		} else if err := sleep(ctx, max(wait, 0)); err != nil {
			return err
		}
		if err = look(api); err == nil {
			d.gates.opened(method, began)
			return nil
		}
		t := troubleOf(err)
		if t.Remedy != later {
			return err
		}
		d.gates.close(method, t)
		if try == lookTries {
			return err
		}
	}
}

// open tells whether the bot can work in a channel. Where it can't, it is looked
// up every time: somebody is just inviting the bot.
func open(r commands.RoomInfo) bool { return r.IsMember && !r.Archived && !r.ExtShared }

func (d *Directory) forgetRoom(id string) { d.rooms.forget(id) }

// shelf keeps answers for a minute. Those who ask for the same thing at the
// same time share one call.
type shelf[V any] struct {
	now func() time.Time
	// keep says which answers are worth keeping.
	keep func(V) bool

	mu    sync.Mutex // guards slots
	slots map[string]*slot[V]
}

type slot[V any] struct {
	mu    sync.Mutex // held during the call
	value V
	at    time.Time
}

func (s *shelf[V]) get(ctx context.Context, key string, look func(context.Context, string) (V, error)) (V, error) {
	if key == "" {
		var none V
		return none, errors.New("look up nobody or no channel")
	}
	at := s.slot(key)
	at.mu.Lock()
	defer at.mu.Unlock()
	if !at.at.IsZero() && s.now().Sub(at.at) < lookupLife {
		return at.value, nil
	}
	v, err := look(ctx, key)
	if err == nil && s.keep(v) {
		at.value, at.at = v, s.now()
	}
	return v, err
}

// maxSlots bounds the memory; a full shelf is cleared.
const maxSlots = 10_000

func (s *shelf[V]) slot(key string) *slot[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) >= maxSlots {
		clear(s.slots)
	}
	at := s.slots[key]
	if at == nil {
		at = &slot[V]{}
		s.slots[key] = at
	}
	return at
}

func (s *shelf[V]) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.slots, key)
}
