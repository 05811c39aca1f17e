package bot

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// identity is who the bot is in its workspace. App is the app that its bot
// token is of; empty if Slack does not say.
type identity struct{ Team, User, Bot, App string }

// introduce asks Slack who the bot is until Slack says so or ctx ends.
func (b *Bot) introduce(ctx context.Context) (identity, error) {
	pause := backoff{Least: time.Second, Most: time.Minute}
	for {
		me, err := b.whoami(ctx)
		if err == nil {
			return me, nil
		}
		t := troubleOf(err)
		b.health.trouble(t.Err.Error())
		wait := pause.next()
		if t.Remedy != later {
			b.log.Error("Slack does not let the bot in", "err", t.Err)
			wait = max(wait, setupPause)
		} else {
			b.log.Warn("Slack does not answer", "err", t.Err)
		}
		if err := sleep(ctx, max(wait, t.After)); err != nil {
			return identity{}, err
		}
	}
}

func (b *Bot) whoami(ctx context.Context) (identity, error) {
	api, err := b.cfg.Slack.use()
	if err != nil {
		return identity{}, err
	}
	got, err := api.AuthTestContext(ctx)
	if err != nil {
		return identity{}, err
	}
	switch {
	case got.TeamID == "" || got.UserID == "":
		return identity{}, fmt.Errorf("slack's auth.test answered without a team or user id")
	case strings.HasPrefix(got.TeamID, "E"):
		return identity{}, &setupError{Say: "the Slack app is installed for a whole organisation; install it in one workspace"}
	case b.cfg.Team != "" && b.cfg.Team != got.TeamID:
		return identity{}, &setupError{Say: fmt.Sprintf("the Slack token is for workspace %s, the configuration names %s; correct one of them", got.TeamID, b.cfg.Team)}
	}
	b.scopes(got.Header)
	me := identity{Team: got.TeamID, User: got.UserID, Bot: got.BotID}
	// Without the right to ask it is only not noticed when the two tokens are
	// of different apps.
	if bot, err := api.GetBotInfoContext(ctx, slack.GetBotInfoParameters{Bot: got.BotID}); err == nil {
		me.App = bot.AppID
	}
	b.log.Info("Slack knows the bot", "team", got.TeamID, "user", got.UserID)
	return me, nil
}

// scopes reports which of the manifest's scopes the token lacks. They are
// needed when they are needed: what can be done without them is done.
func (b *Bot) scopes(answer http.Header) {
	have := strings.FieldsFunc(answer.Get("X-OAuth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' })
	if len(have) == 0 {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(b.cfg.Scopes), func(s string) bool { return slices.Contains(have, s) })
	if len(missing) > 0 {
		b.log.Error("the Slack app lacks scopes that its manifest asks for; install it again", "missing", strings.Join(missing, ","))
	}
}
