package acceptance

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
)

// fill charges a book that many times while its server is stopped.
func (s *served) fill(t *testing.T, name, principal string, charges, atOnce int) {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(s.dir, "ledger.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	book, err := l.Book(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	mechanism := json.RawMessage(`{"mechanism":"filling"}`)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for n := next.Add(1); n <= int64(charges) && failed.Load() == nil; n = next.Add(1) {
				key := fmt.Sprintf("filling %d", n)
				r, _, err := l.Reserve(t.Context(), ledger.Request{
					Dataset: book.Name, Principal: principal, Key: key, Hash: sha256.Sum256([]byte(key)), Mechanism: mechanism,
					Cost: ledger.Cost{Epsilon: 1000}, Unit: book.Unit, Neighbours: book.Neighbours, Version: book.Version, Definition: book.DefinitionHash,
				})
				if err == nil {
					err = r.Settle(t.Context(), []byte("1"), []byte("{}"), "key")
				}
				if err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
}

// page reads pages of entries and returns how long each took.
func (u *user) page(t *testing.T, path string, times int) (took []time.Duration, next string) {
	t.Helper()
	for range times {
		var page struct {
			Items []struct{ N int64 }
			Next  string
		}
		r := u.must(t, 200, "GET", path, nil, &page)
		if len(page.Items) != 50 {
			t.Fatalf("a page of %d entries", len(page.Items))
		}
		took, next = append(took, r.took), page.Next
	}
	return took, next
}

// testBigBook reads and checks a book of many entries.
func testBigBook(t *testing.T, charges, atOnce, times int) {
	s := serve(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), setting{"epsilon": "1000", "name": "visits"}).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "1000"})
	s.stop(t)
	begun := time.Now()
	s.fill(t, "visits", analyst.id, charges, atOnce)
	filled := time.Since(begun)
	begun = time.Now()
	s.start(t)
	started := time.Since(begun)
	first, next := u.page(t, "/books/"+book+"/entries?limit=50", times)
	second, _ := u.page(t, "/books/"+book+"/entries?limit=50&after="+next, times)
	own, _ := analyst.page(t, "/books/"+book+"/entries?limit=50", times)

	// The check runs while answers are paid and pages are read.
	var checking job
	u.must(t, 202, "POST", "/books/"+book+"/check", nil, &checking)
	begun = time.Now()
	q := analyst.quote(t, quoting(book, "0.5", question{"kind": "count"}))
	paid := analyst.pay(t.Context(), q, "while it is checked")
	if paid.err != nil || paid.status != 200 {
		t.Errorf("an answer while the book is checked: %s", paid)
	}
	during, _ := u.page(t, "/books/"+book+"/entries?limit=50", times)
	u.wait(t, checking.ID)
	checked := time.Since(begun)
	u.sound(t, book)
	want := int64(charges)*1000 + 500_000_000
	if spent := nano(t, u.book(t, book).Spent.Epsilon); spent != want {
		t.Errorf("%s are spent, expected %s", decimal(spent), decimal(want))
	}
	ms := func(all []time.Duration) string { return percentile(all, 0.99).Round(100 * time.Microsecond).String() }
	t.Logf("%d charges (made in %.0f s): start %.1f s; p99 of a page of 50: first %s, next %s, of an analyst %s, during the check %s; the "+
		"check takes %.1f s, an answer meanwhile %.2f s",
		charges, filled.Seconds(), started.Seconds(), ms(first), ms(second), ms(own), ms(during), checked.Seconds(), paid.took.Seconds())
}

// A book of many entries is read by pages and checked in the background.
func TestBigBook(t *testing.T) {
	short(t)
	testBigBook(t, 120, 16, 3)
}

func TestLongServedBigBook(t *testing.T) {
	randtest.Long(t)
	testBigBook(t, 1_000_000, 512, 200)
}
