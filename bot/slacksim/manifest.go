package slacksim

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// manifest is what the simulator enforces from an app manifest.
// https://docs.slack.dev/reference/app-manifest
type manifest struct {
	Display struct {
		Name string `yaml:"name"`
	} `yaml:"display_information"`
	Features struct {
		Home struct {
			Tab      bool  `yaml:"home_tab_enabled"`
			Messages *bool `yaml:"messages_tab_enabled"`
			ReadOnly bool  `yaml:"messages_tab_read_only_enabled"`
		} `yaml:"app_home"`
		Bot struct {
			DisplayName string `yaml:"display_name"`
		} `yaml:"bot_user"`
		Commands  []slashCommand `yaml:"slash_commands"`
		Shortcuts []shortcut     `yaml:"shortcuts"`
	} `yaml:"features"`
	OAuth struct {
		Scopes struct {
			Bot []string `yaml:"bot"`
		} `yaml:"scopes"`
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			Enabled bool `yaml:"is_enabled"`
		} `yaml:"interactivity"`
		SocketMode bool `yaml:"socket_mode_enabled"`
	} `yaml:"settings"`

	open bool // no manifest given: nothing is enforced
}

type slashCommand struct {
	Command     string `yaml:"command" json:"command"`
	Description string `yaml:"description" json:"description"`
	UsageHint   string `yaml:"usage_hint" json:"usage_hint"`
	Escape      bool   `yaml:"should_escape" json:"should_escape"`
}

type shortcut struct {
	Name        string `yaml:"name" json:"name"`
	Type        string `yaml:"type" json:"type"` // message or global
	CallbackID  string `yaml:"callback_id" json:"callback_id"`
	Description string `yaml:"description" json:"description"`
}

func parseManifest(text []byte) (*manifest, error) {
	m := &manifest{open: len(text) == 0}
	if err := yaml.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("app manifest: %w", err)
	}
	if m.open {
		return m, nil
	}
	if err := checkKeys(text); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, m.checkScopes()
}

// check holds the limits of Slack's manifest schema that this app can run into.
func (m *manifest) check() error {
	if n := len(m.Display.Name); n == 0 || n > 35 {
		return fmt.Errorf("app manifest: display_information.name has %d characters, want 1 to 35", n)
	}
	if n := len(m.Features.Commands); n > maxCommands {
		return fmt.Errorf("app manifest: %d slash commands, at most %d are allowed", n, maxCommands)
	}
	if n := len(m.Features.Shortcuts); n > maxShortcuts {
		return fmt.Errorf("app manifest: %d shortcuts, at most %d are allowed", n, maxShortcuts)
	}
	for _, c := range m.Features.Commands {
		switch {
		case !strings.HasPrefix(c.Command, "/") || len(c.Command) > 32:
			return fmt.Errorf("app manifest: slash command %q: want a leading / and at most 32 characters", c.Command)
		case c.Description == "" || len(c.Description) > 2000 || len(c.UsageHint) > 1000:
			return fmt.Errorf("app manifest: slash command %s: want a description of 1 to 2000 characters and a usage_hint of at most 1000", c.Command)
		}
	}
	for _, s := range m.Features.Shortcuts {
		if s.Type != "message" && s.Type != "global" {
			return fmt.Errorf("app manifest: shortcut %q: want the type message or global, not %q", s.Name, s.Type)
		}
		if len(s.Name) > 24 || s.CallbackID == "" {
			return fmt.Errorf("app manifest: shortcut %q: want a name of at most 24 characters and a callback_id", s.Name)
		}
	}
	return nil
}

func (m *manifest) botName() string {
	if m.Features.Bot.DisplayName != "" {
		return m.Features.Bot.DisplayName
	}
	if m.Display.Name != "" {
		return m.Display.Name
	}
	return "app"
}

// command finds the registered command that text begins with.
func (m *manifest) command(name string) (slashCommand, bool) {
	for _, c := range m.Features.Commands {
		if c.Command == name {
			return c, true
		}
	}
	return slashCommand{Command: name, Escape: true}, m.open
}

func (m *manifest) subscribed(event string) bool {
	return !m.open && slices.Contains(m.Settings.Events.Bot, event) || m.open && event == "app_mention"
}

func (m *manifest) granted(scope string) bool {
	return m.open || slices.Contains(m.OAuth.Scopes.Bot, scope)
}

// scopes is the header and error form of what was granted.
func (m *manifest) scopes() string { return strings.Join(m.OAuth.Scopes.Bot, ",") }

func (m *manifest) home() bool { return m.open || m.Features.Home.Tab }

// messages tells whether the app has a tab for direct messages.
func (m *manifest) messages() bool {
	return m.open || m.Features.Home.Messages == nil || *m.Features.Home.Messages
}

func (m *manifest) interactive() bool { return m.open || m.Settings.Interactivity.Enabled }

func (m *manifest) socketMode() bool { return m.open || m.Settings.SocketMode }
