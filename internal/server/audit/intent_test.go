package audit

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/internal/server/store"
)

// leave copies the folder of a log at a step, as a process leaves it that is killed there.
func (f *folder) leave(t *testing.T, l *Log, at string) *folder {
	t.Helper()
	out := &folder{dir: t.TempDir()}
	var once sync.Once
	l.step = func(step string) {
		if step != at {
			return
		}
		once.Do(func() {
			for _, name := range []string{"server.db", "server.db-wal", "audit.log"} {
				if text, err := os.ReadFile(filepath.Join(f.dir, name)); err == nil {
					write(t, filepath.Join(out.dir, name), text)
				}
			}
		})
	}
	return out
}

// reopen opens the store of a folder that was left, and its log.
func (f *folder) reopen(t *testing.T) *Log {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(f.dir, "server.db"), store.SystemClock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f.store = s
	return f.open(t)
}

// together appends entries that are written by one write.
func together(t *testing.T, l *Log, n int) {
	t.Helper()
	var group sync.WaitGroup
	l.mu.Lock()
	for i := range n {
		group.Go(func() {
			if err := l.Append(t.Context(), Entry{Action: "x", Outcome: "ok", RequestID: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting < n; {
		l.queueMu.Lock()
		waiting = len(l.queue)
		l.queueMu.Unlock()
	}
	l.mu.Unlock()
	group.Wait()
}

// A process that is killed at any step of a write, whole or with a part of its entries on
// the disk, leaves a log that goes on.
func TestKilledAtEachStep(t *testing.T) {
	for step, want := range map[string]int64{"intended": 2, "write": 2, "written": 5, "synced": 5} {
		for _, torn := range []bool{false, true} {
			f := newFolder(t)
			l := f.open(t)
			fill(t, l, 2)
			left := f.leave(t, l, step)
			together(t, l, 3)
			want := want
			if torn && want == 5 { // one entry, and a part of the second
				text := read(t, left.path())
				write(t, left.path(), text[:len(text)-len(text)/4])
				want = 3
			}
			again := left.reopen(t)
			if again.Damage() != nil {
				t.Errorf("%s, torn %t: %v", step, torn, again.Damage())
				continue
			}
			if n, _ := again.Head(); n < want {
				t.Errorf("%s, torn %t: %d entries, want %d", step, torn, n, want)
			}
			fill(t, again, 2)
			if _, _, err := again.Check(t.Context()); err != nil {
				t.Errorf("%s, torn %t: %v", step, torn, err)
			}
		}
	}
}

// A store that is older than the log by one entry is not taken for that of a killed process.
func TestStoreOlderByOneEntry(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	fill(t, l, 2)
	older := f.leave(t, l, "now")
	l.step("now")
	fill(t, l, 1)
	write(t, older.path(), read(t, f.path()))
	again := older.reopen(t)
	if !errors.Is(again.Damage(), ErrStoreOlder) {
		t.Errorf("%v", again.Damage())
	}
	if again.Append(t.Context(), Entry{Action: "x", Outcome: "ok"}) == nil {
		t.Error("an older store took an entry")
	}
	// The steward accepts it.
	accepted, err := Accept(t.Context(), older.path(), older.store)
	if err != nil || accepted.Damage() != nil {
		t.Fatalf("%v, %v", err, accepted.Damage())
	}
	fill(t, older.open(t), 1)
}

// A store of before intents were kept is ahead of its log by what one write leaves.
func TestStoreWithoutIntents(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	fill(t, l, 2)
	left := f.leave(t, l, "synced")
	together(t, l, 3)
	db, err := sql.Open("sqlite", filepath.Join(left.dir, "server.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM audit_intent"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := left.reopen(t)
	if n, _ := again.Head(); again.Damage() != nil || n != 5 {
		t.Errorf("%d entries, %v", n, again.Damage())
	}
	// From the first start on it keeps them: a copy of it is not taken for that of a kill.
	older := left.leave(t, again, "now")
	again.step("now")
	fill(t, again, 1)
	write(t, older.path(), read(t, left.path()))
	if l := older.reopen(t); !errors.Is(l.Damage(), ErrStoreOlder) {
		t.Errorf("%v", l.Damage())
	}
}

// What a write that failed left on the disk is adopted by a process that comes after a kill,
// or beside the one that failed, which then goes on too.
func TestRemainsOfAFailedWrite(t *testing.T) {
	for _, beside := range []bool{false, true} {
		f := newFolder(t)
		l := f.open(t)
		defer l.Close()
		fill(t, l, 3)
		l.put = func(file *os.File, all []byte, at int64) (int, error) { // the entry, and a part of more
			n, _ := file.WriteAt(append(all, all[:40]...), at)
			return n, errors.New("the disk is full")
		}
		if l.Append(t.Context(), Entry{Actor: "pr_a", Action: "refused", Outcome: "ok"}) == nil {
			t.Fatal("a failed write is not reported")
		}
		other := f.open(t)
		if n, _ := other.Head(); other.Damage() != nil || n < 4 {
			t.Fatalf("%d entries, %v", n, other.Damage())
		}
		fill(t, other, 1)
		if beside {
			l.mu.Lock()
			l.put = (*os.File).WriteAt
			l.mu.Unlock()
			l.resume()
			fill(t, l, 1)
			fill(t, other, 1)
		}
		if _, _, err := other.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
