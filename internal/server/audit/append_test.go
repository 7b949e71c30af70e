package audit

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Entries of many goroutines are written together, each once and whole; one that is too
// long fails alone.
func TestAppendTogether(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := Open(t.Context(), filepath.Join(dir, "audit.log"), s)
	if err != nil {
		t.Fatal(err)
	}
	const n = 300
	synced := 0
	l.step = func(step string) {
		if step == "synced" {
			synced++
		}
	}
	l.mu.Lock() // until all wait
	var group sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			e := Entry{Actor: "pr_a", Action: "x", Outcome: "ok", RequestID: fmt.Sprint(i)}
			if i == 100 {
				e.RequestID = strings.Repeat("x", 2*longest)
			}
			errs[i] = l.Append(t.Context(), e)
		})
	}
	for waiting := 0; waiting < n; time.Sleep(time.Millisecond) {
		l.queueMu.Lock()
		waiting = len(l.queue)
		l.queueMu.Unlock()
	}
	l.mu.Unlock()
	group.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 100) {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	if synced > (n+mostTogether-1)/mostTogether {
		t.Errorf("%d synchronisations for %d entries", synced, n)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(text, []byte("\n")); got != n-1 {
		t.Errorf("%d entries, want %d", got, n-1)
	}
	again, err := Open(t.Context(), filepath.Join(dir, "audit.log"), s)
	if err != nil || again.Damage() != nil {
		t.Fatalf("%v, %v", err, again.Damage())
	}
	if m, _ := again.Head(); m != n-1 {
		t.Errorf("the last entry is %d", m)
	}
}

// Entries that can wait are written together, within moments or before the log is read, in
// the order in which they came.
func TestAppendSoon(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	s, err := store.Open(t.Context(), filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := Open(t.Context(), path, s)
	if err != nil {
		t.Fatal(err)
	}
	synchronised := 0
	l.step = func(step string) {
		if step == "synced" {
			synchronised++
		}
	}
	for i := range 200 {
		l.AppendSoon(Entry{Actor: "pr_a", Action: "x", Outcome: "refused", RequestID: fmt.Sprint(i)})
	}
	items, _, err := l.Page(t.Context(), &Filter{}, 0, 500)
	if err != nil || len(items) != 200 {
		t.Fatalf("%d entries, %v", len(items), err)
	}
	for i := range items {
		if want := fmt.Sprint(199 - i); items[i].RequestID != want {
			t.Fatalf("entry %d is of request %s", i, items[i].RequestID)
		}
	}
	if synchronised > 10 {
		t.Errorf("%d synchronisations", synchronised)
	}
	l.AppendSoon(Entry{Actor: "pr_a", Action: "x", Outcome: "refused", RequestID: "last"})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"last"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("an entry was not written")
		}
	}
	if n, _, err := l.Check(t.Context()); n != 201 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
}

// Entries that can wait are tried again after the store could not be written.
func TestLongAppendSoonIsTriedAgain(t *testing.T) {
	randtest.Long(t) // the store gives up after ten seconds
	f := newFolder(t)
	l := f.open(t)
	other, err := sql.Open("sqlite", filepath.Join(f.dir, "server.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	l.AppendSoon(Entry{Actor: "pr_a", Action: "x", Outcome: "refused", RequestID: "one"})
	time.Sleep(11 * time.Second)
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	l.AppendSoon(Entry{Actor: "pr_a", Action: "x", Outcome: "refused", RequestID: "two"})
	items, _, err := l.Page(t.Context(), &Filter{}, 0, 10)
	if err != nil || len(items) != 2 || items[1].RequestID != "one" {
		t.Errorf("%+v, %v", items, err)
	}
}
