package state

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Chain checks a journal entry by entry, without the file that it is from and
// without holding all of it.
type Chain struct {
	// Count and Last are how many entries were sound so far, and the hash of the
	// last of them: whoever kept it elsewhere can tell whether entries are
	// missing at the end.
	Count int
	Last  string
}

// Add checks the next entry. The error says what is wrong with it, and is
// ErrTampered.
func (c *Chain) Add(e Entry) error {
	if e.Seq != uint64(c.Count+1) {
		return fmt.Errorf("entry %d stands where %d should: %w", e.Seq, c.Count+1, ErrTampered)
	}
	if e.Before != c.Last {
		return fmt.Errorf("entry %d does not follow the one before it: %w", e.Seq, ErrTampered)
	}
	sum, err := e.sum()
	if err != nil {
		return err
	}
	if sum != e.Hash {
		return fmt.Errorf("entry %d is not what was written: %w", e.Seq, ErrTampered)
	}
	c.Count, c.Last = c.Count+1, e.Hash
	return nil
}

// AddLine checks the next entry as it was exported, to the byte: what a reader
// sees in the line is what the hash is over.
func (c *Chain) AddLine(line []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("entry %d can't be read (%v): %w", c.Count+1, err, ErrTampered)
	}
	next := *c
	if err := next.Add(e); err != nil {
		return e, err
	}
	if again, err := e.Line(); err != nil || !bytes.Equal(again, bytes.TrimRight(line, "\r\n")) {
		return e, fmt.Errorf("entry %d says more, or in another way, than was written: %w", e.Seq, ErrTampered)
	}
	*c = next
	return e, nil
}

// Line is the entry as one line of an export.
func (e Entry) Line() ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode journal entry %d: %w", e.Seq, err)
	}
	return raw, nil
}

// Verify checks a whole journal, in order, without the file that it is from.
// It finds any entry that was changed, dropped or moved, except entries
// dropped from the end: for those, keep the last hash elsewhere.
func Verify(list []Entry) error {
	var c Chain
	for _, e := range list {
		if err := c.Add(e); err != nil {
			return err
		}
	}
	return nil
}
