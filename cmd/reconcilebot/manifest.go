package main

import (
	"context"
	"fmt"

	"reconcilebot/commands"
)

// manifest prints the Slack app's manifest.
func manifest(_ context.Context, c console, args []string) error {
	if len(args) > 0 {
		return usageError{"manifest takes no arguments"}
	}
	_, err := fmt.Fprint(c.stdout, commands.Manifest())
	return err
}
