package audit

import (
	"bytes"
	"os"
	"testing"
)

// A log that lacks entries which the store knows, because it is an older copy, was begun anew or
// is missing, is accepted, says what is lost and goes on. A log that is damaged within is not.
func TestAcceptShorterLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    func(t *testing.T, whole []byte) []byte // nil removes the file
		n, lost int64                                   // entries that stay, and the last one that is lost
	}{
		"older":   {func(_ *testing.T, whole []byte) []byte { return whole[:lineEnd(whole, 4)] }, 4, 9},
		"cut":     {func(_ *testing.T, whole []byte) []byte { return whole[:lineEnd(whole, 4)+20] }, 5, 9}, // the cut is an entry
		"missing": {func(*testing.T, []byte) []byte { return nil }, 0, 9},
		"whole":   {func(_ *testing.T, whole []byte) []byte { return whole }, 9, 0},
		"another": {func(t *testing.T, _ []byte) []byte {
			other := newFolder(t)
			fill(t, other.open(t), 3)
			fill(t, other.open(t), 9)
			return read(t, other.path())
		}, 12, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			fill(t, f.open(t), 9)
			if text := c.text(t, read(t, f.path())); text != nil {
				write(t, f.path(), text)
			} else if err := os.Remove(f.path()); err != nil {
				t.Fatal(err)
			}
			if c.lost > 0 && f.open(t).Damage() == nil {
				t.Fatal("the log is taken without being accepted")
			}
			l, err := Accept(t.Context(), f.path(), f.store)
			if err != nil || l.Damage() != nil {
				t.Fatal(err, l.Damage())
			}
			if n, _ := l.Head(); n != c.n || l.Lost() != c.lost {
				t.Errorf("%d entries, lost to %d; want %d and %d", n, l.Lost(), c.n, c.lost)
			}
			fill(t, l, 2)
			again := f.open(t)
			if n, _ := again.Head(); again.Damage() != nil || n != c.n+2 {
				t.Errorf("%d entries: %v", n, again.Damage())
			}
		})
	}
	f := newFolder(t)
	fill(t, f.open(t), 9)
	text := read(t, f.path())
	text[len(text)/2] ^= 1
	write(t, f.path(), text)
	if l, err := Accept(t.Context(), f.path(), f.store); err == nil && l.Damage() == nil {
		t.Error("a log that is changed within is accepted")
	}
}

// lineEnd is where a line of a text ends.
func lineEnd(text []byte, line int) (end int) {
	for range line {
		end += bytes.IndexByte(text[end:], '\n') + 1
	}
	return end
}
