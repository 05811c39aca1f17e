package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reconcilebot/bot/slacksim"
)

// team is the workspace's id.
const team = "T0HOME"

// Tokens of the local Slack. They must not turn up in anything that the bot
// sends or logs.
const (
	botToken = "xoxb-soak-canary-1"
	appToken = "xapp-soak-canary-2"
)

// perChannel is how many people are in each channel.
const perChannel = 30

// Some people have no rights: every guestEvery-th is a guest, every
// outsideEvery-th belongs to another organisation.
const (
	guestEvery   = 20
	outsideEvery = 33
)

func personID(i int) string    { return fmt.Sprintf("U1%04d", i) }
func personName(i int) string  { return fmt.Sprintf("person-%04d", i) }
func channelID(i int) string   { return fmt.Sprintf("C1%04d", i) }
func channelName(i int) string { return fmt.Sprintf("inc-%04d", i) }

func isGuest(i int) bool   { return i%guestEvery == guestEvery-1 }
func isOutside(i int) bool { return i%outsideEvery == outsideEvery-1 }
func mayDecide(i int) bool { return !isGuest(i) && !isOutside(i) }

// inChannel lists the numbers of the people in a channel.
func inChannel(channel, channels, people int) (list []int) {
	for k := range min(perChannel, people) {
		list = append(list, (channel*people/channels+k)%people)
	}
	return list
}

// workspace makes the local Slack with the app's own manifest.
func workspace(c Config) (*slacksim.Sim, error) {
	manifest, err := os.ReadFile(filepath.Join(c.Root, "deploy/slack/manifest.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read the app's manifest: %w", err)
	}
	seed := slacksim.Seed{Team: slacksim.Team{ID: team}, Manifest: manifest}
	for i := range c.People {
		u := slacksim.User{ID: personID(i), Name: personName(i), Guest: isGuest(i)}
		if isOutside(i) {
			u.TeamID, u.Guest = "T0EXT", false
		}
		seed.Users = append(seed.Users, u)
	}
	for i := range c.Channels {
		members := []string{"U0APP"}
		for _, p := range inChannel(i, c.Channels, c.People) {
			members = append(members, personID(p))
		}
		seed.Channels = append(seed.Channels, slacksim.Channel{ID: channelID(i), Name: channelName(i), Members: members})
	}
	return slacksim.New(seed, slacksim.Options{
		Clock: fastClock{time.Now()}, Seed: int64(c.Seed), BotToken: botToken, AppToken: appToken, Canaries: []string{botToken, appToken},
		AckWindow: 3 * time.Second * Hurry, TriggerLife: 3 * time.Second * Hurry, PingEvery: 10 * time.Second * Hurry,
	})
}
