package blockkit

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reconcilebot/bot/slacksim/peer"
)

// official is what @slack/types says of one object.
type official struct {
	Name   string
	Fields map[string]struct {
		Optional  bool
		Type, Doc string
	}
}

// names are Slack's names for the shapes that do not say their type.
var names = map[string]string{
	"ConfirmationDialog": "confirm", "OptionGroup": "option_group", "PlainTextOption": "link_option",
	"DispatchActionConfig": "dispatch_action_config", "BaseConversationFilter": "filter", "TableBlockColumnSettings": "column_settings",
}

// ours knows more than @slack/types, or differs from it on purpose.
var ours = map[string]string{
	"call":                  "shown by calls.add and not in @slack/types",
	"rich_text_list.offset": "in the reference",
	"home.blocks":           "slack-go sends null for a view without blocks",
	"modal.blocks":          "slack-go sends null for a view without blocks",
	"modal.submit_disabled": "in the reference, for configuration modals",
	"link_option.value":     "the reference says 150 characters, @slack/types 75: the laxer one, so that nothing is refused that Slack takes",
	"confirm.title":         "needed according to the reference, optional in @slack/types",
}

// TestTheTableAgreesWithSlacksOwnTypes compares every field, whether it must
// be there, and every number in the comments of @slack/types.
func TestTheTableAgreesWithSlacksOwnTypes(t *testing.T) {
	var all []official
	out, err := peer.Run(t, "testdata", "types.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	known := map[string]shape{}
	for _, more := range []map[string]shape{elements(), richTexts(), objects(), blocks(), views()} {
		for name, s := range more {
			if name != "image" || known[name] == nil {
				known[name] = s
			}
		}
	}
	c := &comparison{t: t, used: map[string]bool{}}
	seen := map[string]bool{}
	for _, o := range all {
		name := names[o.Name]
		if name == "" {
			name = literal(o.Fields["type"].Type)
		}
		s, ok := known[name]
		if !ok {
			if name != "" && name != "workflow_step" {
				t.Errorf("%s (%s) is not in the table", name, o.Name)
			}
			continue
		}
		seen[name] = true
		c.compare(name, o, s)
	}
	for name, s := range known {
		if _, typed := s["type"]; typed && !seen[name] && name != "image" && !c.excused(name) {
			t.Errorf("%s is in the table and not in @slack/types", name)
		}
	}
	for name, why := range ours {
		if !c.used[name] {
			t.Errorf("%s needs no excuse any more: %s", name, why)
		}
	}
	if c.numbers < 90 {
		t.Errorf("only %d numbers were found in the comments: is the test still reading them?", c.numbers)
	}
}

// comparison is the table against @slack/types.
type comparison struct {
	t       *testing.T
	used    map[string]bool // of the excuses
	numbers int             // compared
}

func (c *comparison) excused(names ...string) bool {
	for _, name := range names {
		if ours[name] != "" {
			c.used[name] = true
			return true
		}
	}
	return false
}

// literal is the type that an object says it is, or empty.
func literal(ts string) string {
	if name, ok := strings.CutPrefix(ts, `"`); ok && !strings.Contains(ts, "|") {
		return strings.TrimSuffix(name, `"`)
	}
	return ""
}

func (c *comparison) compare(name string, o official, s shape) {
	for _, field := range slices.Sorted(maps.Keys(o.Fields)) {
		theirs, path := o.Fields[field], name+"."+field
		mine, ok := s[field]
		switch {
		case !ok:
			c.t.Errorf("%s is not in the table", path)
		case mine.need == theirs.Optional && field != "type" && !c.excused(path):
			c.t.Errorf("%s: needed is %v, @slack/types has optional %v", path, mine.need, theirs.Optional)
		default:
			c.limits(path, mine, theirs.Doc)
		}
	}
	for field := range s {
		if _, ok := o.Fields[field]; !ok && !c.excused(name+"."+field) {
			c.t.Errorf("%s is in the table and not in @slack/types", name+"."+field)
		}
	}
}

var (
	most  = regexp.MustCompile(`(?i)(?:\bmax(?:imum)?(?: length| number| value)?[^.\d]{0,90}?|up to |limit )(\d[\d,]*)`)
	least = regexp.MustCompile(`(?i)\bmin(?:imum)?\b(?: length| number)?[^.\d]{0,60}?(\d[\d,]*)`)
	span  = regexp.MustCompile(`between (\d+) and (\d+)`)
)

// limits compares the limits that a comment names with the table's.
func (c *comparison) limits(path string, f field, doc string) {
	doc = strings.NewReplacer("`", "", "\n", " ").Replace(doc)
	if m := span.FindStringSubmatch(doc); m != nil {
		c.same(path, "least", m[1], f.least)
		c.same(path, "most", m[2], f.most)
		return
	}
	if m := least.FindStringSubmatch(doc); m != nil {
		c.same(path, "least", m[1], f.least)
	}
	if m := most.FindStringSubmatch(doc); m != nil {
		c.same(path, "most", m[1], f.most)
	}
}

func (c *comparison) same(path, which, theirs string, mine int) {
	c.numbers++
	n, err := strconv.Atoi(strings.ReplaceAll(theirs, ",", ""))
	if (err != nil || n != mine) && !c.excused(path) {
		c.t.Errorf("%s: %s is %d, @slack/types says %s", path, which, mine, theirs)
	}
}
