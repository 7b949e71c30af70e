package partition_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"noren/kanon/partition"
	"noren/kanon/space"
	"noren/table"
)

// adultTable is the Adult table's eight quasi-identifiers, 30,162 records: age
// a number, the others categories.
func adultTable(tb testing.TB) *space.Space {
	tb.Helper()
	f, err := os.Open(filepath.Join(dataDir(tb), "adult.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var columns []*table.Column
	for a, name := range rows[0][:8] {
		kind := table.Category
		if name == "age" {
			kind = table.Integer
		}
		at := 0
		columns = append(columns, build(tb, field(name, kind), len(rows)-1, func() string { at++; return rows[at][a] }))
	}
	return fromTable(tb, columns...)
}

// synthetic is n records of five numbers, some of them whole, and three
// categories, about forty kinds of people.
func synthetic(tb testing.TB, n int) *space.Space {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	axes := make([][]float64, 5)
	for a := range axes {
		axes[a] = make([]float64, n)
	}
	words := make([]space.Categorical, 3)
	for a := range words {
		words[a] = space.Categorical{Codes: make([]uint32, n), Cardinality: 4 + 8*a, Weight: 1}
	}
	for i := range n {
		kind := rng.IntN(40)
		for a := range axes {
			axes[a][i] = float64((kind*(a+3))%11)/11 + 0.1*rng.NormFloat64()
			if a < 2 {
				axes[a][i] = float64(int(50*axes[a][i])) / 50
			}
		}
		for a := range words {
			code := kind
			if rng.IntN(4) == 0 {
				code = rng.IntN(40)
			}
			words[a].Codes[i] = uint32(code % words[a].Cardinality)
		}
	}
	s, err := space.New(n, axes, words)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func benchmark(b *testing.B, s *space.Space, o partition.Options) {
	var p space.Partition
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if p, _, err = partition.Partition(context.Background(), s, o, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(p.Groups), "groups")
	b.ReportMetric(s.Loss(p), "loss")
}

// The whole of Adult at k = 5, as mixed data and in the paper's code space.
func BenchmarkAdult(b *testing.B) {
	spaces := map[string]*space.Space{
		"mixed": adultTable(b),
		"codes": codeSpace(b, "adult.csv", func(c string) bool { return c != "salary-class" }, space.MinMax),
	}
	for _, name := range []string{"mixed", "codes"} {
		for _, method := range methods {
			b.Run(fmt.Sprintf("%s/%v", name, method), func(b *testing.B) {
				benchmark(b, spaces[name], partition.Options{K: 5, Method: method, Coarse: partition.CoarseOff})
			})
		}
	}
}

// 100,000 x 8 at k = 5, coarse cells chosen by size: as the program does it.
func BenchmarkLarge(b *testing.B) {
	s := synthetic(b, 100_000)
	for _, method := range methods {
		b.Run(method.String(), func(b *testing.B) {
			benchmark(b, s, partition.Options{K: 5, Method: method})
		})
	}
}
