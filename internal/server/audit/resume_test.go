package audit

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// full makes writes fail after some of their bytes.
func full(f *os.File, all []byte, at int64) (int, error) {
	n, _ := f.WriteAt(all[:len(all)/2], at)
	return n, syscall.ENOSPC
}

// A log whose disk was full goes on by itself: what was refused is not in it, the chain is
// sound, and an entry notes the gap.
func TestResume(t *testing.T) {
	randtest.SkipShort(t)
	f := newFolder(t)
	l := f.open(t)
	defer l.Close()
	fill(t, l, 3)
	space := errors.New("no space")
	l.ResumeWhen(func() error { return space })
	l.put = full
	if err := l.Append(t.Context(), Entry{Actor: "pr_a", Action: "refused", Outcome: "ok"}); err == nil || l.Damage() == nil {
		t.Fatal("a failed write is not reported")
	}
	l.resume()
	if l.Damage() == nil {
		t.Error("the log went on without space")
	}
	l.mu.Lock()
	space = nil
	l.mu.Unlock()
	l.resume() // writes fail still
	if l.Damage() == nil {
		t.Error("the log went on while writes fail")
	}
	l.mu.Lock()
	l.put = (*os.File).WriteAt
	l.mu.Unlock()
	l.resume()
	if l.Damage() != nil {
		t.Fatal(l.Damage())
	}
	fill(t, l, 1)
	if n, _, err := l.Check(t.Context()); err != nil || n != 5 {
		t.Errorf("%d entries, %v", n, err)
	}
	text, err := os.ReadFile(f.path())
	if err != nil || strings.Contains(string(text), "refused") || strings.Count(string(text), `"audit.resumed"`) != 1 {
		t.Errorf("%v\n%s", err, text)
	}
	if again := f.open(t); again.Damage() != nil {
		t.Error(again.Damage())
	}
}

// A log that was changed while it could not be written stays damaged.
func TestNoResumeAfterDamage(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	defer l.Close()
	fill(t, l, 3)
	l.put = full
	if err := l.Append(t.Context(), Entry{Actor: "pr_a", Action: "refused", Outcome: "ok"}); err == nil {
		t.Fatal("a failed write is not reported")
	}
	text, err := os.ReadFile(f.path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path(), []byte(strings.Replace(string(text), "pr_a", "pr_c", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.put = (*os.File).WriteAt
	l.mu.Unlock()
	for range 3 {
		l.resume()
	}
	if l.Damage() == nil {
		t.Error("a changed log went on")
	}
	if l.Append(t.Context(), Entry{Actor: "pr_a", Action: "x", Outcome: "ok"}) == nil {
		t.Error("a changed log took an entry")
	}
}
