package slacksim

import (
	"fmt"
	"strings"
)

// Seed is the workspace as it is at the start.
type Seed struct {
	Team     Team
	App      App
	Users    []User
	Channels []Channel
	Groups   []Group
	// Manifest is the app's own YAML manifest. Scopes, slash commands,
	// shortcuts and event subscriptions are enforced from it, so a test that
	// passes here also shows that the manifest is complete. Without one,
	// nothing of this is enforced.
	Manifest []byte
}

// Team is the workspace the app is installed in.
type Team struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Domain       string `json:"domain"`
	EnterpriseID string `json:"enterprise_id,omitempty"`
}

// App holds the app's identities. Empty fields get fixed defaults.
type App struct {
	ID     string `json:"id"`      // A…
	BotID  string `json:"bot_id"`  // B…, the sender of messages
	UserID string `json:"user_id"` // U…, the member that channels list
	Name   string `json:"name"`    // shown as the sender
}

// User is a person, or another bot, as the workspace sees them.
type User struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // the handle, without @
	RealName string `json:"real_name"`
	Email    string `json:"email,omitempty"`
	// TeamID differs from the workspace's for members of other organisations.
	TeamID string `json:"team_id"`
	// Role is shown on the page beside the name ("on-call"). Slack has no
	// such field and the app does not see it.
	Role        string `json:"role,omitempty"`
	Admin       bool   `json:"is_admin,omitempty"`
	Bot         bool   `json:"is_bot,omitempty"`
	Guest       bool   `json:"is_restricted,omitempty"`
	SingleGuest bool   `json:"is_ultra_restricted,omitempty"`
	Deleted     bool   `json:"deleted,omitempty"`
	Stranger    bool   `json:"is_stranger,omitempty"`
}

// Channel is a conversation. IDs start with C for channels, G or C for private
// ones, D for direct messages.
type Channel struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"` // without #
	Topic            string   `json:"topic,omitempty"`
	Private          bool     `json:"is_private,omitempty"`
	Archived         bool     `json:"is_archived,omitempty"`
	ReadOnly         bool     `json:"is_read_only,omitempty"`
	ExtShared        bool     `json:"is_ext_shared,omitempty"`
	PendingExtShared bool     `json:"is_pending_ext_shared,omitempty"`
	OrgShared        bool     `json:"is_org_shared,omitempty"`
	IM               bool     `json:"is_im,omitempty"`
	MPIM             bool     `json:"is_mpim,omitempty"`
	Members          []string `json:"members"` // user IDs, the bot's own included when it is a member
}

// Group is a user group, mentioned as @handle.
type Group struct {
	ID       string   `json:"id"`
	Handle   string   `json:"handle"`
	Name     string   `json:"name"`
	Members  []string `json:"users"`
	Disabled bool     `json:"disabled,omitempty"`
}

func (s *Seed) fill() {
	def := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	def(&s.Team.ID, "T0HOME")
	def(&s.Team.Name, "Acme")
	def(&s.Team.Domain, "acme")
	def(&s.App.ID, "A0APP")
	def(&s.App.BotID, "B0APP")
	def(&s.App.UserID, "U0APP")
	for i := range s.Users {
		def(&s.Users[i].TeamID, s.Team.ID)
		def(&s.Users[i].RealName, s.Users[i].Name)
	}
}

// check refuses a seed in which an ID is missing, doubled or of the wrong
// kind: an app that treats "general" as a channel ID would pass here and fail
// on Slack.
func (s *Seed) check() error {
	seen := map[string]bool{s.App.UserID: true}
	add := func(kind, id, prefixes string) error {
		if id == "" || !strings.ContainsRune(prefixes, rune(id[0])) || strings.ToUpper(id) != id {
			return fmt.Errorf("seed: %s id %q: want upper case and a first letter of %q", kind, id, prefixes)
		}
		if seen[id] {
			return fmt.Errorf("seed: %s id %s is used twice", kind, id)
		}
		seen[id] = true
		return nil
	}
	for _, u := range s.Users {
		if err := add("user", u.ID, "UW"); err != nil {
			return err
		}
	}
	for _, c := range s.Channels {
		if err := add("channel", c.ID, "CDG"); err != nil {
			return err
		}
		if err := members("channel "+c.ID, c.Members, seen); err != nil {
			return err
		}
	}
	for _, g := range s.Groups {
		if err := add("group", g.ID, "S"); err != nil {
			return err
		}
		if err := members("group "+g.ID, g.Members, seen); err != nil {
			return err
		}
	}
	return nil
}

func members(of string, ids []string, known map[string]bool) error {
	for _, id := range ids {
		if !known[id] {
			return fmt.Errorf("seed: %s lists %s, who is not a user", of, id)
		}
	}
	return nil
}
