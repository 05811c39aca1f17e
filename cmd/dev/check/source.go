package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// format looks for files that gofmt would change.
func format(ctx context.Context, c Config, w io.Writer) (Tally, error) {
	var out bytes.Buffer
	if err := c.exec(ctx, c.Root, &out, w, "gofmt", "-l", "."); err != nil {
		return Tally{}, err
	}
	if out.Len() > 0 {
		return Tally{}, fmt.Errorf("gofmt would change %s", strings.Join(strings.Fields(out.String()), ", "))
	}
	return Tally{}, nil
}

// tidy looks whether the module files are as `go mod tidy` would leave them.
//
// The nested modules build other people's programs. Tidying these would fetch
// what the tests of all their dependencies need, some gigabytes: here it must
// be enough that the files name everything that the build needs.
func tidy(ctx context.Context, c Config, w io.Writer) (Tally, error) {
	if err := c.exec(ctx, c.Root, w, w, "go", "mod", "tidy", "-diff"); err != nil {
		return Tally{}, err
	}
	nested, err := modules(filepath.Join(c.Root, "deploy"))
	for _, dir := range nested {
		err = errors.Join(err, c.exec(ctx, dir, io.Discard, w, "go", "list", "-mod=readonly", "-deps", "./...", "tool"))
	}
	return Tally{}, err
}

// modules finds the folders below dir that hold a go.mod.
func modules(dir string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return err
	})
	return found, err
}
