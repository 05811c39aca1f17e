package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"reconcilebot/state"
)

// auditCommand exports the journal, or verifies an export without anything
// else.
func auditCommand(ctx context.Context, c console, args []string) error {
	if len(args) == 0 {
		return usageError{"audit needs one of export, verify"}
	}
	switch args[0] {
	case "export":
		return auditExport(ctx, c, args[1:])
	case "verify":
		return auditVerify(c, args[1:])
	}
	return usageError{fmt.Sprintf("audit knows export and verify, and no %q", args[0])}
}

// auditExport writes the whole journal, one entry a line. A part of it could
// not be verified, so there is none.
func auditExport(ctx context.Context, c console, args []string) error {
	var w where
	var to string
	err := c.flags("audit export", args, func(f *flag.FlagSet) {
		w.define(f)
		f.StringVar(&to, "to", "", "the `FILE` to write, which must not be there yet; the standard output without it")
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
		return fmt.Errorf("read the journal of %s: %w", path, err)
	}
	defer done()
	out := c.stdout
	if to != "" {
		file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	chain, err := export(db, out)
	if err != nil {
		return err
	}
	c.say("%d entries, the last %s\nKeep that hash somewhere else: with it, `reconcilebot audit verify --last` finds entries that are missing at the end, too.\n", chain.Count, orNone(chain.Last))
	return nil
}

// export writes the entries as they are, sound or not: a journal that was
// tampered with is evidence, and verify says where.
func export(db *state.Copy, to io.Writer) (chain state.Chain, err error) {
	out := bufio.NewWriter(to)
	err = db.Journal(func(e state.Entry) error {
		line, err := e.Line()
		if err != nil {
			return err
		}
		chain.Count, chain.Last = chain.Count+1, e.Hash
		_, err = out.Write(append(line, '\n'))
		return err
	})
	return chain, errors.Join(err, out.Flush())
}

// maxLine bounds an entry of an export.
const maxLine = 32 << 20

// auditVerify checks an export, and says where it was altered.
func auditVerify(c console, args []string) error {
	var file, last string
	err := c.flags("audit verify", args, func(f *flag.FlagSet) {
		f.StringVar(&file, "file", "", "the export, a `FILE`; - is the standard input")
		f.StringVar(&last, "last", "", "the `HASH` that the export's last entry has to have, as it was kept elsewhere")
	})
	if err != nil {
		return err
	}
	if file == "" {
		return usageError{"audit verify needs --file FILE"}
	}
	in := io.Reader(os.Stdin)
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }() // it was only read
		in = opened
	}
	chain, seen, err := verifyLines(in, last)
	switch {
	case errors.Is(err, state.ErrTampered):
		c.say("NOT SOUND: %v\nThe %d entries before it are.\n", err, chain.Count)
		return errReported
	case err != nil:
		return fmt.Errorf("read %s: %w", file, err)
	case last != "" && !seen:
		c.say("NOT SOUND: the entry with the hash %s is not in it, so entries are missing at the end or it is another journal: %v\n", last, state.ErrTampered)
		return errReported
	}
	_, err = fmt.Fprintf(c.stdout, "Sound: %d entries, the last %s\n", chain.Count, orNone(chain.Last))
	if err == nil && last == "" {
		c.say("Whether entries are missing at the end only a hash that was kept elsewhere tells: --last HASH\n")
	}
	return err
}

// verifyLines checks line by line; seen tells whether one has the hash.
func verifyLines(in io.Reader, hash string) (chain state.Chain, seen bool, err error) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		e, err := chain.AddLine(scanner.Bytes())
		if err != nil {
			return chain, seen, err
		}
		seen = seen || e.Hash == hash
	}
	return chain, seen, scanner.Err()
}
