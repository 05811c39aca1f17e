package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCounting(t *testing.T) {
	tests := map[string]struct {
		events string
		want   Tally
		say    string
	}{
		"one that passed": {`{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`, Tally{Passed: 1}, ""},
		"subtests count, not the test around them": {`{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/y"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`, Tally{Passed: 2}, ""},
		"a subtest that failed counts once": {`{"Action":"output","Package":"p","Test":"TestA/x","Output":"boom\n"}
{"Action":"fail","Package":"p","Test":"TestA/x"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`, Tally{Failed: 1}, "p TestA/x: failed\nboom"},
		"a test that failed beside its subtests": {`{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`, Tally{Passed: 1, Failed: 1}, "p TestA: failed"},
		"a skip that says what it needs": {`{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:3: needs root: chroot is refused\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`, Tally{Skipped: 1}, ""},
		"a skip without a reason": {`{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:3: later\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`, Tally{Failed: 1}, "skipped without saying what it needs"},
		"a package without tests": {`{"Action":"output","Package":"p","Output":"?   p [no test files]\n"}
{"Action":"skip","Package":"p"}`, Tally{}, ""},
		"a package that does not build": {`{"ImportPath":"p [p.test]","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`, Tally{Failed: 1}, "undefined: x"},
		"a test that never ended": {`{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: x\n"}
{"Action":"fail","Package":"p"}`, Tally{Failed: 1}, "p TestA: did not end\npanic: x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := read(strings.NewReader(tt.events))
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			if got := results.tally(&said, lacks); got != tt.want {
				t.Errorf("tally = %+v, want %+v; said %q", got, tt.want, said.String())
			}
			if !strings.Contains(said.String(), tt.say) {
				t.Errorf("said %q, want %q in it", said.String(), tt.say)
			}
		})
	}
}

func TestWhatExcusesASkippedTest(t *testing.T) {
	for said, want := range map[string]Tally{
		"needs npm on the path":                 {Failed: 1},
		"needs an account at github.com":        {Skipped: 1},
		"needs hardware: a second network card": {Skipped: 1},
	} {
		events := fmt.Sprintf(`{"Action":"output","Package":"p","Test":"TestA","Output":%q}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`, said)
		results, err := read(strings.NewReader(events))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if got := results.tally(&out, Config{CI: true}.excuses()); got != want {
			t.Errorf("%q in CI: %+v, want %+v", said, got, want)
		}
		if got := results.tally(&out, Config{}.excuses()); got != (Tally{Skipped: 1}) {
			t.Errorf("%q elsewhere: %+v", said, got)
		}
	}
}

func TestScenariosAreCounted(t *testing.T) {
	var said bytes.Buffer
	got, err := played(strings.NewReader(`{"scenarios":[{"name":"scaled-adopt","pass":true},{"name":"scaled-revert","error":"no card"}]}`), &said)
	if err != nil || got != (Tally{Passed: 1, Failed: 1}) || !strings.Contains(said.String(), "scaled-revert: no card") {
		t.Errorf("tally %+v, error %v, said %q", got, err, said.String())
	}
	for name, report := range map[string]string{"none": `{"scenarios":[]}`, "no report": ``} {
		if _, err := played(strings.NewReader(report), &said); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWhatFailedIsSaidOnceMore(t *testing.T) {
	trouble := failure + "p TestA: failed\n--- FAIL: TestA\n=== RUN   TestB\n" + failure + "scenario x: no card\n"
	got := strings.Join(headlines("test", trouble), "; ")
	if want := "test: p TestA: failed; test: scenario x: no card"; got != want {
		t.Errorf("headlines %q, want %q", got, want)
	}
}

func TestBadlyFormattedFileFails(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "bad.go"), []byte("package  bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	err := Run(context.WithoutCancel(t.Context()), Config{Root: root, Only: []string{"format"}, Stdout: &out, Stderr: &progress})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !errors.Is(err, ErrFailed) || lines[len(lines)-1] != "0 passed, 1 failed, 0 skipped" {
		t.Errorf("error %v, output %q", err, out.String())
	}
	if !strings.Contains(out.String(), "FAILED format\n") {
		t.Errorf("what failed is not said once more in %q", out.String())
	}
	if !strings.Contains(out.String(), "bad.go") {
		t.Errorf("the file is not named in %q", out.String())
	}
}

func TestUnknownStage(t *testing.T) {
	err := Run(t.Context(), Config{Only: []string{"fromat"}})
	if err == nil || !strings.Contains(err.Error(), "did you mean format?") {
		t.Errorf("error = %v", err)
	}
}
