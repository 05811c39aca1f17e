package slacksim

import "testing"

func TestWhatPeopleType(t *testing.T) {
	s, err := New(testSeed(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]struct{ command, message string }{
		"drift payments-web":          {"drift payments-web", "drift payments-web"},
		"a<b & c>d":                   {"a&lt;b &amp; c&gt;d", "a&lt;b &amp; c&gt;d"},
		"ask @bob, please":            {"ask <@U0BOB|bob>, please", "ask <@U0BOB>, please"},
		"ask @owners":                 {"ask <!subteam^S0OWN|@owners>", "ask <!subteam^S0OWN>"},
		"in #general":                 {"in <#C0PUB|general>", "in <#C0PUB|general>"},
		"@nobody and #nowhere":        {"@nobody and #nowhere", "@nobody and #nowhere"},
		"https://example.com/?a&b":    {"<https://example.com/?a&amp;b>", "<https://example.com/?a&amp;b>"},
		"<@U0BOB> picked from a list": {"<@U0BOB> picked from a list", "<@U0BOB> picked from a list"},
		"two\nlines":                  {"two\nlines", "two\nlines"},
	} {
		if got := s.escape(typed); got != want.command {
			t.Errorf("command %q became %q, want %q", typed, got, want.command)
		}
		if got := s.written(typed); got != want.message {
			t.Errorf("message %q became %q, want %q", typed, got, want.message)
		}
	}
}
