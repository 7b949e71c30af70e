package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// testQuotes asks for quotes while the files of all tables are elsewhere.
func testQuotes(t *testing.T, clients, n int) {
	s := serve(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), nil).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "10"})
	// A server that is started without the copies of its tables has no column in memory.
	s.stop(t)
	move := func(from, to string) {
		for _, name := range []string{"tables", "books"} {
			if err := os.MkdirAll(to, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(from, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	move(s.dir, filepath.Join(filepath.Dir(s.dir), "away"))
	s.start(t)
	bodies := []map[string]any{
		quoting(book, "0.1", question{"kind": "count", "where": "age >= 65"}),
		quoting(book, "0.2", question{"kind": "mean", "column": "cost", "by": []string{"ward"}}),
		quoting(book, "0.1", question{"kind": "histogram", "column": "age", "bins": []string{"0", "20", "40", "100"}},
			question{"kind": "quantile", "column": "cost"}),
	}
	before, begun := s.processor(), time.Now()
	took := make([][]time.Duration, clients)
	var failed atomic.Pointer[reply]
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			for k := i; k < n; k += clients {
				r := analyst.send(t.Context(), "POST", "/quotes", bodies[k%len(bodies)])
				if r.err != nil || r.status != 200 {
					failed.Store(r)
					return
				}
				took[i] = append(took[i], r.took)
			}
		})
	}
	group.Wait()
	elapsed, used := time.Since(begun), s.processor()-before
	if r := failed.Load(); r != nil {
		t.Fatalf("a quote without the tables' files: %s", r)
	}
	// The same question cannot be paid without the file: it was not in memory either.
	q := analyst.quote(t, bodies[0])
	if r := analyst.pay(t.Context(), q, "without a file"); r.err == nil && r.status == 200 {
		t.Errorf("an answer without the table's file: %s", r)
	}
	var all []time.Duration
	for _, part := range took {
		all = append(all, part...)
	}
	t.Logf("%d quotes from %d clients, 0 data reads: %.0f/s, p50 %s, p99 %s; processor time of the server %s (%s a quote)", n, clients,
		float64(n)/elapsed.Seconds(), percentile(all, 0.5).Round(10*time.Microsecond), percentile(all, 0.99).Round(10*time.Microsecond), used,
		(used / time.Duration(n)).Round(time.Microsecond))
}

// A quote reads no data: it works without the files of the tables.
func TestQuotesReadNoData(t *testing.T) {
	short(t)
	testQuotes(t, 4, 60)
}

func TestLongServedQuotes(t *testing.T) {
	randtest.Long(t)
	for _, clients := range []int{1, 16, 64} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) { testQuotes(t, clients, 10_000) })
	}
}
