package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
)

// TestCardsPageDrawsTheGallery also asks the local Slack what Slack would
// refuse about each card.
func TestCardsPageDrawsTheGallery(t *testing.T) {
	gallery := card.Gallery()
	cards, err := drawn(gallery)
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	slacksim.CardsPage(cards).ServeHTTP(answer, httptest.NewRequest("GET", "/cards.json", nil))
	var page []struct {
		Name   string
		Blocks []json.RawMessage
		Faults []string
	}
	if err := json.NewDecoder(bytes.NewReader(answer.Body.Bytes())).Decode(&page); err != nil {
		t.Fatal(err)
	}
	if len(page) != len(gallery) || len(page) == 0 {
		t.Errorf("%d cards are drawn of %d", len(page), len(gallery))
	}
	for _, c := range page {
		if len(c.Faults) > 0 {
			t.Errorf("card %s: Slack would refuse it: %v", c.Name, c.Faults)
		}
	}
}
