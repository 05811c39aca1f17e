package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/state"
)

// Bounds of a search for a message that may have arrived.
const (
	findPages = 10
	findLimit = 100
	// clockSkew is how far Slack's clock and ours may differ.
	clockSkew = 5 * time.Minute
)

// find looks for a message that was tried before; an empty ts means that it
// did not arrive. Without the right to read the channel nothing can be found,
// and the message is posted again: twice is better than never.
func (p *poster) find(ctx context.Context, m post, tried time.Time) (ts string, err error) {
	if p.me.Load() == nil {
		return "", errNobody
	}
	oldest := fmt.Sprintf("%d.000000", tried.Add(-clockSkew).Unix())
	cursor := ""
	for range findPages {
		var page []slack.Message
		if page, cursor, err = p.page(ctx, m, oldest, cursor); err != nil {
			break
		}
		for _, msg := range page {
			if p.wrote(msg, m) {
				p.log.Info("a message had arrived before", "key", m.key)
				return msg.Timestamp, nil
			}
		}
		if cursor == "" {
			return "", nil
		}
	}
	if err != nil && troubleOf(err).Remedy == setup {
		p.log.Error("a message that may have arrived can't be looked for, and is posted again", "key", m.key, "err", troubleOf(err).Err)
		return "", nil
	}
	if err != nil && troubleOf(err).Remedy == replace { // the thread is gone
		return "", nil
	}
	return "", err
}

// errNobody means that Slack has not said yet who the bot is: it would not
// know its own message when it saw it.
var errNobody = errors.New("a message that may have arrived can't be looked for before Slack has let the bot in")

// page reads one page of the channel, or of the thread.
func (p *poster) page(ctx context.Context, m post, oldest, cursor string) (page []slack.Message, next string, err error) {
	if m.thread != "" {
		err = p.call(ctx, "conversations.replies", func(api *slack.Client) error {
			var err error
			page, _, next, err = api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: string(m.room), Timestamp: m.thread, Cursor: cursor, Oldest: oldest, Limit: findLimit, IncludeAllMetadata: true,
			})
			return err
		})
		return page, next, err
	}
	err = p.call(ctx, "conversations.history", func(api *slack.Client) error {
		got, err := api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: string(m.room), Cursor: cursor, Oldest: oldest, Limit: findLimit, IncludeAllMetadata: true,
		})
		if err == nil {
			page, next = got.Messages, got.ResponseMetaData.NextCursor
		}
		return err
	})
	return page, next, err
}

// wrote tells whether a message is ours and is this one. Anybody can write
// such metadata, so the author counts too.
func (p *poster) wrote(msg slack.Message, m post) bool {
	me := p.me.Load()
	if me == nil || msg.User != me.User && (msg.BotID == "" || msg.BotID != me.Bot) {
		return false
	}
	payload := msg.Metadata.EventPayload
	after, _ := payload["after"].(string)
	return msg.Metadata.EventType == eventType && payload["key"] == string(m.key) && after == m.after
}

// cardKey names a reconciliation's card, noticeKey a message in its thread.
func cardKey(id state.ReconciliationID) state.MessageKey { return state.MessageKey("card/" + id) }

func noticeKey(n state.Notice) state.MessageKey {
	return state.MessageKey("notice/" + string(n.Reconciliation) + "/" + string(n.ID))
}

// replacedKey names where the card before the present one stood.
func replacedKey(id state.ReconciliationID) state.MessageKey {
	return state.MessageKey("replaced/" + id)
}
