package assess_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

// peopleTable has n records of an age and a town that goes with it.
func peopleTable(t *testing.T, n int, show func(age int, town string) (string, string), fields ...table.Field) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var ages, towns []string
	for range n {
		age := 18 + min(rng.IntN(60), rng.IntN(60), rng.IntN(60))
		town := []string{"A", "B", "C", "D"}[min(3, (age-18)/20+rng.IntN(2))]
		x, y := show(age, town)
		ages, towns = append(ages, x), append(towns, y)
	}
	return tableOf(column(t, fields[0], ages...), column(t, fields[1], towns...))
}

func TestQueriesOfTheTableItself(t *testing.T) {
	number, words := table.Field{Name: "age", Type: table.Integer}, table.Field{Name: "town", Type: table.Category}
	same := peopleTable(t, 2000, func(age int, town string) (string, string) { return strconv.Itoa(age), town }, number, words)
	q, err := assess.AskQueries(context.Background(), same, same, assess.QueryOptions{Count: 100})
	if err != nil || q.Mean != 0 || q.Median != 0 || q.Count != 100 {
		t.Fatalf("%+v, %v: want no error", q, err)
	}
	if len(q.Columns) != 2 || len(q.Pairs) != 1 || q.Pairs[0].Asked != 100 {
		t.Errorf("%+v", q)
	}
}

// What a release says of a class is used: ranges are worse than ranges with
// means, and these than the values; sets are worse than shares.
func TestQueriesReadCells(t *testing.T) {
	number, text, words := table.Field{Name: "age", Type: table.Integer}, table.Field{Name: "age", Type: table.Category}, table.Field{
		Name: "town", Type: table.Category,
	}
	original := peopleTable(t, 4000, func(age int, town string) (string, string) { return strconv.Itoa(age), town }, number, words)
	ask := func(show func(age int, town string) (string, string)) float64 {
		t.Helper()
		q, err := assess.AskQueries(context.Background(), original, peopleTable(t, 4000, show, text, words),
			assess.QueryOptions{Count: 300, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		return q.Mean
	}
	exact := ask(func(age int, town string) (string, string) { return strconv.Itoa(age), town })
	mean := 32.2 // of the least of three numbers from 18 to 77
	ranged := ask(func(int, string) (string, string) { return "[18-77]", "{A, B, C, D}" })
	meant := ask(func(int, string) (string, string) {
		return "[18-77] mean " + strconv.FormatFloat(mean, 'f', 1, 64), "{A, B, C, D}"
	})
	shared := ask(func(int, string) (string, string) { return "[18-77]", "{A 0.40, B 0.45, C 0.13, D 0.02}" })
	if exact != 0 || !(meant < ranged) || !(shared < ranged) {
		t.Errorf("errors: exact %g, ranges with means %g, shares %g, ranges %g", exact, meant, shared, ranged)
	}
}

// The mean over many more questions lies in the interval of about 95 of 100 seeds; with
// fewer than 85 the interval would be wrong (probability below 1e-4 at 95 %).
func TestQueriesInterval(t *testing.T) {
	number, words := table.Field{Name: "age", Type: table.Integer}, table.Field{Name: "town", Type: table.Category}
	original := peopleTable(t, 1000, func(age int, town string) (string, string) { return strconv.Itoa(age), town }, number, words)
	release := peopleTable(t, 1000, func(age int, town string) (string, string) { return strconv.Itoa(age / 15 * 15), town }, number, words)
	ask := func(count int, seed uint64) *assess.Queries {
		t.Helper()
		q, err := assess.AskQueries(context.Background(), original, release, assess.QueryOptions{Count: count, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	truth, in, width := ask(20_000, 1000), 0, 0.0
	for seed := range uint64(100) {
		q := ask(200, seed+1)
		if q.MeanLow <= truth.Mean && truth.Mean <= q.MeanHigh {
			in++
		}
		width += (q.MeanHigh - q.MeanLow) / 100
	}
	if ratio := width / (truth.MeanHigh - truth.MeanLow); in < 85 || ratio < 8 || ratio > 12 {
		t.Errorf("%d of 100 intervals hold the mean; an interval of 200 questions is %.1f times as wide as one of 20,000, want 10 times", in,
			ratio)
	}
}

// Of two records of a town one is 5; shown as any of 0, 5 and 10, two thirds of a
// record are counted.
func TestQueriesCountInParts(t *testing.T) {
	x := table.Field{Name: "x", Type: table.Integer}
	y := table.Field{Name: "y", Type: table.Category}
	original := tableOf(column(t, x, "0", "5", "5", "10"), column(t, y, "a", "a", "b", "b"))
	release := tableOf(column(t, table.Field{Name: "x", Type: table.Category}, "[0-10]", "[0-10]", "[0-10]", "[0-10]"),
		column(t, y, "a", "a", "b", "b"))
	q, err := assess.AskQueries(context.Background(), original, release, assess.QueryOptions{Count: 200})
	if err != nil || q == nil {
		t.Fatalf("%v, %v", q, err)
	}
	if math.Abs(q.Mean-1./3) > 1e-12 || math.Abs(q.Median-1./3) > 1e-12 {
		t.Errorf("mean %g, median %g: want a third", q.Mean, q.Median)
	}
}
