package bot

import (
	"context"
	"errors"
	"net/url"

	"github.com/slack-go/slack"

	"reconcilebot/state"
)

// link notes the address of a card, for the pull request and the ticket to
// lead to. One that Slack does not tell now is asked for at the next edit;
// nothing waits for it.
// https://docs.slack.dev/reference/methods/chat.getPermalink
func (o *outbox) link(ctx context.Context, t todo) {
	m, err := o.db.Message(cardKey(t.r.ID))
	if err != nil || m.TS == "" || m.URL != "" {
		return
	}
	address, err := o.post.permalink(ctx, m.Room, m.TS)
	if err == nil {
		err = o.db.Linked(cardKey(t.r.ID), m.TS, address)
	}
	if err != nil {
		o.log.Warn("the card's address is not known yet", "run", t.r.ID, "err", err)
	}
}

func (p *poster) permalink(ctx context.Context, room state.Room, ts string) (address string, err error) {
	err = p.call(ctx, "chat.getPermalink", func(api *slack.Client) error {
		address, err = api.GetPermalinkContext(ctx, &slack.PermalinkParameters{Channel: string(room), Ts: ts})
		return err
	})
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("chat.getPermalink answered with no web address")
	}
	return address, nil
}

// CardURL is where a reconciliation's card stands in Slack; "" while that is
// not known.
func CardURL(db *state.DB, id state.ReconciliationID) string {
	m, err := db.Message(cardKey(id))
	if err != nil {
		return ""
	}
	return m.URL
}
