package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Killed about the deletion of a secret, the ledger has either the secret and no answer, so that
// the answer can be computed again, or the answer. Then the log may still hold the secret,
// as the process that would have emptied it is gone: the next one that opens the ledger does
// it. The files as they are at a step are what a kill at that step leaves.
func TestKilledAtTheDeletionOfASecret(t *testing.T) {
	t.Parallel()
	secret := []byte("an-encrypted-secret-that-is-easy-to-find-in-a-file-of-the-ledger")
	q := resumable(1, secret)
	for step, answered := range map[string]bool{"settle-begin": false, "settle-before-commit": false, "settled": true} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
			l := f.open(t)
			left := t.TempDir()
			reached := false
			l.step = func(at string) {
				if at != step {
					return
				}
				reached = true
				for _, end := range []string{"", "-wal", ".head"} {
					text, err := os.ReadFile(f.path + end)
					if errors.Is(err, fs.ErrNotExist) {
						continue
					}
					if err == nil {
						err = os.WriteFile(filepath.Join(left, "noren.db"+end), text, 0o600)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
			r, _, err := l.Reserve(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Settle(t.Context(), answer(1), []byte("sig"), "kid"); err != nil || !reached {
				t.Fatalf("reached: %t, %v", reached, err)
			}
			if len(holding(t, left, secret)) == 0 {
				t.Fatal("the secret is gone already: the test tries nothing")
			}
			again, err := Open(t.Context(), filepath.Join(left, "noren.db"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			waits, err := again.Pending(t.Context(), q.Principal, q.Key)
			if err != nil || waits == answered || again.Sealed() != nil {
				t.Fatalf("waits: %t, %v, sealed: %v", waits, err, again.Sealed())
			}
			if !answered {
				taken, _, err := again.Reserve(t.Context(), q)
				if err != nil || !taken.Resumed() || !bytes.Equal(taken.Sealed(), secret) {
					t.Fatalf("taken up: %v", err)
				}
				if err := taken.Settle(t.Context(), answer(1), []byte("sig"), "kid"); err != nil {
					t.Fatal(err)
				}
			}
			for deadline := time.Now().Add(time.Minute); len(holding(t, left, secret)) > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("it stays in %s", holding(t, left, secret))
				}
			}
			_, stored, err := again.Reserve(t.Context(), q)
			if err != nil || stored == nil || !bytes.Equal(stored.Payload, answer(1)) {
				t.Errorf("the answer: %v", err)
			}
			if got := spent(t, again); got != (Cost{Epsilon: milli, Delta: 1}) {
				t.Errorf("spent %v", got)
			}
			verifyClean(t, again)
		})
	}
}
