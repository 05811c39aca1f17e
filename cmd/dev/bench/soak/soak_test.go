package soak

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain plays the bot's process when a soak starts this program as one.
func TestMain(m *testing.M) {
	if setting := os.Getenv(SettingName); setting != "" {
		if err := Bot(context.Background(), setting, os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestSoak is a short soak, with the bot left alone and with the bot killed:
// nothing that Slack took for acknowledged is lost, and nothing comes twice.
func TestSoak(t *testing.T) {
	for name, kills := range map[string]int{"left alone": 0, "killed": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), Config{
				Root: "../../../..", Envelopes: 1000, People: 60, Channels: 12, Kills: kills,
				Think: 1500 * time.Millisecond, Seed: 1, Command: []string{self}, Folder: t.TempDir(),
			})
			var print strings.Builder
			if err == nil {
				err = r.Print(&print)
			}
			t.Log(print.String())
			switch {
			case err != nil:
				t.Fatal(err)
			case !r.Clean():
				t.Error("something was lost, doubled or found")
			case r.Kills != kills || r.Envelopes < 1000:
				t.Errorf("%d kills and %d envelopes", r.Kills, r.Envelopes)
			case r.Adopted == 0 || r.LostOnTheWay == 0 || r.Bot.Repeated == 0 || r.Bot.Limited == 0:
				t.Error("nothing was put to the test: no decision was carried out, or Slack never failed")
			}
		})
	}
}
