package privacy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// benchAttribute has n records of a number with about n distinct values.
func benchAttribute(b *testing.B, n int) *Attribute {
	build, err := table.NewBuilder(table.Field{Name: "x", Type: table.Integer}, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		build.AppendInt(rng.Int64N(int64(n)))
	}
	return NewAttribute(build.Column())
}

// BenchmarkHolds checks one class of a column of 100,000 records.
func BenchmarkHolds(b *testing.B) {
	a := benchAttribute(b, 100_000)
	for _, size := range []int{5, 50, 5000} {
		var h Histogram
		for i := range size {
			h.Add(a.Codes[i])
		}
		for _, req := range []Requirement{
			{K: 5, Diversity: &Diversity{L: 3}},
			{K: 5, Diversity: &Diversity{Model: Entropy, L: 3}},
			{K: 5, Diversity: &Diversity{Model: Recursive, L: 3, C: 2}},
			{K: 5, Closeness: &Closeness{T: 0.2}},
		} {
			b.Run(fmt.Sprintf("records=%d/%s", size, req), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					a.Holds(&h, req)
				}
			})
		}
	}
}

// BenchmarkMerge merges classes of five records until one of 5,000 is left.
func BenchmarkMerge(b *testing.B) {
	a := benchAttribute(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		var all Histogram
		for i := 0; i < 5000; i += 5 {
			var h Histogram
			for _, c := range a.Codes[i : i+5] {
				h.Add(c)
			}
			all.Merge(&h)
		}
	}
}
