package slacksim

import (
	"strings"
	"testing"
)

// TestEveryKindOfPersonAndChannel asks the Web API about the people and
// channels of the ready-made workspace, as an app would.
func TestEveryKindOfPersonAndChannel(t *testing.T) {
	seed, err := Acme()
	if err != nil {
		t.Fatal(err)
	}
	seed.Manifest = []byte(wideManifest)
	w := startSeed(t, seed, Options{Limits: LimitsOff})
	is := func(method, arg, id, field string) any {
		t.Helper()
		o := w.call(t, method, map[string]string{arg: id})
		if o["ok"] != true {
			return o["error"]
		}
		for _, part := range []string{"user", "channel"} {
			if inner, ok := o[part].(obj); ok {
				return inner[field]
			}
		}
		return nil
	}
	for _, c := range []struct {
		id, field string
		want      any
	}{
		{"U0ADA", "is_admin", true}, {"U0GWEN", "is_restricted", true}, {"U0GWEN", "is_ultra_restricted", false},
		{"U0SAM", "is_ultra_restricted", true}, {"U0LEFT", "deleted", true}, {"U0BOT", "is_bot", true},
		{"U0EXT", "team_id", "T0EXT"}, {"U0EXT", "is_stranger", false}, {"W0STRANGER", "id", "user_not_visible"},
	} {
		if got := is("users.info", "user", c.id, c.field); got != c.want {
			t.Errorf("%s of %s is %v, want %v", c.field, c.id, got, c.want)
		}
	}
	for _, c := range []struct {
		id, field string
		want      any
	}{
		{"C0INC", "is_member", true}, {"C0GEN", "is_member", false}, {"G0PLAT", "is_private", true}, {"G0SEC", "id", "channel_not_found"},
		{"C0OLD", "is_archived", true}, {"C0NEWS", "is_read_only", true}, {"C0VEND", "is_ext_shared", true},
		{"C0PEND", "is_pending_ext_shared", true}, {"C0ORG", "is_org_shared", true}, {"D0ALICE", "is_im", true}, {"G0SOME", "is_mpim", true},
	} {
		if got := is("conversations.info", "channel", c.id, c.field); got != c.want {
			t.Errorf("%s of %s is %v, want %v", c.field, c.id, got, c.want)
		}
	}
	for id, want := range map[string]any{"S0OWN": 1, "S0NONE": 0, "S0OLD": "no_such_subteam"} {
		o := w.call(t, "usergroups.users.list", map[string]string{"usergroup": id})
		if o["ok"] == true && len(list(o["users"])) != want || o["ok"] != true && o["error"] != want {
			t.Errorf("group %s: %v, want %v", id, o, want)
		}
	}
}

func TestSeedFilesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not YAML":          {"\t{", "seed: yaml"},
		"a misspelt flag":   {"users: [{id: U1, is_restircted: true}]", `"is_restircted"`},
		"a list for a name": {"users: [{id: U1, name: [a]}]", "name"},
	} {
		if _, err := ParseSeed([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	seed, err := ParseSeed([]byte(`{"users":[{"id":"U1","name":"a"}],"manifest":"display_information: {name: X}"}`))
	if err != nil || seed.Users[0].Name != "a" || string(seed.Manifest) != "display_information: {name: X}" {
		t.Errorf("read %+v, %v", seed, err)
	}
}
