// Package build makes the programs that the lab runs: Kubernetes, Argo CD and
// what they need beside them, from Go modules, once, into a cache folder.
//
// It must never write into the source tree, and never leave a half-written
// program where the next start would find it.
//
// Why from source and not as downloads or container images: Go and git are all
// that a machine needs then, on every platform that Go knows, and what runs is
// pinned and verified by go.sum.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Program is one executable to be made from one Go module.
type Program struct {
	Name    string // what it is called in the cache and on the display
	Module  string // folder of the module that pins its versions
	Package string // what is built: an import path, or "." for the module itself
	LDFlags string
	// Changing is for a program whose sources are worked on: Go is asked each
	// time whether anything changed, and the program has one place per tree.
	Changing bool
	// Usual is how long a first build takes on two cores. Only the estimate on
	// the display rests on it, until the build itself has a rate to go by.
	Usual time.Duration
}

// key names everything that a build depends on, so that a changed go.mod, Go
// release or flag builds that one program again and no other.
func (p Program) key(goVersion string) (string, error) {
	sum := sha256.New()
	if p.Changing {
		fmt.Fprintln(sum, p.Module)
		return hex.EncodeToString(sum.Sum(nil))[:16], nil
	}
	fmt.Fprintf(sum, "%s\n%s\n%s\n", goVersion, p.Package, p.LDFlags)
	own, err := filepath.Glob(filepath.Join(p.Module, "*.go"))
	if err != nil {
		return "", err
	}
	slices.Sort(own)
	for _, file := range append([]string{filepath.Join(p.Module, "go.mod"), filepath.Join(p.Module, "go.sum")}, own...) {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read what pins %s: %w", p.Name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.Base(file), len(content))
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
