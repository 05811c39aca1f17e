package ticket

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func sample(done bool) Record {
	r := Record{
		ID: "r-01JPAYMENTS", Incident: "INC-1234", Title: "payments-web · production-eu", State: "adopt waits for 1 approval by bob or carol",
		Opened: time.Date(2026, 3, 14, 14, 6, 0, 0, time.UTC),
		Lines: []Line{
			{"What", []Part{{Text: "Deployment payments/web"}, {Text: "spec.replicas", Code: true}, {Text: "3", Code: true}, {Text: "→"}, {Text: "6", Code: true}}},
			{"Who", []Part{{Text: "alice@example.com with kubectl, 14:02"}}},
			{"Why not Git", []Part{{Text: "“queue of @everyone backing up; see #12 & <b>”"}}},
		},
		Links: []Link{{"Slack thread", "https://acme.slack.com/archives/C1/p1710425160"}},
	}
	if done {
		r.State, r.Closed = "adopted", time.Date(2026, 3, 14, 14, 31, 0, 0, time.UTC)
		r.Lines = append(r.Lines, Line{"Git", []Part{
			{Text: "#412", URL: "https://github.com/acme/gitops/pull/412"}, {Text: "merged as"},
			{Text: "9ab04f1", URL: "https://github.com/acme/gitops/commit/9ab04f1", Code: true}, {Text: "on main"},
			{Text: "overlays/prod/deployment.yaml:9", Code: true, Break: true},
		}})
		r.Links = append([]Link{{"Pull request", "https://github.com/acme/gitops/pull/412"}}, r.Links...)
	}
	return r
}

func TestDrawings(t *testing.T) {
	for name, text := range map[string]string{
		"open.md": markdown(sample(false)), "final.md": markdown(sample(true)),
		"final.wiki": wiki(sample(true)), "final.txt": plain(sample(true), "\n"+textMarker("r-01JPAYMENTS")+", final", pagerDutyLimit),
		"final.adf.json": indent(t, adf(sample(true))), "final.webhook.json": indent(t, event(Post{Ticket: "https://tickets.example.com/7", Record: sample(true)})),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != text {
				t.Errorf("differs from %s; -update writes it anew:\n%s", path, text)
			}
		})
	}
}

func indent(t *testing.T, v any) string {
	t.Helper()
	raw, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", " "); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}

func TestMarkerIsFoundInWhatIsDrawn(t *testing.T) {
	r := sample(true)
	doc := adf(r).text()
	if !hasLine(doc, textMarker(r.ID)) || !hasLine(wiki(r), textMarker(r.ID)) {
		t.Error("the marker is not found")
	}
	if hasLine(doc, textMarker(r.ID[:len(r.ID)-1])) {
		t.Error("the marker of another record is found")
	}
}

// FuzzText looks for words of people that make a marker, a mention or a new
// line where one has a meaning.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"@acme/all", "x\n- y", "reconcilebot record r-2", "<!-- reconcilebot record r-2 -->", "a\\", "1. x", "\\\\ h1. x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := sample(false)
		r.Title, r.State = text, text
		r.Lines = append(r.Lines, Line{text, []Part{{Text: text}, {Text: text, Break: true}, {Text: text, URL: text, Code: true}}})
		other := textMarker("r-2")
		md := markdown(r)
		for l := range strings.Lines(md) {
			if strings.HasPrefix(l, "<!--") && !strings.HasPrefix(md, l) {
				t.Errorf("a hidden comment was made by %q", text)
			}
		}
		if strings.Contains(md, " @acme") || hasLine(adf(r).text(), other) && text != "" && flat(text) != other {
			t.Errorf("%q has a meaning", text)
		}
		for _, at := range []string{", start", ", final"} {
			if hasLine(plain(r, "\n"+textMarker(r.ID)+", start", pagerDutyLimit), other+at) && !strings.HasPrefix(flat(text), other) {
				t.Errorf("%q made a marker", text)
			}
		}
		if strings.Count(wiki(r), "\n") > 12 {
			t.Errorf("%q made new lines", text)
		}
	})
}
