package main

import (
	"context"
	"errors"
	"io"

	"reconcilebot/cmd/lab/rig"
)

func play(ctx context.Context, f flags, o rig.Options, stdout io.Writer) error {
	return errors.New("not yet")
}
