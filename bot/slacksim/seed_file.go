package slacksim

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

//go:embed acme.yaml
var acme []byte

// Acme is a workspace with every kind of person, user group and conversation
// that an app can meet: guests, deactivated people, bots, members of another
// organisation, strangers; disabled and empty groups; private, archived,
// read-only and shared channels, with and without the app. It has no manifest.
func Acme() (Seed, error) { return ParseSeed(acme) }

// ParseSeed reads a seed from YAML or JSON. Keys are those of the types' JSON;
// manifest is the text of the app's manifest. Keys that do not exist are an
// error, as a misspelt flag would make a guest a full member.
func ParseSeed(text []byte) (Seed, error) {
	var whole map[string]any
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	var file struct {
		Team     Team      `json:"team"`
		App      App       `json:"app"`
		Users    []User    `json:"users"`
		Channels []Channel `json:"channels"`
		Groups   []Group   `json:"groups"`
		Manifest string    `json:"manifest"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return Seed{}, fmt.Errorf("seed: %w", err)
	}
	return Seed{
		Team: file.Team, App: file.App, Users: file.Users, Channels: file.Channels, Groups: file.Groups,
		Manifest: []byte(file.Manifest),
	}, nil
}
