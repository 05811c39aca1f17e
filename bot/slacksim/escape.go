package slacksim

import "strings"

// escape does what should_escape asks for: names of people, channels and
// groups become ids with the name beside them, and &, < and > become entities.
// https://docs.slack.dev/interactivity/implementing-slash-commands
func (s *Sim) escape(text string) string { return s.eachWord(text, s.escapeWord) }

// written is how a message that a person typed is kept: as escape has it, but
// with mentions of people and groups by id alone.
func (s *Sim) written(text string) string {
	return s.eachWord(text, func(w string) string {
		w = s.escapeWord(w)
		id, _, named := strings.Cut(w, "|")
		if named && (strings.HasPrefix(w, "<@") || strings.HasPrefix(w, "<!subteam^")) {
			return id + ">"
		}
		return w
	})
}

func (s *Sim) eachWord(text string, change func(string) string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Split(line, " ")
		for j, w := range words {
			bare := strings.TrimRight(w, ".,:;!?")
			words[j] = change(bare) + w[len(bare):]
		}
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

func (s *Sim) escapeWord(w string) string {
	if name, ok := strings.CutPrefix(w, "@"); ok && name != "" {
		if m := s.mention(name); m != "" {
			return m
		}
	}
	if name, ok := strings.CutPrefix(w, "#"); ok && name != "" {
		if c := s.named(name); c != nil {
			return "<#" + c.ID + "|" + c.Name + ">"
		}
	}
	entities := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	switch {
	case strings.HasPrefix(w, "http://"), strings.HasPrefix(w, "https://"):
		return "<" + entities.Replace(w) + ">"
	case strings.HasPrefix(w, "<@"), strings.HasPrefix(w, "<#"), strings.HasPrefix(w, "<!"):
		return w
	}
	return entities.Replace(w)
}

func (s *Sim) mention(name string) string {
	if u := s.user(name); u != nil {
		return "<@" + u.ID + "|" + u.Name + ">"
	}
	for _, g := range s.groups {
		if g.Handle == name && !g.Disabled {
			return "<!subteam^" + g.ID + "|@" + g.Handle + ">"
		}
	}
	return ""
}
