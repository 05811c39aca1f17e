package book

import (
	"errors"
	"io/fs"

	"reconcilebot/runbook/manifest"
)

func readFile(tree manifest.Tree, path string) ([]byte, error) { return fs.ReadFile(tree, path) }

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
