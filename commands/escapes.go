package commands

import "strings"

// Slack's escapes in text that people typed.
// https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages

// plain undoes Slack's only three, once: what was typed as "&amp;lt;" was
// "&lt;".
func plain(s string) string {
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(s)
}

// standsFor is what an escape in the place of a word stands for: an id for a
// person or a channel, with its mark in front, and the address for a link.
// Slack makes a link of any word that looks like a host, such as a target
// named "web.prod": that is taken as the word that was typed.
func standsFor(token string) string {
	target, label, _ := strings.Cut(token, "|")
	target, label = plain(target), plain(label)
	switch {
	case target == "":
		return label
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"), strings.HasPrefix(target, "!"):
		return target
	case label != "" && (target == "http://"+label || target == "https://"+label):
		return label
	}
	return strings.TrimPrefix(target, "mailto:")
}

// shows is what people saw in its place.
func shows(token string) string {
	target, label, _ := strings.Cut(token, "|")
	target, label = plain(target), plain(label)
	mark := ""
	switch {
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"):
		mark = target[:1]
	case strings.HasPrefix(target, "!"):
		mark, target = "@", strings.TrimPrefix(target, "!")
	case label != "" && !strings.HasSuffix(target, "://"+label) && target != "mailto:"+label:
		return label + " (" + target + ")"
	}
	if label != "" {
		return mark + strings.TrimLeft(label, "@#")
	}
	return mark + strings.TrimLeft(target, "@#")
}
