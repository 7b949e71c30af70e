//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// A ledger with a second name, or with a link in the place of a journal, is not opened.
func TestLedgerOfOtherNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	f.open(t).Close()
	other := filepath.Join(t.TempDir(), "other")
	for what, c := range map[string]struct {
		put func() error
		is  string
	}{
		"second name of the ledger":    {func() error { return os.Link(f.path, other) }, "second name"},
		"second name of the head file": {func() error { return os.Link(f.path+".head", other) }, "second name"},
		"link for a journal":           {func() error { return os.Symlink(other, f.path+"-wal") }, "got a link"},
		"link for the shared memory":   {func() error { return os.Symlink(other, f.path+"-shm") }, "got a link"},
	} {
		if err := c.put(); err != nil {
			t.Fatal(err)
		}
		l, err := Open(t.Context(), f.path, Options{})
		if err == nil {
			l.Close()
			t.Errorf("a ledger with a %s is opened", what)
		} else if noren.KindOf(err) == noren.Internal || !strings.Contains(err.Error(), c.is) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(other); err == nil && c.is == "got a link" {
			t.Errorf("what a %s leads to was made", what)
		}
		_ = os.Remove(other)
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(f.path + end)
		}
	}
	l := f.open(t)
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
	l.Close()
}
