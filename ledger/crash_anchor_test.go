//go:build unix

package ledger

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A process that is killed at any step of a charge in zCDP with an anchor leaves a ledger
// that opens unsealed, with all that was charged, and goes on.
func TestKilledAtEveryStepAnchored(t *testing.T) {
	for _, step := range []struct {
		name     string
		charged  bool
		answered bool
	}{
		{"before-commit", false, false},
		{"charged", true, false},
		{"head-torn", true, false},
		{"head-written", true, false},
		{"anchor-begin", true, false},
		{"anchor-torn", true, false},
		{"anchor-written", true, false},
		{"reserved", true, false},
		{"settle-before-commit", true, false},
		{"settled", true, true},
	} {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			f := zcdpFixture(t, 100*milliRho)
			if out, err := command("die-at-zcdp", f.path, step.name).Output(); !killed(err) || strings.Contains(string(out), "answered") {
				t.Fatalf("%s, %v", out, err)
			}
			l, err := open(t.Context(), f.path, Options{}, later())
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.Sealed(); err != nil {
				t.Fatal(err)
			}
			b, err := l.Book(t.Context(), "adult")
			if err != nil || (b.Loss == Loss{}) == step.charged {
				t.Errorf("%+v, %v", b.Loss, err)
			}
			_, stored, err := l.Reserve(t.Context(), zcdpRequest(t, 1, milli, milliRho))
			switch {
			case step.answered && (err != nil || stored == nil || string(stored.Payload) != "answer 1"):
				t.Errorf("%+v, %v", stored, err)
			case step.charged && !step.answered && !errors.Is(err, ErrForfeited):
				t.Error(err)
			case !step.charged && err != nil:
				t.Error(err)
			}
			if _, err := ask(t.Context(), l, zcdpRequest(t, 2, 0, milliRho), answer(2)); err != nil {
				t.Error(err)
			}
			last, hash, err := lastLink(t.Context(), l.db)
			if err != nil {
				t.Fatal(err)
			}
			if known, err := l.readAnchor(); err != nil || known.Seq != last || !bytes.Equal(known.Hash, hash) {
				t.Errorf("the anchor says %+v, the ledger ends at %d: %v", known, last, err)
			}
			verifyClean(t, l)
		})
	}
}
