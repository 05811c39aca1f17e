package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// pagePackage holds the test that drives the lab's page in a browser. It
// needs the machine to itself, and the lab built.
const pagePackage = "reconcilebot/cmd/dev/page"

// tests runs all tests but the page's under the race detector.
func tests(ctx context.Context, c Config, w io.Writer) (Tally, error) {
	var list bytes.Buffer
	if err := c.exec(ctx, c.Root, &list, w, "go", "list", "./..."); err != nil {
		return Tally{}, err
	}
	packages := slices.DeleteFunc(strings.Fields(list.String()), func(p string) bool { return p == pagePackage })
	return c.goTest(ctx, w, append([]string{"-race", "-timeout=15m"}, packages...)...)
}

// page drives the lab's page in a browser.
func page(ctx context.Context, c Config, w io.Writer) (Tally, error) {
	return c.goTest(ctx, w, "-count=1", "-timeout=30m", pagePackage)
}

// goTest runs go test and counts by its events.
func (c Config) goTest(ctx context.Context, w io.Writer, args ...string) (Tally, error) {
	var events bytes.Buffer
	ran := c.exec(ctx, c.Root, &events, w, "go", append([]string{"test", "-json"}, args...)...)
	results, err := read(&events)
	if err != nil {
		return Tally{}, errors.Join(err, ran)
	}
	tally := results.tally(w, c.excuses())
	if tally.Failed > 0 {
		return tally, fmt.Errorf("%d tests failed", tally.Failed)
	}
	return tally, ran
}

// event is a line of `go test -json` (https://pkg.go.dev/cmd/test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// result is how a test, or a package, ended.
type result struct {
	ended string // pass, fail or skip; "" when it never did
	said  strings.Builder
}

// results are by package and test; the package itself has the test "".
type results map[[2]string]*result

func read(r io.Reader) (results, error) {
	all := results{}
	for dec := json.NewDecoder(r); ; {
		var e event
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read the events of go test: %w", err)
		}
		if e.Package == "" {
			// What the compiler says names the package with its variant.
			e.Package, _, _ = strings.Cut(e.ImportPath, " ")
		}
		key := [2]string{e.Package, e.Test}
		if all[key] == nil {
			all[key] = &result{}
		}
		switch e.Action {
		case "output", "build-output":
			all[key].said.WriteString(e.Output)
		case "pass", "fail", "skip":
			all[key].ended = e.Action
		case "build-fail":
			all[key].ended = "fail"
		}
	}
}

// What a test that was skipped has to say is what it needs. In CI every program
// can be installed, so only what can't be excuses it there.
var (
	lacks     = regexp.MustCompile(`(?i)\bneeds \w+`)
	lacksInCI = regexp.MustCompile(`(?i)\bneeds (hardware|an account)\b`)
)

func (c Config) excuses() *regexp.Regexp {
	if c.CI {
		return lacksInCI
	}
	return lacks
}

// tally counts the tests without subtests, and what failed on its own: a
// package that did not build, or a test beside its subtests. What is wrong
// goes to w.
func (all results) tally(w io.Writer, excuses *regexp.Regexp) (t Tally) {
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		r, below := all[key], all.below(key)
		switch {
		case r.ended == "skip" && key[1] == "": // no test files
		case r.ended == "skip" && excuses.MatchString(r.said.String()):
			t.Skipped++
		case r.ended == "pass":
			if key[1] != "" && len(below) == 0 {
				t.Passed++
			}
		case r.ended == "" && key[1] == "":
		default:
			if slices.ContainsFunc(below, func(r *result) bool { return r.ended != "pass" && r.ended != "skip" }) {
				continue
			}
			t.Failed++
			_, _ = fmt.Fprintf(w, failure+"%s: %s\n%s", strings.TrimSpace(key[0]+" "+key[1]), r.why(), r.said.String()) // a buffer takes all
		}
	}
	return t
}

func (r *result) why() string {
	switch r.ended {
	case "skip":
		return `skipped without saying what it needs ("needs chromium: …")`
	case "":
		return "did not end"
	}
	return "failed"
}

// below lists the tests of a package, or the subtests of a test.
func (all results) below(key [2]string) (found []*result) {
	for k, r := range all {
		if k[0] == key[0] && k[1] != key[1] && (key[1] == "" || strings.HasPrefix(k[1], key[1]+"/")) {
			found = append(found, r)
		}
	}
	return found
}
