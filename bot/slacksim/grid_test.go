package slacksim

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

// TestHowCommandsTellWhoInstalledTheApp: slack-go reads each of the forms.
func TestHowCommandsTellWhoInstalledTheApp(t *testing.T) {
	for form, want := range map[string]any{"": "true", "bool": true, "null": nil, "absent": nil} {
		t.Run("as "+form, func(t *testing.T) {
			seed := testSeed()
			seed.Team.EnterpriseID = "E0ORG"
			w := startSeed(t, seed, Options{OrgInstall: true, CommandInstallForm: form})
			read := make(chan slack.SlashCommand, 1)
			w.run(t, func(app *socketmode.Client, e socketmode.Event) {
				if command, ok := e.Data.(slack.SlashCommand); ok {
					read <- command
				}
				acking(app, e)
			})
			if _, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help"); err != nil {
				t.Fatal(err)
			}
			if got := <-read; got.EnterpriseID != "E0ORG" || got.UserID != "U0ALICE" {
				t.Errorf("slack-go read %+v", got)
			}
			if got := decode(w.Envelopes()[0].Payload)["is_enterprise_install"]; got != want {
				t.Errorf("sent %v, want %v", got, want)
			}
		})
	}
}

// TestAnAppOfAWholeOrganisation has no team in what people do.
func TestAnAppOfAWholeOrganisation(t *testing.T) {
	seed := testSeed()
	seed.Team.EnterpriseID = "E0ORG"
	w := startSeed(t, seed, Options{OrgInstall: true})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	if _, err := w.As("alice").In("C0INC").Click(t.Context(), ts, "go"); err != nil {
		t.Fatal(err)
	}
	sent := decode(w.Envelopes()[0].Payload)
	enterprise, _ := sent["enterprise"].(obj)
	user, _ := sent["user"].(obj)
	if team, there := sent["team"]; !there || team != nil || sent["is_enterprise_install"] != true || enterprise["id"] != "E0ORG" || user["team_id"] != "T0HOME" {
		t.Errorf("sent %v", sent)
	}
}

// TestAReplyForTheWholeChannel is seen in the thread and outside.
func TestAReplyForTheWholeChannel(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	parent := w.post(t, "C0INC", "card")
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "for all", "thread_ts": parent, "reply_broadcast": "true"})
	outside, inside := w.Messages("C0INC"), w.Thread("C0INC", parent)
	if len(outside) != 2 || len(inside) != 2 || outside[1].Subtype != "thread_broadcast" {
		t.Errorf("outside %+v, inside %+v", outside, inside)
	}
}

func TestWarningsAboutCharsets(t *testing.T) {
	w := start(t, Options{})
	for kind, want := range map[string]any{
		"application/json": "missing_charset", "application/json; charset=utf-8": nil,
		"application/x-www-form-urlencoded; charset=utf-8": "superfluous_charset", "application/x-www-form-urlencoded": nil,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/api/auth.test", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer "+w.BotToken())
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := decode([]byte(body(t, answer)))["warning"]; got != want {
			t.Errorf("%s: warned of %v, want %v", kind, got, want)
		}
	}
}
