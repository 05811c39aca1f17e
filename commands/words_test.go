package commands

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"reconcilebot/runbook/fault"
)

func TestSplit(t *testing.T) {
	tests := map[string]struct {
		text   string
		want   []string
		reason string
	}{
		"plain words":                   {"drift payments-web", []string{"drift", "payments-web"}, ""},
		"many spaces":                   {"  drift \t payments-web\n", []string{"drift", "payments-web"}, ""},
		"no-break spaces from pasting":  {"drift\u00a0payments-web\u202f", []string{"drift", "payments-web"}, ""},
		"straight quotes":               {`status "payments web"`, []string{"status", "payments web"}, ""},
		"curly quotes from a phone":     {"status “payments web”", []string{"status", "payments web"}, ""},
		"quotes that do not match":      {"status “payments web\" x", []string{"status", "payments web", "x"}, ""},
		"a quote that never ends":       {`status "payments web`, []string{"status", "payments web"}, ""},
		"backticks":                     {"drift `payments-web`", []string{"drift", "payments-web"}, ""},
		"an apostrophe inside a word":   {"drift don't", []string{"drift", "don't"}, ""},
		"a person":                      {"who <@U1|ann lee>", []string{"who", "@U1"}, ""},
		"a channel":                     {"x <#C1|general> <#C2>", []string{"x", "#C1", "#C2"}, ""},
		"a group":                       {"x <!subteam^S1|@oncall>", []string{"x", "!subteam^S1"}, ""},
		"a link":                        {"incident INC-1 <https://t.example/1?a=1&amp;b=2>", []string{"incident", "INC-1", "https://t.example/1?a=1&b=2"}, ""},
		"a link whose label lies":       {"incident INC-1 <https://evil.example|https://good.example>", []string{"incident", "INC-1", "https://evil.example"}, ""},
		"a target that looks like host": {"drift <http://web.prod|web.prod>", []string{"drift", "web.prod"}, ""},
		"because takes the rest":        {"adopt web because queue backing up; 3 pods", []string{"adopt", "web"}, "queue backing up; 3 pods"},
		"because with a colon":          {"adopt web BECAUSE: it is \"slow\" now", []string{"adopt", "web"}, `it is "slow" now`},
		"a reason in quotes":            {"adopt web because “queue backing up”", []string{"adopt", "web"}, "queue backing up"},
		"two quotes in a reason":        {`adopt web because "a" and "b"`, []string{"adopt", "web"}, `"a" and "b"`},
		"escapes in a reason":           {"adopt web because <@U1|bob> said &lt;5 in <#C1|ops>, see <https://x.example|the page> &amp; <!here>", []string{"adopt", "web"}, "@bob said <5 in #ops, see the page (https://x.example) & @here"},
		"entities are undone once":      {"adopt web because &amp;lt;b&amp;gt;", []string{"adopt", "web"}, "&lt;b&gt;"},
		"nothing visible in a reason":   {"adopt web because \u202eabc\u200b\u2066", []string{"adopt", "web"}, "abc"},
		"because quoted is a word":      {`status "because" x`, []string{"status", "because", "x"}, ""},
		"nothing":                       {"  ", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, err := split(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w.list, tt.want) || w.reason != tt.reason {
				t.Errorf("split(%q) = %q because %q, want %q because %q", tt.text, w.list, w.reason, tt.want, tt.reason)
			}
		})
	}
}

func TestSplitBounds(t *testing.T) {
	for name, text := range map[string]string{
		"a text too long":   strings.Repeat("a ", maxText),
		"a word too long":   "drift " + strings.Repeat("a", maxWord+1),
		"a reason too long": "adopt web because " + strings.Repeat("ab ", maxReason/2),
	} {
		if _, err := split(text); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: got %v, want an invalid request", name, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"adopt web because <@U1|x> &amp;", "“a", "<", "<>", "<|>", "\u202e<#", "because", "' '", "a<b>c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := split(text)
		if err != nil {
			if fault.Of(err) != fault.Invalid {
				t.Fatalf("split(%q): %v has no answer for people", text, err)
			}
			return
		}
		for _, word := range append(w.list, w.reason) {
			if !utf8.ValidString(word) {
				t.Fatalf("split(%q) gave invalid UTF-8 %q", text, word)
			}
		}
		if strings.ContainsFunc(w.reason, invisible) {
			t.Fatalf("split(%q) left something invisible in %q", text, w.reason)
		}
	})
}
