package query

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

// benchTable has n records: a whole number and one of 16 words.
func benchTable(b *testing.B, n int) (*table.Table, []table.Field) {
	b.Helper()
	fields := []table.Field{{Name: "age", Type: table.Integer}, {Name: "word", Type: table.Category}, {Name: "who", Type: table.Category}}
	r := rand.New(rand.NewPCG(1, 1))
	t := &table.Table{Rows: n}
	for _, f := range fields {
		c, err := table.NewBuilder(f, nil)
		if err != nil {
			b.Fatal(err)
		}
		for range n {
			switch f.Name {
			case "age":
				c.AppendInt(r.Int64N(90))
			case "who":
				if err := c.Append(strconv.AppendInt(nil, r.Int64N(int64(n)/3+1), 10)); err != nil {
					b.Fatal(err)
				}
			default:
				if err := c.Append([]byte{'a' + byte(r.IntN(16))}); err != nil {
					b.Fatal(err)
				}
			}
		}
		t.Columns = append(t.Columns, c.Column())
	}
	t.Unit = t.Column("who")
	return t, fields
}

func BenchmarkAnswer(b *testing.B) {
	const n = 1_000_000
	t, fields := benchTable(b, n)
	for name, o := range map[string]Options{
		"count":                {Kind: Count},
		"count of 40 and over": {Kind: Count, Where: "age >= 40"},
		"sum":                  {Kind: Sum, Column: "age", Bounds: &Bounds{0, 100}},
		"mean":                 {Kind: Mean, Column: "age", Bounds: &Bounds{0, 100}},
		"variance":             {Kind: Variance, Column: "age", Bounds: &Bounds{0, 100}},
		"histogram":            {Kind: Histogram, Column: "age", Bins: []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}},
		"count where":          {Kind: Count, Where: "age >= 18 and word in ('a', 'b')"},
		"mean by":              {Kind: Mean, Column: "age", Bounds: &Bounds{0, 100}, By: []string{"word"}, Keys: [][]string{{"a"}, {"b"}, {"c"}}},
		"mean of people":       {Kind: Mean, Column: "age", Bounds: &Bounds{0, 100}, Unit: "who", MaxRows: 2, Key: secret},
		"median":               {Kind: Quantile, Column: "age", Bounds: &Bounds{0, 100}},
		"smooth":               {Kind: Quantile, Column: "age", Bounds: &Bounds{0, 100}, Noise: Smooth},
		"smooth, replace-one":  {Kind: Quantile, Column: "age", Bounds: &Bounds{0, 100}, Noise: Smooth, Neighbours: account.ReplaceOne},
		"smooth, epsilon 1e-4": {
			Kind: Quantile, Column: "age", Bounds: &Bounds{0, 100}, Noise: Smooth, Neighbours: account.ReplaceOne,
			Cost: account.Cost{Epsilon: one / 10_000},
		},
	} {
		b.Run(name, func(b *testing.B) {
			o.Fields = fields
			if o.Cost == (account.Cost{}) {
				o.Cost.Epsilon = one / 10
			}
			q, err := New(context.Background(), o)
			if err != nil {
				b.Fatal(err)
			}
			src := randtest.Source(1)
			for b.Loop() {
				if _, err := q.Answer(b.Context(), t, src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}
