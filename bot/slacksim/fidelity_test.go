package slacksim

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestTheLedgerNamesWhatExists: tests and switches that FIDELITY.md names are
// there, and every row says how its behaviour is known.
func TestTheLedgerNamesWhatExists(t *testing.T) {
	raw, err := os.ReadFile("FIDELITY.md")
	if err != nil {
		t.Fatal(err)
	}
	ledger := string(raw)
	var source strings.Builder
	for _, pattern := range []string{"*.go", "blockkit/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+|checkRefusal)`").FindAllStringSubmatch(ledger, -1) {
		if !regexp.MustCompile(`func (\([^)]*\) )?` + name[1] + `\(`).MatchString(source.String()) {
			t.Errorf("there is no %s", name[1])
		}
	}
	options, rule := reflect.TypeFor[Options](), reflect.TypeFor[Rule]()
	for _, group := range regexp.MustCompile(`\(((?:.[A-Z][A-Za-z.]+.(?:, )?)+)(?: [a-z ]+)?\)`).FindAllStringSubmatch(ledger, -1) {
		for _, name := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(group[1], -1) {
			field, of := name[1], options
			if rest, ok := strings.CutPrefix(field, "Rule."); ok {
				field, of = rest, rule
			}
			_, known := of.FieldByName(field)
			if !known && !strings.Contains(source.String(), "func (p *Place) "+field+"(") {
				t.Errorf("there is no switch %s", name[1])
			}
		}
	}
	for _, line := range strings.Split(ledger, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && !regexp.MustCompile(`documented|typed|measured|assumed|not promised|how it is known|---`).MatchString(cells[2]) {
			t.Errorf("how is this known? %s", line)
		}
		if len(cells) == 5 && strings.Contains(cells[2], "documented") && strings.TrimSpace(cells[3]) == "" {
			t.Errorf("where is this documented? %s", line)
		}
	}
}
