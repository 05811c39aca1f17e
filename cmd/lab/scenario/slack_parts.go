package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// planned is how the cases about a plan begin: it waits for an approval.
func (t *story) planned() {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
}

// approvedBy waits until the card says who approved, and has no buttons to
// vote with any more.
func (t *story) approvedBy(ctx context.Context, who string) error {
	_, err := t.see(ctx, "the card that says that "+who+" approved, with nothing left to vote on", func(m slacksim.Message) bool {
		_, vote := m.Button("Approve")
		return m.TS == t.card.TS && !vote && has(m, "pproved by "+who)
	})
	return err
}

// acked waits until an event of a kind has reached the bot.
func (t *story) acked(ctx context.Context, event string) error {
	return t.rig.Slack.Wait(ctx, "the bot to hear of "+event, func() bool {
		for _, e := range t.rig.Slack.Envelopes() {
			if e.Kind == "events_api" && strings.Contains(e.What, event) && e.Channel == t.world.ChannelID && e.State == "acked" {
				return true
			}
		}
		return false
	})
}

// heard counts what only one person sees and says all of these.
func (t *story) heard(person string, texts ...string) (n int) {
	for _, m := range t.rig.Slack.Ephemerals(person, t.world.ChannelID) {
		if has(m, texts...) {
			n++
		}
	}
	return n
}

// deletes removes a message, as an administrator or a retention rule does.
func (t *story) deletes(ctx context.Context, ts string) error {
	form := url.Values{"channel": {t.world.ChannelID}, "ts": {ts}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.rig.Page+"/api/chat.delete", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+t.rig.Slack.BotToken())
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("delete message %s: %w", ts, err)
	}
	defer answer.Body.Close()
	for _, m := range t.rig.Slack.Messages(t.world.ChannelID) {
		if m.TS == ts && m.BotID != "" && len(m.Blocks) > 0 {
			return fmt.Errorf("delete message %s: it is still there", ts)
		}
	}
	return nil
}

// onePull checks that the plan was carried out once.
func (t *story) onePull(context.Context) error {
	if n := len(t.rig.Git.Pulls(t.world)); n != 1 {
		return fmt.Errorf("%d pull requests were opened, want one", n)
	}
	return nil
}

// atOnce does things at the same time and returns what went wrong.
func atOnce(acts ...func() error) error {
	went := make(chan error, len(acts))
	begin := make(chan struct{})
	for _, act := range acts {
		go func() { // ends with act, which is waited for below
			<-begin
			went <- act()
		}()
	}
	close(begin)
	var all error
	for range acts {
		all = errors.Join(all, <-went)
	}
	return all
}

// carriedOut is the rest of an adoption, from the approval on.
func (t *story) carriedOut() {
	t.proposed()
	t.reviewed()
	t.adopted()
}

// stranger brings somebody of another organisation into the channel.
func (t *story) stranger(name string) error {
	id := "U0" + strings.ToUpper(name)
	if err := t.rig.Slack.AddUser(slacksim.User{ID: id, Name: name, RealName: name, TeamID: "T0OTHER", Stranger: true, Role: "of another organisation"}); err != nil {
		return err
	}
	return t.as(world.OnCall).Invite(name)
}
