package acceptance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// neighbours are two tables that differ in one record, which is unlike all others.
func neighbours(n int) (left, right string) {
	left = visits(n, 3)
	return left, left + "p999999,99,D,9999\n"
}

// timedQuestions are kinds whose work depends on data in different ways: sums over
// selected records, groups, sorted values.
var timedQuestions = []question{
	{"kind": "count", "where": "age >= 99 and ward = 'D'"},
	{"kind": "mean", "column": "cost", "by": []string{"ward"}},
	{"kind": "quantile", "column": "cost", "where": "age >= 95"},
	{"kind": "histogram", "column": "cost", "bins": []string{"0", "5000", "9999", "10000"}},
}

// testNeighbours compares how long answers on two neighbouring tables take. Both of a pair
// are asked at once, in random order.
func testNeighbours(t *testing.T, pairs, atOnce, rows int, most float64) {
	s := serve(t)
	u := s.steward(t)
	var quotes [2][]*quote
	var users [2]*user
	left, right := neighbours(rows)
	for i, csv := range []string{left, right} {
		book := u.add(t, fmt.Sprintf("visits%d.csv", i), csv, setting{"epsilon": "1000", "at_most": 2 * rows}).book
		users[i] = u.analyst(t, fmt.Sprint("Analyst ", i), book, setting{"epsilon": "1000"})
		for _, q := range timedQuestions {
			quotes[i] = append(quotes[i], users[i].quote(t, quoting(book, "0.0001", q)))
		}
	}
	took := make([][2]*reply, pairs)
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	rng := rand.New(rand.NewPCG(1, 3))
	for n := range pairs {
		slots <- struct{}{}
		first, kind := rng.IntN(2), n%len(timedQuestions)
		if n > 0 && n%20_000 == 0 {
			t.Logf("%d pairs", n)
		}
		group.Go(func() {
			defer func() { <-slots }()
			var both sync.WaitGroup
			for _, i := range []int{first, 1 - first} {
				both.Go(func() { took[n][i] = users[i].pay(t.Context(), quotes[i][kind], fmt.Sprint("pair ", n)) })
			}
			both.Wait()
		})
	}
	group.Wait()
	var seconds [2][]float64
	var lengths [2][]float64
	for n, pair := range took {
		for i, r := range pair {
			if r.err != nil || r.status != 200 {
				t.Fatalf("pair %d: %s", n, r)
			}
			seconds[i] = append(seconds[i], r.took.Seconds())
			lengths[i] = append(lengths[i], float64(len(r.body)))
		}
	}
	statistic, standardError := welch(seconds[0], seconds[1])
	if statistic > most || statistic < -most {
		t.Errorf("the latencies of answers on neighbouring tables differ: t = %.2f", statistic)
	}
	if fit := randtest.TwoSample(lengths[0], lengths[1]); fit.P < 1e-7 {
		t.Errorf("the lengths of answers on neighbouring tables differ: p = %.2g", fit.P)
	}
	t.Logf("%d pairs, %d at once, %d rows: Welch t = %.2f; means %.4f s and %.4f s; a difference of %.3f ms would be found (t = 4.5)",
		pairs, atOnce, rows, statistic, mean(seconds[0]), mean(seconds[1]), 4.5*standardError*1000)
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}

// The time of an answer does not depend on a record. Under equal distributions t is
// beyond 6 with a chance below 1e-6, also for these few pairs.
func TestLatencyOfNeighbours(t *testing.T) {
	short(t)
	testNeighbours(t, 32, 16, 300, 6)
}

func TestLongServedNeighbours(t *testing.T) {
	randtest.Long(t)
	testNeighbours(t, 10_000, 24, 20_000, 4.5)
}

// testStrangers asks for the objects of another analyst and for objects that do not exist.
func testStrangers(t *testing.T, times int, most float64) {
	s := serve(t)
	u := s.steward(t)
	own := u.add(t, "own.csv", visits(300, 1), nil)
	shared := u.add(t, "shared.csv", visits(300, 2), setting{"share_answers": false})
	theirs := u.add(t, "theirs.csv", visits(300, 4), nil)
	spy := u.analyst(t, "Spy", own.book, setting{"epsilon": "10"})
	u.must(t, 200, "PUT", "/books/"+shared.book+"/accounts/"+spy.id, setting{"epsilon": "10"}, nil)
	other := u.analyst(t, "Other", theirs.book, setting{"epsilon": "10"})
	u.must(t, 200, "PUT", "/books/"+shared.book+"/accounts/"+other.id, setting{"epsilon": "10"}, nil)
	answerOf := func(book string) (*quote, string) {
		q := other.quote(t, quoting(book, "0.5", question{"kind": "count"}))
		r := other.pay(t.Context(), q, "of "+book)
		var a answer
		if r.decode(t, &a); r.status != 200 {
			t.Fatalf("%s", r)
		}
		return q, a.ID
	}
	quoteOf, answered := answerOf(theirs.book)
	_, sameTable := answerOf(shared.book) // on a table of both, whose answers are not shared
	spent := u.book(t, theirs.book).Spent

	unknown := func(prefix string) string { return prefix + "_aaaaaaaabbbbbbb2" }
	type pair struct {
		method, path, theirs, unknown string
		body                          func(id string) any
	}
	none := func(string) any { return nil }
	pairs := []pair{
		{"GET", "/books/%s", theirs.book, unknown("bk"), none},
		{"GET", "/books/%s/entries", theirs.book, unknown("bk"), none},
		{"GET", "/books/%s/spend", theirs.book, unknown("bk"), none},
		{"GET", "/books/%s/afford", theirs.book, unknown("bk"), none},
		{"GET", "/books/%s/check", theirs.book, unknown("bk"), none},
		{"POST", "/books/%s/check", theirs.book, unknown("bk"), none},
		{"GET", "/books/%s/export", theirs.book, unknown("bk"), none},
		{"POST", "/books/%s/cap", theirs.book, unknown("bk"), func(string) any { return setting{"epsilon": "200"} }},
		{"PUT", "/books/%s/accounts/" + spy.id, theirs.book, unknown("bk"), func(string) any { return setting{"epsilon": "1"} }},
		{"GET", "/answers?book=%s", theirs.book, unknown("bk"), none},
		{"GET", "/answers/%s", answered, unknown("an"), none},
		{"GET", "/answers/%s/file", answered, unknown("an"), none},
		{"GET", "/answers/%s/certificate", answered, unknown("an"), none},
		{"GET", "/answers/%s", sameTable, unknown("an"), none},
		{"GET", "/answers/%s/file", sameTable, unknown("an"), none},
		{"GET", "/answers/%s/certificate", sameTable, unknown("an"), none},
		{"GET", "/tables/%s", theirs.id, unknown("tb"), none},
		{"POST", "/quotes%.0s", theirs.book, unknown("bk"), func(id string) any { return quoting(id, "0.1", question{"kind": "count"}) }},
	}
	rng := rand.New(rand.NewPCG(5, 5))
	var seconds [2][]float64
	for _, p := range pairs {
		of := map[bool]string{false: p.theirs, true: p.unknown}
		var at [2][]float64
		for range times {
			var got [2]*reply
			for k, first := 0, rng.IntN(2); k < 2; k++ {
				i := (first + k) % 2
				id := of[i == 1]
				got[i] = spy.send(t.Context(), p.method, fmt.Sprintf(p.path, id), p.body(id))
				if got[i].err != nil {
					t.Fatal(got[i].err)
				}
				at[i] = append(at[i], got[i].took.Seconds())
			}
			a, b := unnamed(string(got[0].body)), unnamed(string(got[1].body))
			if got[0].status != got[1].status || a != b || len(got[0].body) != len(got[1].body) {
				t.Fatalf("%s %s of another: %s\nunknown: %s", p.method, p.path, got[0], got[1])
			}
			for name := range got[0].header {
				if name != "Date" && unnamed(got[0].header.Get(name)) != unnamed(got[1].header.Get(name)) {
					t.Errorf("%s %s: the header %s differs: %q, %q", p.method, p.path, name, got[0].header.Get(name), got[1].header.Get(name))
				}
			}
		}
		if statistic, _ := welch(at[0], at[1]); statistic > most || statistic < -most {
			t.Errorf("%s %s: objects of others answer at another time than unknown ones: t = %.2f", p.method, p.path, statistic)
		}
		for i := range at {
			seconds[i] = append(seconds[i], at[i]...)
		}
	}
	// A quote of another does not pay, for either of them.
	if r := spy.pay(t.Context(), quoteOf, "stolen"); r.err != nil || r.status < 400 || r.status >= 500 {
		t.Errorf("the quote of another: %s", r)
	}
	if b := u.book(t, theirs.book); b.Spent != spent {
		t.Errorf("it was charged: %+v, before %+v", b.Spent, spent)
	}
	// Lists hold what is the spy's own.
	var entries struct {
		Items []struct {
			Account *struct{ Principal string }
		}
	}
	spy.must(t, 200, "GET", "/books/"+shared.book+"/entries", nil, &entries)
	for _, e := range entries.Items {
		if e.Account != nil && e.Account.Principal != spy.id {
			t.Errorf("the spy sees an entry of %s", e.Account.Principal)
		}
	}
	var answers struct{ Items []struct{ ID string } }
	if spy.must(t, 200, "GET", "/answers", nil, &answers); len(answers.Items) > 0 {
		t.Errorf("the spy sees %d answers", len(answers.Items))
	}
	statistic, standardError := welch(seconds[0], seconds[1])
	t.Logf("%d requests each to %d addresses: same bodies, headers and lengths; Welch t of all = %.2f, a difference of %.3f ms would be "+
		"found (t = 4.5)",
		times, len(pairs), statistic, 4.5*standardError*1000)
}

// The objects of another analyst answer as objects that do not exist.
func TestStrangers(t *testing.T) {
	short(t)
	testStrangers(t, 12, 8) // t of so few is beyond 8 with a chance below 1e-6
}

func TestLongServedStrangers(t *testing.T) {
	randtest.Long(t)
	testStrangers(t, 2000, 4.5)
}
