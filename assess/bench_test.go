package assess_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

// million is a table of a million records, four columns of numbers and two of
// words.
func million(b *testing.B) *table.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1_000_000
	t := &table.Table{Rows: n}
	for j := range 6 {
		f := table.Field{Name: "c" + strconv.Itoa(j), Type: table.Integer}
		if j >= 4 {
			f.Type = table.Category
		}
		builder, err := table.NewBuilder(f, nil)
		if err != nil {
			b.Fatal(err)
		}
		for range n {
			if j < 4 {
				builder.AppendInt(int64(rng.NormFloat64() * 1000))
			} else if err := builder.Append([]byte("value " + strconv.Itoa(int(rng.ExpFloat64()*8)))); err != nil {
				b.Fatal(err)
			}
		}
		t.Columns = append(t.Columns, builder.Column())
	}
	return t
}

func BenchmarkClassify(b *testing.B) {
	t := million(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := assess.Classify(t); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	t := million(b)
	for _, rows := range []bool{false, true} {
		name := "bags"
		if rows {
			name = "rows"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := assess.Compare(context.Background(), t, t, assess.CompareOptions{Corresponding: rows}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func sizesOfAMillion() []uint32 {
	rng := rand.New(rand.NewPCG(3, 4))
	var sizes []uint32
	for n := 0; n < 1_000_000; {
		s := uint32(1 + rng.ExpFloat64()*rng.ExpFloat64()*4)
		sizes = append(sizes, s)
		n += int(s)
	}
	return sizes
}

func BenchmarkRisk(b *testing.B) {
	sizes := sizesOfAMillion()
	for b.Loop() {
		if _, err := assess.NewRisk(sizes, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUniqueness(b *testing.B) {
	sizes := sizesOfAMillion()
	for b.Loop() {
		if _, err := assess.EstimateUniqueness(sizes, 0.05); err != nil {
			b.Fatal(err)
		}
	}
}
