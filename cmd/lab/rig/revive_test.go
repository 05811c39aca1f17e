package rig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reconcilebot/cmd/lab/systems"
)

// script makes a bot of a shell script, kept by a keeper of its own; the
// context ends when the lab would.
func script(t *testing.T, text string) (*Bot, context.Context) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "bot")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	k, ctx := systems.NewKeeper(t.Context(), dir)
	t.Cleanup(k.Close)
	b := &Bot{Program: path, Config: "config.yaml", keeper: k, minded: true}
	if err := b.launch(); err != nil {
		t.Fatal(err)
	}
	return b, ctx
}

func TestKilledBotIsStartedAgain(t *testing.T) {
	b, lab := script(t, "while :; do sleep 0.05; done\n")
	ctx, stop := context.WithCancel(lab)
	said := make(chan string, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.revive(ctx, patience{quick: time.Minute, tries: 100, pause: time.Millisecond}, func(text string) { said <- text })
	}()
	for range 3 {
		before := b.PID()
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		text := <-said
		if b.PID() == before || !strings.HasPrefix(text, "reconcilebot ended (signal: killed); started again, pid ") {
			t.Fatalf("pid %d after %d, and said %q", b.PID(), before, text)
		}
	}
	if lab.Err() != nil {
		t.Errorf("the lab ended: %v", context.Cause(lab))
	}
	b.Kill() // by the lab itself
	<-ended
	stop()
	if len(said) != 0 {
		t.Errorf("an end that was wanted was told: %q", <-said)
	}
}

func TestBotThatKeepsEndingIsGivenUp(t *testing.T) {
	b, lab := script(t, "echo $2: there is no such key >&2; exit 3\n")
	var said []string
	b.revive(lab, patience{quick: time.Minute, tries: 3, pause: time.Millisecond}, func(text string) { said = append(said, text) })
	if len(said) != 3 {
		t.Fatalf("said %q, want two starts and the end of them", said)
	}
	last := said[2]
	for _, part := range []string{"exit status 3", "3 times in a row", "not started again", "there is no such key", "serve --config config.yaml"} {
		if !strings.Contains(last, part) {
			t.Errorf("said %q, want it to say %q", last, part)
		}
	}
	if lab.Err() != nil {
		t.Errorf("the lab ended: %v", context.Cause(lab))
	}
}

func TestBotThatCannotStartSaysWhy(t *testing.T) {
	b, lab := script(t, "echo the config is wrong >&2; exit 1\n")
	b.listen = "127.0.0.1:1"
	err := b.Start(lab)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "the config is wrong") {
		t.Errorf("said %v, want why the bot ended", err)
	}
}
