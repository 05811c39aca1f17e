package main

import (
	"context"
	"fmt"

	slackapp "reconcilebot/deploy/slack"
)

// manifest prints the Slack app's manifest.
func manifest(_ context.Context, c console, args []string) error {
	if len(args) > 0 {
		return usageError{"manifest takes no arguments"}
	}
	_, err := fmt.Fprint(c.stdout, slackapp.Manifest())
	return err
}
