package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
)

// showCards draws every kind of card in the browser until ctx ends.
func showCards(ctx context.Context, _ string, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("cards", flag.ContinueOnError)
	f.SetOutput(stderr)
	address := f.String("addr", "127.0.0.1:7410", "the `ADDRESS` of the page")
	if err := f.Parse(args); err != nil {
		return err
	}
	cards, err := drawn(card.Gallery())
	if err != nil {
		return err
	}
	socket, err := net.Listen("tcp", *address)
	if err != nil {
		return fmt.Errorf("serve the cards: %w; -addr chooses another address", err)
	}
	if _, err := fmt.Fprintf(stdout, "%d cards at http://%s/; Ctrl-C ends this\n", len(cards), socket.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: slacksim.CardsPage(cards), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve tells how it ended
	defer stop()
	if err := server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// drawn gives the cards as Slack would get them.
func drawn(gallery []card.Named) ([]slacksim.NamedCard, error) {
	var cards []slacksim.NamedCard
	for _, one := range gallery {
		blocks, err := json.Marshal(one.Blocks)
		if err != nil {
			return nil, fmt.Errorf("draw card %s: %w", one.Name, err)
		}
		cards = append(cards, slacksim.NamedCard{Name: one.Name, Text: one.Text, Blocks: blocks})
	}
	return cards, nil
}
