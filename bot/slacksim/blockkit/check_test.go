package blockkit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The limits are written here again, from the reference, so that a slip in
// the checker does not pass.
func TestBlocksThatSlackRefuses(t *testing.T) {
	text := func(kind string, n int) string {
		return fmt.Sprintf(`{"type":%q,"text":%q}`, kind, strings.Repeat("ä", n))
	}
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	buttons := func(n int) string {
		return many(n, `{"type":"button","text":`+text("plain_text", 1)+`}`)
	}
	for name, c := range map[string]struct{ good, bad, want string }{
		"header of 150": {`{"type":"header","text":` + text("plain_text", 150) + `}`, `{"type":"header","text":` + text("plain_text", 151) + `}`,
			"must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		"header is plain": {`{"type":"header","text":` + text("plain_text", 1) + `}`, `{"type":"header","text":` + text("mrkdwn", 1) + `}`,
			"unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"},
		"section of 3000": {`{"type":"section","text":` + text("mrkdwn", 3000) + `}`, `{"type":"section","text":` + text("mrkdwn", 3001) + `}`,
			"must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		"section not empty": {`{"type":"section","text":` + text("mrkdwn", 1) + `}`, `{"type":"section","text":` + text("mrkdwn", 0) + `}`,
			"must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		"ten fields": {`{"type":"section","fields":` + many(10, text("mrkdwn", 2000)) + `}`, `{"type":"section","fields":` + many(11, text("mrkdwn", 1)) + `}`,
			"no more than 10 items allowed [json-pointer:/blocks/0/fields]"},
		"ten in a context": {`{"type":"context","elements":` + many(10, text("mrkdwn", 1)) + `}`, `{"type":"context","elements":` + many(11, text("mrkdwn", 1)) + `}`,
			"no more than 10 items allowed [json-pointer:/blocks/0/elements]"},
		"25 actions": {`{"type":"actions","elements":` + buttons(25) + `}`, `{"type":"actions","elements":` + buttons(26) + `}`,
			"no more than 25 items allowed [json-pointer:/blocks/0/elements]"},
		"button text of 75": {`{"type":"actions","elements":[{"type":"button","text":` + text("plain_text", 75) + `}]}`,
			`{"type":"actions","elements":[{"type":"button","text":` + text("plain_text", 76) + `}]}`,
			"must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		"known styles": {`{"type":"actions","elements":[{"type":"button","style":"danger","text":` + text("plain_text", 1) + `}]}`,
			`{"type":"actions","elements":[{"type":"button","style":"default","text":` + text("plain_text", 1) + `}]}`,
			"must be one of primary, danger [json-pointer:/blocks/0/elements/0/style]"},
		"one id per block": {`{"type":"divider","block_id":"a"},{"type":"divider","block_id":"b"}`, `{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}`,
			"block_id already exists: a [json-pointer:/blocks/1/block_id]"},
		"known types": {`{"type":"divider"}`, `{"type":"dividr"}`, "unsupported type: dividr [json-pointer:/blocks/0]"},
		"50 blocks": {strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 50), ","), strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 51), ","),
			"no more than 50 items allowed [json-pointer:/blocks]"},
		"rich text parts": {`{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":"x"}]}]}`,
			`{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"txt","text":"x"}]}]}`,
			"unsupported type: txt [json-pointer:/blocks/0/elements/0/elements/0]"},
		"markdown of 12000": {`{"type":"markdown","text":"` + strings.Repeat("a", 12000) + `"}`,
			`{"type":"markdown","text":"` + strings.Repeat("a", 6001) + `"},{"type":"markdown","text":"` + strings.Repeat("a", 6000) + `"}`,
			"markdown blocks hold more than 12000 characters together [json-pointer:/blocks]"},
		"one table": {`{"type":"table","rows":[[{"type":"raw_text","text":"x"}]]}`,
			`{"type":"table","rows":[[{"type":"raw_text","text":"x"}]]},{"type":"table","rows":[[{"type":"raw_text","text":"x"}]]}`,
			"only_one_table_allowed [json-pointer:/blocks]"},
		"alt text": {`{"type":"image","image_url":"https://e","alt_text":"a"}`, `{"type":"image","image_url":"https://e"}`,
			"must be more than 0 characters [json-pointer:/blocks/0/alt_text]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := faultsOf(t, c.good); len(got) > 0 {
				t.Errorf("the good one: %v", got)
			}
			got := strings.Join(faultsOf(t, c.bad), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("the bad one: %s, want %s", got, c.want)
			}
		})
	}
}

func faultsOf(t *testing.T, blocks string) []string {
	t.Helper()
	var bodies []Object
	if err := json.Unmarshal([]byte("["+blocks+"]"), &bodies); err != nil {
		t.Fatal(err)
	}
	var errors []string
	for _, f := range Check(bodies, Message) {
		errors = append(errors, f.String())
	}
	return errors
}
