package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/state"
)

// says runs the program and gives its exit code and all that it prints.
func says(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := run(t.Context(), args, func(string) string { return "" }, &out, &out)
	return code, out.String()
}

// stateFile is a state with an incident, a reconciliation and a delivery that
// holds what nobody else may see.
func stateFile(t *testing.T) (string, *state.DB) {
	t.Helper()
	// A socket's path must be short.
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "state.db")
	db, err := state.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.OpenIncident(state.Incident{ID: "INC-1", Room: "C1"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Open(state.Reconciliation{ID: "r-1", Incident: "INC-1", Room: "C1", Target: "eu/argocd/web", Book: "survey"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Note(state.Entry{Kind: "x", Data: json.RawMessage(`{"response_url":"https://hooks.slack.com/commands/T/1/abc","token":"t0ps3cret","text":"use ghp_abcdef","payload":"{\"trigger_id\":\"tr1gger\",\"user\":\"U1\"}"}`)}); err != nil {
		t.Fatal(err)
	}
	return path, db
}

func TestTheStateOfARunningBot(t *testing.T) {
	path, db := stateFile(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveCopies(ctx, path, db, slog.New(slog.DiscardHandler)) }()
	to := filepath.Join(t.TempDir(), "backup.db")
	var code int
	var text string
	for range 50 { // until it listens
		if code, text = says(t, "state", "backup", "--state", path, "--to", to); code == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code != 0 || !strings.Contains(text, "1 open reconciliations and 3 journal entries") {
		t.Fatalf("backup: %d %s", code, text)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v, %v", info, err)
	}
	if info, err := os.Stat(socketOf(path)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	if code, text := says(t, "state", "backup", "--state", path, "--to", to); code == 0 || !strings.Contains(text, "overwrites nothing") {
		t.Errorf("again: %d %s", code, text)
	}
	code, text = says(t, "state", "inspect", "--state", path)
	if code != 0 || !strings.Contains(text, "r-1  INC-1  eu/argocd/web  survey, moving") || !strings.Contains(text, "The journal is sound: 3 entries") {
		t.Errorf("inspect: %d %s", code, text)
	}
	code, text = says(t, "state", "inspect", "--state", path, "--bucket", "journal")
	if code != 0 || !strings.Contains(text, `"user\":\"U1\"`) {
		t.Errorf("inspect: %d %s", code, text)
	}
	for _, secret := range []string{"hooks.slack.com", "t0ps3cret", "ghp_abcdef", "tr1gger"} {
		if strings.Contains(text, secret) {
			t.Errorf("it shows %s:\n%s", secret, text)
		}
	}
	if code, text := says(t, "state", "restore", "--state", path, "--from", to); code == 0 || !strings.Contains(text, "stop the bot first") {
		t.Errorf("restore under a running bot: %d %s", code, text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if code, text := says(t, "state", "restore", "--state", path, "--from", to); code != 0 || !strings.Contains(text, "is kept as "+path+".before-") {
		t.Errorf("restore: %d %s", code, text)
	}
	again, err := state.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if r, err := again.Reconciliation("r-1"); err != nil || r.Target != "eu/argocd/web" {
		t.Errorf("restored %+v, %v", r, err)
	}
}

func TestRestoreRefusesWhatIsNoSoundState(t *testing.T) {
	path, db := stateFile(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	noise, tampered := filepath.Join(t.TempDir(), "noise"), filepath.Join(t.TempDir(), "tampered.db")
	if err := os.WriteFile(noise, []byte("no state"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tampered, bytes.ReplaceAll(before, []byte(`"kind":"incident-opened"`), []byte(`"kind":"incident-forged"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{noise: "not a state file", tampered: "the journal was altered", "nowhere": "there is none"} {
		if code, text := says(t, "state", "restore", "--state", path, "--from", from); code == 0 || !strings.Contains(text, want) {
			t.Errorf("restore of %s: %d %s", from, code, text)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Error("the state was touched")
	}
}

func TestAuditExportAndVerify(t *testing.T) {
	path, db := stateFile(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	code, text := says(t, "audit", "export", "--state", path, "--to", file)
	if code != 0 || !strings.Contains(text, "3 entries, the last ") {
		t.Fatalf("export: %d %s", code, text)
	}
	_, rest, _ := strings.Cut(text, "the last ")
	last, _, _ := strings.Cut(rest, "\n")
	if code, text := says(t, "audit", "verify", "--file", file, "--last", last); code != 0 || !strings.Contains(text, "Sound: 3 entries, the last "+last) {
		t.Errorf("verify: %d %s", code, text)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, c := range map[string]struct {
		content []byte
		say     string
	}{
		"an entry was changed":       {bytes.Replace(whole, []byte(`"reconciliation":"r-1"`), []byte(`"reconciliation":"r-2"`), 1), "entry 2 is not what was written: the journal was altered\nThe 1 entries before it are."},
		"the last entry is missing":  {bytes.Join(lines[:2], nil), "the entry with the hash " + last + " is not in it"},
		"the first entry is missing": {bytes.Join(lines[1:], nil), "entry 2 stands where 1 should"},
	} {
		altered := filepath.Join(t.TempDir(), "altered.jsonl")
		if err := os.WriteFile(altered, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, text := says(t, "audit", "verify", "--file", altered, "--last", last); code != exitFailed || !strings.Contains(text, c.say) {
			t.Errorf("%s: %d %s, want %q", name, code, text, c.say)
		}
	}
}

func TestStateAndAuditSayWhatTheyTake(t *testing.T) {
	for _, args := range [][]string{{"state"}, {"state", "burn"}, {"state", "backup"}, {"state", "restore"}, {"audit"}, {"audit", "burn"}, {"audit", "verify"}} {
		if code, text := says(t, args...); code != exitNotSaid {
			t.Errorf("%q: %d %s", args, code, text)
		}
	}
}
