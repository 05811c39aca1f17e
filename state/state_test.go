package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func fresh(t *testing.T) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "state.db"))
}

func openAt(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Every test ends with a look at the file's own consistency.
		_ = db.bolt.View(func(tx *bolt.Tx) error {
			for err := range tx.Check() {
				t.Errorf("the file is inconsistent: %v", err)
			}
			return nil
		})
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestSchemaDrawing(t *testing.T) {
	source, err := os.ReadFile("schema.go")
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+) +\S`).FindAllSubmatch(source, -1) {
		drawn = append(drawn, string(m[1]))
	}
	db := fresh(t)
	var have []string
	if err := db.view(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			have = append(have, string(name))
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(drawn)
	slices.Sort(have)
	if !slices.Equal(drawn, have) {
		t.Errorf("the drawing has %q, a new file has %q", drawn, have)
	}
}

func TestANewerFileIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.bolt.Update(func(tx *bolt.Tx) error { return meta.put(tx, versionKey, schemaVersion+1) }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, time.Now); !errors.Is(err, ErrNewer) {
		t.Errorf("Open = %v, want ErrNewer", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was touched (%v)", err)
	}
}

func TestASecondProcessIsToldSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	openAt(t, path)
	if _, err := Open(path, time.Now); err == nil || !regexp.MustCompile("another process").MatchString(err.Error()) {
		t.Errorf("Open = %v, want it to say that another process holds the file", err)
	}
}

func TestADamagedFileIsToldWithTheCure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no state file"), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, time.Now); err == nil || !regexp.MustCompile("put a backup in its place").MatchString(err.Error()) {
		t.Errorf("Open = %v, want it to say what to do", err)
	}
}

func TestTheSameActArrivesOnce(t *testing.T) {
	db := fresh(t)
	first, isNew, err := db.Receive(Delivery{ID: "click-1", Mint: "m1", Kind: "click"})
	if err != nil || !isNew {
		t.Fatalf("Receive = %v, %v", isNew, err)
	}
	again, isNew, err := db.Receive(Delivery{ID: "click-1", Mint: "m2", Kind: "click"})
	if err != nil || isNew || again.Mint != first.Mint {
		t.Errorf("the second delivery = %+v, fresh %v, %v", again, isNew, err)
	}
	if list, err := db.Unhandled(); err != nil || len(list) != 1 {
		t.Errorf("Unhandled = %v, %v", list, err)
	}
	if err := db.Handled("click-1"); err != nil {
		t.Fatal(err)
	}
	if list, err := db.Unhandled(); err != nil || len(list) != 0 {
		t.Errorf("Unhandled = %v, %v", list, err)
	}
	if n, err := db.ForgetDeliveries(noon); err != nil || n != 0 {
		t.Errorf("forgot %d too early, %v", n, err)
	}
	if n, err := db.ForgetDeliveries(noon.Add(time.Second)); err != nil || n != 1 {
		t.Errorf("forgot %d, %v", n, err)
	}
}

func TestATargetHasOneReconciliation(t *testing.T) {
	db := fresh(t)
	first, joined, err := db.Open(Reconciliation{ID: "r-1", Target: "eu/web"})
	if err != nil || joined {
		t.Fatalf("Open = %v, %v", joined, err)
	}
	second, joined, err := db.Open(Reconciliation{ID: "r-2", Target: "eu/web"})
	if err != nil || !joined || second.ID != first.ID {
		t.Errorf("a second one = %s, joined %v, %v", second.ID, joined, err)
	}
	if again, joined, err := db.Open(Reconciliation{ID: "r-1", Target: "eu/web"}); err != nil || joined || again.ID != "r-1" {
		t.Errorf("the same act again = %s, joined %v, %v", again.ID, joined, err)
	}
	if _, err := db.Change("r-1", func(r *Reconciliation, now time.Time) ([]Said, error) {
		r.Closed, r.Outcome = now, "left"
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	if third, joined, err := db.Open(Reconciliation{ID: "r-3", Target: "eu/web"}); err != nil || joined || third.ID != "r-3" {
		t.Errorf("after the first ended = %s, joined %v, %v", third.ID, joined, err)
	}
	if _, err := db.Change("r-1", func(*Reconciliation, time.Time) ([]Said, error) { return nil, nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("changing an ended one = %v, want ErrClosed", err)
	}
}

func TestWhatIsSaidIsWrittenWithTheChange(t *testing.T) {
	db := fresh(t)
	if _, _, err := db.Open(Reconciliation{ID: "r-1", Target: "eu/web"}); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	if _, err := db.Change("r-1", func(r *Reconciliation, _ time.Time) ([]Said, error) {
		r.Outcome = "half done"
		return []Said{{Notice: "never"}}, refused
	}); !errors.Is(err, refused) {
		t.Fatalf("Change = %v", err)
	}
	if list, err := db.Notices(); err != nil || len(list) != 0 {
		t.Errorf("a change that failed was announced: %v, %v", list, err)
	}
	r, err := db.Change("r-1", func(*Reconciliation, time.Time) ([]Said, error) {
		return []Said{{Notice: "one", Kind: "one"}, {Notice: "two"}}, nil
	})
	if err != nil || r.Rev != 2 || r.Outcome != "" {
		t.Fatalf("Change = %+v, %v", r, err)
	}
	list, err := db.Notices()
	if err != nil || len(list) != 2 || list[0].Kind != "one" || list[1].Kind != "two" {
		t.Fatalf("Notices = %v, %v", list, err)
	}
	if err := db.NoticeSent(list[0].ID, "k", Message{TS: "1.2"}); err != nil {
		t.Fatal(err)
	}
	if left, err := db.Notices(); err != nil || len(left) != 1 || left[0].Kind != "two" {
		t.Errorf("left = %v, %v", left, err)
	}
}

func TestACardStaysDueWhileItsRecordMoves(t *testing.T) {
	db := fresh(t)
	r, _, err := db.Open(Reconciliation{ID: "r-1", Target: "eu/web"})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := db.Change("r-1", func(*Reconciliation, time.Time) ([]Said, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		rev uint64
		due int
	}{{r.Rev, 1}, {moved.Rev, 0}} {
		if err := db.Redrawn("r-1", "card", Message{TS: "1.2", Rev: step.rev}); err != nil {
			t.Fatal(err)
		}
		if due, err := db.Redraws(); err != nil || len(due) != step.due {
			t.Errorf("after drawing revision %d: due %v, %v; want %d", step.rev, due, err, step.due)
		}
	}
}

func TestAnAlteredJournalIsFound(t *testing.T) {
	db := fresh(t)
	for _, kind := range []string{"opened", "decided", "approved", "closed"} {
		if err := db.Note(Entry{Kind: kind, Data: json.RawMessage(`{"value":6}`)}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := db.Journal("")
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func([]Entry) []Entry{
		"a value was changed":    func(l []Entry) []Entry { l[1].Data = json.RawMessage(`{"value":7}`); return l },
		"a time was changed":     func(l []Entry) []Entry { l[2].At = l[2].At.Add(time.Minute); return l },
		"an entry was dropped":   func(l []Entry) []Entry { return slices.Delete(l, 1, 2) },
		"the first was dropped":  func(l []Entry) []Entry { return l[1:] },
		"two entries were moved": func(l []Entry) []Entry { l[1], l[2] = l[2], l[1]; return l },
		"an entry was put in":    func(l []Entry) []Entry { return slices.Insert(l, 2, l[1]) },
		"a hash was made to fit": func(l []Entry) []Entry { l[1].Kind = "declined"; l[1].Hash, _ = l[1].sum(); return l },
	} {
		if err := Verify(spoil(slices.Clone(whole))); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: Verify = %v, want ErrTampered", name, err)
		}
	}
	if err := Verify(whole); err != nil {
		t.Errorf("untouched: %v", err)
	}
}

func TestFactsAreLearntOnce(t *testing.T) {
	db := fresh(t)
	fact := Fact{Object: "uid-1", ID: "a1", At: noon, Data: json.RawMessage(`1`)}
	for range 2 {
		if err := db.Learn([]Fact{fact, {Object: "uid-10", ID: "a2", At: noon, Data: json.RawMessage(`2`)}}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := db.Facts("uid-1"); err != nil || len(list) != 1 {
		t.Errorf("Facts = %v, %v", list, err)
	}
	if n, err := db.ForgetFacts(noon.Add(time.Hour)); err != nil || n != 2 {
		t.Errorf("forgot %d, %v", n, err)
	}
}

func TestARoomHasOneIncident(t *testing.T) {
	db := fresh(t)
	if _, err := db.OpenIncident(Incident{ID: "INC-1", Room: "C1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.OpenIncident(Incident{ID: "INC-2", Room: "C1"}); !errors.Is(err, ErrChanged) {
		t.Errorf("a second incident in the room = %v", err)
	}
	if _, err := db.OpenIncident(Incident{ID: "INC-1", Room: "C2"}); !errors.Is(err, ErrChanged) {
		t.Errorf("the incident in a second room = %v", err)
	}
	if in, err := db.OpenIncident(Incident{ID: "INC-1", Room: "C1", Ticket: "https://t/1"}); err != nil || in.Ticket == "" {
		t.Errorf("adding the ticket = %+v, %v", in, err)
	}
	if _, err := db.CloseIncident("INC-1", Person{Name: "alice"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.IncidentIn("C1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("after closing: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	db := fresh(t)
	if _, _, err := db.Open(Reconciliation{ID: "r-1", Target: "eu/web"}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := db.Change("r-1", func(r *Reconciliation, now time.Time) ([]Said, error) {
				r.Votes = append(r.Votes, Vote{At: now})
				return nil, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r, err := db.Reconciliation("r-1"); err != nil || len(r.Votes) != 50 || r.Rev != 51 {
		t.Errorf("%d votes at revision %d, %v", len(r.Votes), r.Rev, err)
	}
}

func TestABackupOpens(t *testing.T) {
	db := fresh(t)
	if err := db.Note(Entry{Kind: "x"}); err != nil {
		t.Fatal(err)
	}
	var copied bytes.Buffer
	if err := db.Backup(&copied); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := openAt(t, path).Journal(""); err != nil || len(list) != 1 {
		t.Errorf("the copy's journal = %v, %v", list, err)
	}
}

func TestTheSamePersonUnderAnyName(t *testing.T) {
	alice := Person{ID: "U1", Name: "alice", GitHub: "alice-gh", Kubernetes: []string{"alice@example.com"}}
	for name, c := range map[string]struct {
		other Person
		same  bool
	}{
		"by chat":             {Person{ID: "U1"}, true},
		"by the Git host":     {Person{ID: "U9", GitHub: "alice-gh"}, true},
		"by the API server":   {Person{ID: "U9", Kubernetes: []string{"x", "alice@example.com"}}, true},
		"somebody else":       {Person{ID: "U2", GitHub: "bob"}, false},
		"nobody":              {Person{}, false},
		"empty user names":    {Person{Kubernetes: []string{""}}, false},
		"the name is no sign": {Person{ID: "U2", Name: "alice"}, false},
	} {
		if got := alice.Is(c.other); got != c.same {
			t.Errorf("%s: Is = %v", name, got)
		}
	}
}
