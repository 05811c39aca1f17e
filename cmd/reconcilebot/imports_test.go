package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the program from top to bottom. A package may import its own
// layer and the ones below it, never one above.
var layers = []string{"cmd", "bot", "commands", "runbook", "state"}

// listed is what go list says of a package of ours. Imports are those of ours
// that the program has; tests may import anything.
type listed struct {
	path    string
	imports []string
}

// ours lists the packages of the program.
func ours(t *testing.T) (all []listed) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "reconcilebot/...").Output()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		one := listed{path: strings.TrimPrefix(p.ImportPath, "reconcilebot/")}
		for _, imp := range p.Imports {
			if rest, ok := strings.CutPrefix(imp, "reconcilebot/"); ok {
				one.imports = append(one.imports, rest)
			}
		}
		all = append(all, one)
	}
}

// layer is a package's place in layers; -1 for those in none.
func layer(pkg string) int {
	top, _, _ := strings.Cut(pkg, "/")
	return slices.Index(layers, top)
}

func TestImportsPointDown(t *testing.T) {
	seen := map[int]bool{}
	for _, pkg := range ours(t) {
		seen[layer(pkg.path)] = true
		for _, imp := range pkg.imports {
			// What deploy carries may be used by cmd, which it knows nothing of.
			if layer(imp) < 0 && layer(pkg.path) > 0 {
				t.Errorf("%s imports %s, which only cmd may", pkg.path, imp)
			}
			if layer(imp) >= 0 && layer(imp) < layer(pkg.path) {
				t.Errorf("%s imports %s, which stands above it", pkg.path, imp)
			}
		}
	}
	for i, name := range layers {
		if !seen[i] {
			t.Errorf("there is no package in %s; has the layer moved?", name)
		}
	}
}

// TestSystemsStandAlone keeps the packages that reach outside, such as
// runbook/argocd, ignorant of the program they serve.
func TestSystemsStandAlone(t *testing.T) {
	program := []string{"runbook", "runbook/book", "state"}
	for _, pkg := range ours(t) {
		if !strings.HasPrefix(pkg.path, "runbook/") || slices.Contains(program, pkg.path) {
			continue
		}
		for _, imp := range pkg.imports {
			if slices.Contains(program, imp) {
				t.Errorf("%s imports %s; pass it values instead", pkg.path, imp)
			}
		}
	}
}

// TestSimulatorsStayOut keeps stand-ins for real systems out of the bot.
func TestSimulatorsStayOut(t *testing.T) {
	simulators := []string{"bot/slacksim", "runbook/forge/githubsim", "runbook/ticket/ticketsim"}
	for _, pkg := range ours(t) {
		for _, imp := range pkg.imports {
			allowed := strings.HasPrefix(pkg.path, "cmd/lab") || strings.HasPrefix(pkg.path, "cmd/dev") || strings.HasPrefix(pkg.path, imp)
			if slices.Contains(simulators, imp) && !allowed {
				t.Errorf("%s imports %s; only the lab, dev and tests may", pkg.path, imp)
			}
		}
	}
}
