package slacksim

import (
	"strings"
	"testing"
)

func wideSeed() Seed {
	seed := testSeed()
	seed.Manifest = []byte(wideManifest)
	return seed
}

func TestUserGroupsAreManaged(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{Limits: LimitsOff})
	w.run(t, acking)
	type args = map[string]string
	made, _ := w.call(t, "usergroups.create", args{"name": "On call", "handle": "on-call"})["usergroup"].(obj)
	id := str(made["id"])
	w.call(t, "usergroups.users.update", args{"usergroup": id, "users": "U0ALICE,U0BOB"})
	if o := w.call(t, "usergroups.users.list", args{"usergroup": id}); len(list(o["users"])) != 2 {
		t.Errorf("members %v", o)
	}
	w.must(t, "the event", func() bool {
		for _, e := range w.Envelopes() {
			event, _ := decode(e.Payload)["event"].(obj)
			if e.What == "subteam_members_changed" && event["added_users_count"] == float64(2) {
				return true
			}
		}
		return false
	})
	w.call(t, "usergroups.disable", args{"usergroup": id})
	for name, c := range map[string]struct {
		method string
		args   args
		want   string
	}{
		"the name again":     {"usergroups.create", args{"name": "On call"}, "name_already_exists"},
		"a handle in use":    {"usergroups.create", args{"name": "Others", "handle": "owners"}, "handle_already_exists"},
		"no name":            {"usergroups.create", nil, "missing_subteam_name"},
		"nobody":             {"usergroups.users.update", args{"usergroup": id}, "no_users_provided"},
		"someone else's":     {"usergroups.users.update", args{"usergroup": id, "users": "U0EXT"}, "failed_for_some_users"},
		"a stranger to all":  {"usergroups.users.update", args{"usergroup": id, "users": "U0NONE"}, "invalid_users"},
		"a group that isn't": {"usergroups.update", args{"usergroup": "S0NONE"}, "no_such_subteam"},
		"a disabled one":     {"usergroups.users.list", args{"usergroup": id}, "no_such_subteam"},
	} {
		if o := w.call(t, c.method, c.args); o["error"] != c.want {
			t.Errorf("%s: answered %v, want %s", name, o, c.want)
		}
	}
}

func TestUserGroupsNeedAPaidPlan(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{Limits: LimitsOff, FreePlan: true})
	for name := range methods() {
		if !strings.HasPrefix(name, "usergroups.") {
			continue
		}
		if o := w.call(t, name, map[string]string{"usergroup": "S0OWN", "name": "x", "users": "U0BOB"}); o["error"] != "plan_upgrade_required" && o["error"] != "paid_teams_only" {
			t.Errorf("%s answered %v", name, o)
		}
	}
}

func TestPagesMayBeShort(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{Limits: LimitsOff, ShortPages: true})
	var seen []string
	cursor := ""
	for range 10 {
		o := w.call(t, "conversations.members", map[string]string{"channel": "C0INC", "limit": "4", "cursor": cursor})
		members := list(o["members"])
		if len(members) > 2 {
			t.Errorf("a page has %d of the 4 that were asked for, want fewer", len(members))
		}
		for _, m := range members {
			seen = append(seen, str(m))
		}
		next, _ := o["response_metadata"].(obj)
		if cursor = str(next["next_cursor"]); cursor == "" {
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("read %v", seen)
	}
}
