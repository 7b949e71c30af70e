package refine_test

import (
	"context"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// adult is the Adult table, 30,162 x 8, in the paper's code space.
func adult(b *testing.B) *space.Space {
	b.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	f, err := os.Open(filepath.Join(dir, "adult.csv"))
	if err != nil {
		b.Skip("the reference data sets are not here: set NOREN_DATA to their folder")
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	rows = rows[1:]
	columns := make([][]float64, 8)
	for a := range columns {
		words := make([]string, len(rows))
		for i, row := range rows {
			words[i] = row[a]
		}
		slices.Sort(words)
		words = slices.Compact(words)
		columns[a] = make([]float64, len(rows))
		for i, row := range rows {
			if a == 0 { // age
				if columns[a][i], err = strconv.ParseFloat(row[a], 64); err != nil {
					b.Fatal(err)
				}
				continue
			}
			at, _ := slices.BinarySearch(words, row[a])
			columns[a][i] = float64(at)
		}
	}
	s, err := space.FromMatrix(columns, space.MinMax)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// heaps is n records of five numbers and three categories around many centres.
func heaps(b *testing.B, n int) *space.Space {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := make([][]float64, 5)
	words := make([]space.Categorical, 3)
	for a := range numbers {
		numbers[a] = make([]float64, n)
	}
	for a := range words {
		words[a] = space.Categorical{Codes: make([]uint32, n), Cardinality: 8, Weight: 1}
	}
	for i := range n {
		kind := rng.IntN(40)
		for a := range numbers {
			numbers[a][i] = float64((kind*(a+3))%11)/11 + 0.1*rng.NormFloat64()
		}
		for a := range words {
			words[a].Codes[i] = uint32((kind + rng.IntN(2)*rng.IntN(8)) % 8)
		}
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchmark(b *testing.B, s *space.Space, method partition.Method) {
	const k = 5
	p, _, err := partition.Partition(context.Background(), s, partition.Options{K: k, Method: method})
	if err != nil {
		b.Fatal(err)
	}
	sst := s.SST()
	var stats refine.Stats
	b.ReportAllocs()
	for b.Loop() {
		if _, stats, err = refine.Refine(context.Background(), s, p, refine.Options{K: k, Effort: refine.Fast}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(stats.Before/sst, "loss-before")
	b.ReportMetric(stats.After/sst, "loss")
}

// The descent of --refine fast at k = 5, from the default start and from the
// cheapest.
func BenchmarkAdult(b *testing.B) {
	s := adult(b)
	for _, m := range []partition.Method{partition.Tomobiki, partition.Mondrian} {
		b.Run(m.String(), func(b *testing.B) { benchmark(b, s, m) })
	}
}

// 100,000 x 8 at k = 5, likewise.
func BenchmarkLarge(b *testing.B) {
	s := heaps(b, 100_000)
	for _, m := range []partition.Method{partition.Tomobiki, partition.Mondrian} {
		b.Run(m.String(), func(b *testing.B) { benchmark(b, s, m) })
	}
}
