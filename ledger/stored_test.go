package ledger

import (
	"testing"
	"time"
)

// A ledger that stays open forfeits the reservation of a process that was killed, once its
// lease has run out and somebody asks what became of it.
func TestStoredByKeyAfterTheLease(t *testing.T) {
	start := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	f := fixtureAt(t, start)
	killed, err := open(t.Context(), f.path, Options{Lease: time.Minute}, (&testClock{start, time.Hour}).clock("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer killed.Close()
	q := request(1, Cost{Epsilon: milli, Delta: 0})
	if _, _, err := killed.Reserve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	killed.end() // no renewals
	c := &testClock{start.Add(time.Second), time.Hour + time.Second}
	kept, err := open(t.Context(), f.path, Options{}, c.clock("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	state := func() string {
		t.Helper()
		found, err := kept.StoredByKey(t.Context(), q.Principal, q.Key)
		if err != nil || found == nil {
			t.Fatalf("%v, %v", found, err)
		}
		return found.State
	}
	if got := state(); got != "reserved" {
		t.Errorf("within the lease: %s", got)
	}
	c.now, c.uptime = start.Add(2*time.Minute), time.Hour+2*time.Minute
	if got := state(); got != "forfeited" {
		t.Errorf("after the lease: %s", got)
	}
	verifyClean(t, kept)
}
