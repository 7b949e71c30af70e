package bound_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/space"
)

// reference reads a reference data set in the paper's code space: text columns
// by alphabetical rank, without the columns that drop names.
func reference(tb testing.TB, name string, scaling space.Scaling, drop ...string) *space.Space {
	tb.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		tb.Skip("the reference data sets are not here: set NOREN_DATA to their folder")
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var columns [][]float64
	for j, title := range rows[0] {
		if slices.Contains(drop, title) {
			continue
		}
		words := make([]string, len(rows)-1)
		for i, row := range rows[1:] {
			words[i] = row[j]
		}
		ranks := slices.Clone(words)
		slices.Sort(ranks)
		ranks = slices.Compact(ranks)
		x := make([]float64, len(words))
		for i, w := range words {
			if x[i], err = strconv.ParseFloat(w, 64); err != nil {
				break
			}
		}
		for i, w := range words {
			if err != nil {
				rank, _ := slices.BinarySearch(ranks, w)
				x[i] = float64(rank)
			}
		}
		columns = append(columns, x)
	}
	s, err := space.FromMatrix(columns, scaling)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// The dual bound on the reference data sets, after so many seconds as -benchtime
// 1x and BOUND_SECONDS say (5 by default): the loss that no partition gets below,
// in percent, beside the least that is known.
func benchRecords() int {
	n, _ := strconv.Atoi(os.Getenv("BOUND_RECORDS"))
	return n
}

func BenchmarkDual(b *testing.B) {
	limit := 5 * time.Second
	if s, err := strconv.ParseFloat(os.Getenv("BOUND_SECONDS"), 64); err == nil {
		limit = time.Duration(s * float64(time.Second))
	} else if testing.Short() {
		limit = 200 * time.Millisecond // it runs, and its figures say nothing
	}
	for _, c := range []struct {
		file  string
		scale space.Scaling
		drop  []string
		k     int
		known float64 // percent
	}{
		{"census.csv", space.ZScore, nil, 3, 4.668},
		{"census.csv", space.ZScore, nil, 5, 7.250},
		{"census.csv", space.ZScore, nil, 10, 11.380},
		{"tarragona.csv", space.ZScore, nil, 3, 14.467},
		{"tarragona.csv", space.ZScore, nil, 5, 20.156},
		{"tarragona.csv", space.ZScore, nil, 10, 30.123},
		{"eia.csv", space.MinMax, []string{"UTILITYID", "UTILNAME", "YEAR"}, 3, 0.8530},
		{"eia.csv", space.MinMax, []string{"UTILITYID", "UTILNAME", "YEAR"}, 5, 1.6713},
		{"eia.csv", space.MinMax, []string{"UTILITYID", "UTILNAME", "YEAR"}, 10, 3.3582},
		{"adult.csv", space.MinMax, []string{"salary-class"}, 5, 1.06},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.file, c.k), func(b *testing.B) {
			s := reference(b, c.file, c.scale, c.drop...)
			var got bound.Bound
			for b.Loop() {
				var err error
				if got, err = bound.Lower(context.Background(), s, bound.Options{K: c.k, Duration: limit, MostRecords: benchRecords()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*got.Loss, "%-bound")
			b.ReportMetric(c.known, "%-known")
			b.ReportMetric(100*(1-100*got.Loss/c.known), "%-gap")
		})
	}
}

// The simple bound on a million records of eight columns, half of which are
// copies of others.
func BenchmarkSimple(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		numbers := make([][]float64, 8)
		for a := range numbers {
			numbers[a] = make([]float64, n)
			for i := range n / 2 {
				numbers[a][i] = rng.NormFloat64()
				if a > 3 {
					numbers[a][i] = numbers[a-4][i] + 0.2*numbers[a][i]
				}
			}
			copy(numbers[a][n/2:], numbers[a][:n/2])
		}
		s, err := space.New(n, numbers, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bound.Lower(context.Background(), s, bound.Options{K: 5}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
