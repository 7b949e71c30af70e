package ledger

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// resumable is a request with an encrypted secret.
func resumable(n int, secret []byte) Request {
	q := request(n, Cost{Epsilon: milli, Delta: 1})
	q.Sealed, q.Alone = secret, true
	return q
}

// A charge that waits because something is missing, and not because its computation ends the
// process, waits for as long as it takes: each try that ended in order does not count.
func TestWaitingIsNoCrash(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	q := resumable(1, bytes.Repeat([]byte{7}, 60))
	for i := range maxTries + 20 {
		r, _, err := l.Reserve(t.Context(), q)
		if err != nil || r.Resumed() != (i > 0) {
			t.Fatalf("try %d: %v", i, err)
		}
		if err := r.Leave(""); err != nil {
			t.Fatal(err)
		}
	}
	if waits, err := l.Pending(t.Context(), q.Principal, q.Key); err != nil || !waits {
		t.Errorf("%v, %v", waits, err)
	}
}

// A computation that ends its process each time is given up.
func TestCrashesAreCounted(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	q := resumable(1, bytes.Repeat([]byte{7}, 60))
	tries := 0
	for ; tries < 2*maxTries; tries++ {
		r, _, err := l.Reserve(t.Context(), q)
		if err != nil {
			break
		}
		r.finish(nil) // the process ends: nothing is written
	}
	if tries != maxTries+1 { // the first made the charge
		t.Errorf("%d tries", tries)
	}
	if waits, err := l.Pending(t.Context(), q.Principal, q.Key); err != nil || waits {
		t.Errorf("%v, %v", waits, err)
	}
}

// Once an answer is stored, or its charge is given up, no file of the ledger holds a byte of
// its encrypted secret for long: neither the database nor its log, nor a copy by VACUUM INTO.
// Before that the log or the database has it, and no export.
func TestSecretIsGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *Reservation) error{
		"stored":    func(r *Reservation) error { return r.Settle(t.Context(), answer(1), []byte("sig"), "kid") },
		"forfeited": func(r *Reservation) error { return r.Forfeit("a test") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
			l := f.open(t)
			secret := []byte("an-encrypted-secret-that-is-easy-to-find-in-a-file-of-the-ledger")
			r, _, err := l.Reserve(t.Context(), resumable(1, secret))
			if err != nil {
				t.Fatal(err)
			}
			if found := holding(t, filepath.Dir(f.path), secret); len(found) == 0 {
				t.Fatal("the test finds no secret where there is one")
			}
			var export bytes.Buffer
			out := json.NewEncoder(&export)
			err = l.Export(t.Context(), func(e ExportEntry) error { return out.Encode(e) }, func(a ExportAnswer) error { return out.Encode(a) })
			if err != nil || export.Len() == 0 || bytes.Contains(export.Bytes(), secret[:16]) ||
				bytes.Contains(export.Bytes(), []byte(base64.StdEncoding.EncodeToString(secret[:15]))) {
				t.Errorf("the export: %v", err)
			}
			if err := end(r); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "copy.db")
			if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
				t.Fatal(err)
			}
			if found := holding(t, filepath.Dir(copied), secret); len(found) > 0 {
				t.Errorf("the copy: %s", found)
			}
			// A process that stays has its log emptied.
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
				found := holding(t, filepath.Dir(f.path), secret)
				if len(found) == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("after the end: %s", found)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if found := holding(t, filepath.Dir(f.path), secret); len(found) > 0 {
				t.Errorf("closed: %s", found)
			}
		})
	}
}

// holding are the files below a folder that have a part of a secret.
func holding(t *testing.T, dir string, secret []byte) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for at := 0; at+16 <= len(secret); at += 16 {
			if bytes.Contains(text, secret[at:at+16]) {
				found = append(found, d.Name())
				break
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A charge that waits for its answer is given up where its data set is granted anew: nothing
// can compute the answer any more. What is being answered goes on, and what was spent stays.
func TestGrantedAnewGivesUpWhatWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	waits, answers := resumable(1, bytes.Repeat([]byte{7}, 60)), resumable(2, bytes.Repeat([]byte{8}, 60))
	left, _, err := l.Reserve(t.Context(), waits)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Leave(""); err != nil {
		t.Fatal(err)
	}
	going, _, err := l.Reserve(t.Context(), answers)
	if err != nil {
		t.Fatal(err)
	}
	before := spent(t, l)
	write(t, f.file, secondTable)
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 1000})
	g.Changed = true
	if _, err := l.Grant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if pending, err := l.Pending(t.Context(), waits.Principal, waits.Key); err != nil || pending {
		t.Errorf("it waits still: %v", err)
	}
	var state, reason string
	if err := l.db.QueryRowContext(t.Context(), "SELECT state, reason FROM charge WHERE id = ?", left.Charge().ID).
		Scan(&state, &reason); err != nil || state != "forfeited" || reason != "its data set was granted anew" {
		t.Errorf("%s, %s, %v", state, reason, err)
	}
	var secrets int
	if err := l.db.QueryRowContext(t.Context(), "SELECT count(*) FROM noise_secret WHERE charge = ?", left.Charge().ID).
		Scan(&secrets); err != nil || secrets != 0 {
		t.Errorf("%d secrets are left, %v", secrets, err)
	}
	if err := going.Settle(t.Context(), answer(1), []byte("sig"), "kid"); err != nil {
		t.Errorf("what is being answered: %v", err)
	}
	if now := spent(t, l); now != before {
		t.Errorf("spent %v, before %v", now, before)
	}
	verifyClean(t, l)
}
