package card

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

func file(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-")
}

func TestCards(t *testing.T) {
	names := map[string]bool{}
	for _, n := range Gallery() {
		t.Run(n.Name, func(t *testing.T) {
			if names[file(n.Name)] {
				t.Fatalf("two cards are named %q", n.Name)
			}
			names[file(n.Name)] = true
			raw, err := json.MarshalIndent(struct {
				Text   string        `json:"text"`
				Blocks []slack.Block `json:"blocks"`
			}{n.Text, n.Blocks}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, file(n.Name)+".json", append(raw, '\n'))
			golden(t, file(n.Name)+".txt", []byte(readable(n.Message)))
			for _, wrong := range limits(n.Message) {
				t.Error(wrong)
			}
		})
	}
}

// Whatever a cluster, a repository or a person comes up with, the message can
// be sent.
func TestWorstCases(t *testing.T) {
	long := strings.Repeat("<&>`*_", 400)
	grown := func(s *sample) *sample {
		var changes []drift.Change
		for i := range 12 {
			c := s.scaled()
			c.Object.Name, c.Object.Namespace = fmt.Sprint(i, long), long
			c.Path, c.Git, c.Live = manifest.Path{manifest.Key(long)}, long, long
			c.Evidence.Person, c.Evidence.Tool, c.Evidence.Note = long, long, long
			c.Outlook.Text = fmt.Sprint(i, long)
			changes = append(changes, c)
		}
		seen := book.Seen{Drift: s.drift(changes...)}
		for i := range changes {
			seen.Places = append(seen.Places, book.Place{File: fmt.Sprint(i, long), Line: 1, URL: "https://x.example/" + long, Why: fmt.Sprint(i, long), Hint: long})
		}
		s.Run.Incident, s.Run.OpenedBy.Name, s.Run.Decision.Reason, s.Run.Decision.By.Name = state.IncidentID(long), long, long, long
		s.leave("survey", seen)
		plan := s.plan()
		plan.Seen = seen
		for i := range 12 {
			plan.Edits = append(plan.Edits, manifest.Edit{File: fmt.Sprint(i, long), Before: strings.Repeat(long+"\n", 3), After: long})
			plan.Needs.From, plan.Needs.Owners = append(plan.Needs.From, long), append(plan.Needs.Owners, long)
			plan.Needs.Rules.Checks = append(plan.Needs.Rules.Checks, long)
			plan.Needs.Excluded = append(plan.Needs.Excluded, book.Excluded{Name: long, Why: long})
			plan.Proof.Consumers.Changed = append(plan.Proof.Consumers.Changed, long)
			s.Run.Past = append(s.Run.Past, state.Attempt{Book: "adopt", Why: long})
		}
		if s.Run.Decided() {
			s.leave("plan", plan)
		}
		return s
	}
	wayOn := func() *sample { return grown(newSample(9).decided("adopt")).approved() }
	for name, m := range map[string]Message{
		"found":    Reconciliation(grown(newSample(6)).Facts),
		"planning": Reconciliation(newSample(6).decided("adopt").wait("plan", "outage", long, 6).Facts),
		"approval": Reconciliation(grown(newSample(9).decided("adopt")).Facts),
		"revert":   Reconciliation(grown(newSample(9).decided("revert")).Facts),
		"under way": Reconciliation(wayOn().leave("push", book.Pushed{Branch: long, SHA: long}).
			wait("render", "poll", long, 9).Facts),
		"failed":  Reconciliation(wayOn().fail("push", long+"\n"+long, 9).Facts),
		"record":  Reconciliation(wayOn().pushed().opened().merged().verified(long).close("adopted", 31).Facts),
		"refusal": Refusal(strings.Repeat(long+"\n", 3)),
		"board":   Board(state.Incident{ID: state.IncidentID(long), Ticket: long}, slices.Repeat([]state.Reconciliation{wayOn().Run}, 8), newSample(9).Now),
		"summary": Summary(state.Incident{ID: state.IncidentID(long)}, slices.Repeat([]state.Reconciliation{wayOn().Run}, 8), newSample(9).Now, Links{}),
	} {
		for _, wrong := range limits(m) {
			t.Errorf("%s: %.300s", name, wrong)
		}
	}
}

func TestTicket(t *testing.T) {
	for _, name := range []string{"open", "adopted", "left"} {
		s := newSample(31).decided("adopt").planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31)
		if name == "left" {
			s = hostile().close("left", 20)
		}
		if name == "open" {
			s = newSample(9).decided("adopt").planned()
		}
		r, worth := Ticket(s.Facts, "https://acme.slack.com/archives/C1/p1710425160")
		if !worth {
			t.Errorf("%s is not worth a ticket", name)
		}
		raw, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "ticket-"+name+".txt", append(raw, '\n'))
	}
}

func TestTicketIsTheSameLater(t *testing.T) {
	s := newSample(31).decided("adopt").planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31)
	first, _ := Ticket(s.Facts, "")
	s.Now = s.Now.AddDate(0, 0, 3)
	if later, _ := Ticket(s.Facts, ""); !reflect.DeepEqual(first, later) {
		t.Errorf("three days later it is\n%+v\nand was\n%+v", later, first)
	}
}

func TestALookThatFindsNothingIsNotWorthATicket(t *testing.T) {
	if _, worth := Ticket(newSample(6).Facts, ""); worth {
		t.Error("a record was made before anything was found")
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	at := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(at, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(at)
	if err != nil {
		t.Fatalf("%v; write it with go test ./commands/card -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is drawn differently now:\n%s", name, got)
	}
}

// readable draws a message so that people can read it in a terminal.
func readable(m Message) string {
	var b strings.Builder
	for _, block := range m.Blocks {
		switch block := block.(type) {
		case *slack.HeaderBlock:
			fmt.Fprintf(&b, "# %s\n", block.Text.Text)
		case *slack.ActionBlock:
			for _, e := range block.Elements.ElementSet {
				e := e.(*slack.ButtonBlockElement)
				fmt.Fprintf(&b, "[ %s ]  ", e.Text.Text)
			}
			b.WriteByte('\n')
		case *slack.RichTextBlock:
			b.WriteString("    " + strings.ReplaceAll(literalText(block), "\n", "\n    ") + "\n")
		case *slack.ContextBlock:
			b.WriteString("  (" + strings.Join(drawn(block), "\n   ") + ")\n")
		default:
			b.WriteString(strings.Join(drawn(block), "\n") + "\n")
		}
		b.WriteByte('\n')
	}
	b.WriteString("--- text\n" + m.Text + "\n")
	return b.String()
}

// limits lists what Slack would refuse, or what a person could be misled by.
// https://docs.slack.dev/reference/block-kit/blocks
func limits(m Message) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if m.Text == "" || len(m.Text) > maxFallback {
		bad("the fallback has %d bytes", len(m.Text))
	}
	if n := len(m.Blocks); n == 0 || n > 40 {
		bad("%d blocks", n)
	}
	total, ids, primary := 0, map[string]bool{}, 0
	text := func(where, s string, most int) {
		n := utf8.RuneCountInString(s)
		if total += n; n == 0 || n > most {
			bad("%s has %d characters of at most %d", where, n, most)
		}
		if strings.ContainsFunc(s, hidden) {
			bad("%s holds something invisible: %q", where, s)
		}
	}
	for _, b := range m.Blocks {
		if id := b.ID(); id != "" {
			if ids[id] || len(id) > 255 {
				bad("block id %q is there twice or too long", id)
			}
			ids[id] = true
		}
		switch b := b.(type) {
		case *slack.HeaderBlock:
			text("a header", b.Text.Text, 150)
		case *slack.SectionBlock:
			text("a section", b.Text.Text, 3000)
			wrong = append(wrong, tokens(b.Text.Text)...)
		case *slack.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				text("a context", e.(*slack.TextBlockObject).Text, 3000)
				wrong = append(wrong, tokens(e.(*slack.TextBlockObject).Text)...)
			}
		case *slack.RichTextBlock:
			text("a diff", literalText(b), 3000)
		case *slack.ActionBlock:
			for _, e := range b.Elements.ElementSet {
				e := e.(*slack.ButtonBlockElement)
				text("a button", e.Text.Text, 30)
				text("a button's label", e.AccessibilityLabel, 75)
				text("a button's value", e.Value, 2000)
				if e.Style == slack.StylePrimary {
					primary++
				}
				if c := e.Confirm; c != nil {
					text("a confirmation's title", c.Title.Text, 100)
					text("a confirmation", c.Text.Text, 300)
					text("a confirmation's yes", c.Confirm.Text, 30)
					text("a confirmation's no", c.Deny.Text, 30)
				}
			}
		default:
			bad("a block of type %T", b)
		}
	}
	if total > 8000 {
		bad("%d characters in all", total)
	}
	if raw, err := json.Marshal(m.Blocks); err != nil || len(raw) > 20000 {
		bad("the blocks have %d bytes, %v", len(raw), err)
	}
	if primary > 1 {
		bad("%d buttons ask to be pressed first", primary)
	}
	return append(wrong, tokens(m.Text)...)
}

func hidden(r rune) bool { return r != '\n' && unicode.Is(unicode.C, r) }

// tokens finds anything between angle brackets that is no link to the web.
func tokens(s string) (wrong []string) {
	for {
		_, after, found := strings.Cut(s, "<")
		if !found {
			return wrong
		}
		token, rest, _ := strings.Cut(after, ">")
		if !strings.HasPrefix(token, "https://") {
			wrong = append(wrong, fmt.Sprintf("%q is no link", token))
		}
		s = rest
	}
}
