// Command reconcilebot is a Slack bot that finishes GitOps reconciliations:
// it turns a change that was made by hand in a cluster into an approved,
// proven and merged pull request, or reverts the cluster.
//
// This package wires the program and does nothing else: what it decides, it
// decides from flags and the config file. It must never print a secret.
//
// Why run is apart from main: tests, and nothing else, start the program
// inside their own process, with their own environment and output.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Helm's library writes its warnings to the standard logger, and values
	// with them. What this program has to say goes to a logger of its own.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
