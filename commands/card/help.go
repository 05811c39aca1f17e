package card

import "strings"

// Usage is one command as help shows it.
type Usage struct {
	Words, Summary, Who string
	Examples            []string
}

// Help lists the commands.
func Help(list []Usage) Message {
	s := &sheet{}
	s.title("reconcilebot")
	s.lines("A change made by hand ends in one of two ways: it is in Git, or it is gone from the cluster.")
	var lines []string
	for _, u := range list {
		lines = append(lines, code("/reconcile "+u.Words, longValue)+"  "+say(u.Summary, longPhrase))
	}
	s.lines(lines...)
	s.small("`/reconcile help COMMAND` has examples. In threads, the same words work after the bot's name.")
	return s.message("What reconcilebot can do:")
}

// HelpOn explains one command.
func HelpOn(u Usage) Message {
	s := &sheet{}
	s.lines(code("/reconcile "+u.Words, longValue), say(u.Summary, longPhrase), fact("Who may", say(u.Who, longPhrase)))
	s.lines("Examples:\n" + strings.Join(codes(u.Examples), "\n"))
	return s.plain()
}

func codes(list []string) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = code("/reconcile "+text, longValue)
	}
	return out
}
