package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/cluster"
	"reconcilebot/state"
)

// stateCommand backs the state up, restores it, or looks into it.
func stateCommand(ctx context.Context, c console, args []string) error {
	if len(args) == 0 {
		return usageError{"state needs one of backup, restore, inspect"}
	}
	switch args[0] {
	case "backup":
		return stateBackup(ctx, c, args[1:])
	case "restore":
		return stateRestore(ctx, c, args[1:])
	case "inspect":
		return stateInspect(ctx, c, args[1:])
	}
	return usageError{fmt.Sprintf("state knows backup, restore and inspect, and no %q", args[0])}
}

// where names a state file: by itself, or as the config has it.
type where struct{ file, config string }

func (w *where) define(f *flag.FlagSet) {
	f.StringVar(&w.file, "state", "", "the state `FILE`")
	f.StringVar(&w.config, "config", "", "the config `FILE` that names the state file; without both, "+deployedConfig)
}

func (w where) path(c console) (string, error) {
	if w.file != "" {
		return w.file, nil
	}
	if w.config == "" {
		w.config = deployedConfig
	}
	cfg, err := config.LoadWithoutSecrets(w.config, c.getenv)
	var problems config.Problems
	if errors.As(err, &problems) {
		c.say("%v\n", problems)
		return "", errReported
	}
	if err != nil {
		return "", err
	}
	return cfg.State, nil
}

// reading opens a state file for reading: itself, or, while a bot runs on it,
// a copy that the bot gives. done closes it and takes the copy away.
func reading(ctx context.Context, path string) (db *state.Copy, done func(), err error) {
	db, err = state.OpenCopy(path)
	if err == nil {
		return db, func() { _ = db.Close() }, nil // it was only read
	}
	if !errors.Is(err, state.ErrHeld) {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "reconcilebot-state-")
	if err != nil {
		return nil, nil, err
	}
	away := func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "state.db")
	if err = backup(ctx, path, file); err == nil {
		if db, err = state.OpenCopy(file); err == nil {
			return db, func() { _ = db.Close(); away() }, nil
		}
	}
	away()
	return nil, nil, err
}

// backup writes a consistent copy of a state file to another, which must not
// be there yet. What is not whole is not left behind.
func backup(ctx context.Context, path, to string) (err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; a backup overwrites nothing", to)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			_ = os.Remove(to)
		}
	}()
	if err := fromRunning(ctx, path, out); !errors.Is(err, errNotRunning) {
		return errors.Join(err, out.Sync())
	}
	// Nobody runs: the file itself is copied, under its own lock.
	db, err := state.OpenCopy(path)
	if errors.Is(err, state.ErrHeld) {
		return fmt.Errorf("%w, and that process gives no copies: is it of another user, or of an older release? Stop it and try again", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return errors.Join(db.Backup(out), out.Sync())
}

func stateBackup(ctx context.Context, c console, args []string) error {
	var w where
	var to string
	err := c.flags("state backup", args, func(f *flag.FlagSet) {
		w.define(f)
		f.StringVar(&to, "to", "", "the `FILE` to write, which must not be there yet")
	})
	if err != nil {
		return err
	}
	if to == "" {
		return usageError{"state backup needs --to FILE"}
	}
	path, err := w.path(c)
	if err != nil {
		return err
	}
	if err := backup(ctx, path, to); err != nil {
		return fmt.Errorf("back %s up: %w", path, err)
	}
	sound, err := examineState(to)
	if err != nil {
		return errors.Join(fmt.Errorf("the backup is not sound: %w", err), os.Remove(to))
	}
	_, err = fmt.Fprintf(c.stdout, "%s holds schema %d, %s.\n", to, sound.schema, sound)
	return err
}

// soundness is what was found of a file that can be restored.
type soundness struct {
	schema, open int
	chain        state.Chain
}

func (s soundness) String() string {
	return fmt.Sprintf("%d open reconciliations and %d journal entries, the last of them %s", s.open, s.chain.Count, orNone(s.chain.Last))
}

func orNone(hash string) string {
	if hash == "" {
		return "none"
	}
	return hash
}

// examineState looks whether a file can be opened, is of a schema that this
// release knows, and has a whole journal.
func examineState(path string) (s soundness, err error) {
	db, err := state.OpenCopy(path)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.schema, err = db.Schema(); err != nil {
		return s, err
	}
	open, err := db.Unclosed()
	if err != nil {
		return s, err
	}
	s.open = len(open)
	return s, db.Journal(s.chain.Add)
}

func stateRestore(_ context.Context, c console, args []string) error {
	var w where
	var from string
	err := c.flags("state restore", args, func(f *flag.FlagSet) {
		w.define(f)
		f.StringVar(&from, "from", "", "the backup, a `FILE`")
	})
	if err != nil {
		return err
	}
	if from == "" {
		return usageError{"state restore needs --from FILE"}
	}
	path, err := w.path(c)
	if err != nil {
		return err
	}
	sound, err := examineState(from)
	if err != nil {
		return fmt.Errorf("%s is not restored: %w", from, err)
	}
	kept, err := replace(path, from)
	if err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	if kept != "" {
		kept = " What was there is kept as " + kept + "."
	}
	_, err = fmt.Fprintf(c.stdout, "%s is restored, schema %d, %s.%s\nWhat the bot did since the backup it does not know any more: it looks for its own branches, pull requests and syncs before it acts.\n", path, sound.schema, sound, kept)
	return err
}

// replace puts a copy of a file in the place of the state, and keeps what was
// there under another name. A file that a running bot holds is left alone.
func replace(path, from string) (kept string, err error) {
	if _, err := os.Stat(path); err == nil {
		held, err := state.OpenCopy(path)
		if errors.Is(err, state.ErrHeld) {
			return "", fmt.Errorf("%w; stop the bot first", err)
		}
		if err == nil {
			err = held.Close()
		}
		// One that is damaged is what backups are for.
		_ = err
		kept = fmt.Sprintf("%s.before-%s", path, time.Now().UTC().Format("20060102T150405Z"))
	}
	fresh := path + ".restoring"
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(fresh))
	}
	if kept != "" {
		if err := os.Rename(path, kept); err != nil {
			return "", err
		}
	}
	return kept, os.Rename(fresh, path)
}

func stateInspect(ctx context.Context, c console, args []string) error {
	var w where
	var bucket, key string
	err := c.flags("state inspect", args, func(f *flag.FlagSet) {
		w.define(f)
		f.StringVar(&bucket, "bucket", "", "print the records of this `BUCKET`, one a line, with what looks like a secret masked")
		f.StringVar(&key, "key", "", "only those whose key begins with `TEXT`")
	})
	if err != nil {
		return err
	}
	path, err := w.path(c)
	if err != nil {
		return err
	}
	db, done, err := reading(ctx, path)
	if err != nil {
		return fmt.Errorf("look into %s: %w", path, err)
	}
	defer done()
	if bucket != "" {
		return records(db, c.stdout, bucket, key)
	}
	return overview(db, c.stdout, path)
}

func overview(db *state.Copy, to io.Writer, path string) error {
	schema, err := db.Schema()
	if err != nil {
		return err
	}
	buckets, err := db.Buckets()
	if err != nil {
		return err
	}
	open, err := db.Unclosed()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s: schema %d (this release writes %d)\n\n", path, schema, state.Known())
	for _, b := range buckets {
		fmt.Fprintf(&out, "  %-16s %8d records %12d bytes\n", b.Name, b.Records, b.Bytes)
	}
	fmt.Fprintf(&out, "\n%d open:\n", len(open))
	for _, r := range open {
		at := "moving"
		switch {
		case r.Failure != nil:
			at = "stopped at " + string(r.Failure.Step)
		case r.Wait != nil:
			at = "waits at " + string(r.Wait.Step) + " for " + r.Wait.For
		}
		fmt.Fprintf(&out, "  %s  %s  %s  %s, %s\n", r.ID, r.Incident, r.Target, r.Book, at)
	}
	var chain state.Chain
	if err := db.Journal(chain.Add); err != nil {
		fmt.Fprintf(&out, "\nThe journal is not sound: %v\n", err)
	} else {
		fmt.Fprintf(&out, "\nThe journal is sound: %d entries, the last %s\n", chain.Count, orNone(chain.Last))
	}
	_, err = to.Write(out.Bytes())
	return err
}

func records(db *state.Copy, to io.Writer, bucket, key string) error {
	var wrong error
	err := db.Records(bucket, key, func(key string, raw json.RawMessage) bool {
		_, wrong = fmt.Fprintf(to, "%s\t%s\n", key, veiled(raw))
		return wrong == nil
	})
	return errors.Join(err, wrong)
}

// passes are what lets its holder act in Slack for a while.
var passes = []string{"trigger_id", "response_url", "response_urls", "triggerID", "responseURL"}

// veiled is a record with what looks like a secret masked, also within texts
// that hold JSON, such as what Slack sent. What can't be looked through is not
// shown.
func veiled(raw json.RawMessage) string {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return fmt.Sprintf("(%d bytes that are no JSON)", len(raw))
	}
	out, err := json.Marshal(veil("", v))
	if err != nil {
		return "(not shown)"
	}
	return string(out)
}

const veilText = "********"

func veil(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = veil(key, inner)
		}
		return v
	case []any:
		for i := range v {
			v[i] = veil(name, v[i])
		}
		return v
	case string:
		if slices.Contains(passes, name) || cluster.LooksSecret(name) || looksLikeToken(v) {
			return veilText
		}
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			if raw, err := json.Marshal(veil(name, inner)); err == nil {
				return string(raw)
			}
		}
	}
	return v
}

// looksLikeToken tells whether a text holds one of the tokens that the systems
// here give out.
func looksLikeToken(s string) bool {
	for _, begin := range []string{"xoxb-", "xoxp-", "xapp-", "ghp_", "gho_", "ghs_", "github_pat_", "eyJhbGciOi", "Bearer ", "hooks.slack.com/"} {
		if strings.Contains(s, begin) {
			return true
		}
	}
	return false
}
