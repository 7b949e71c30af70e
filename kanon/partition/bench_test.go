package partition_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/tabletest"
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
		if p, _, err = partition.Partition(context.Background(), s, o); err != nil {
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

// BenchmarkCells cuts 50,000 records of examples/bigtable into cells of 1,000 or
// more and divides each by MDAV. A code counts for a cut where it has records for
// that many groups; the loss shows the effect. "mondrian" is the paper's cut.
func BenchmarkCells(b *testing.B) {
	ctx := context.Background()
	const n, k, least = 50_000, 5, 1000
	s := bigSpace(b, n)
	inCells := func(b *testing.B, cells []uint32, count int) float64 {
		members := make([][]int32, count)
		for i, c := range cells {
			members[c] = append(members[c], int32(i))
		}
		var sse float64
		for _, ids := range members {
			sub := s.Subset(ids)
			p, _, err := partition.Partition(ctx, sub, partition.Options{K: k, Method: partition.MDAV, Coarse: partition.CoarseOff})
			if err != nil {
				b.Fatal(err)
			}
			sse += sub.SSE(p)
		}
		return sse / s.SST()
	}
	for _, groups := range []int{1, 10, 40, 160, 1 << 20} {
		b.Run(fmt.Sprintf("records for %d groups", groups), func(b *testing.B) {
			var loss float64
			for b.Loop() {
				tree, err := partition.NewCellTree(ctx, s, n, least, groups*k)
				if err != nil {
					b.Fatal(err)
				}
				cells := make([]uint32, n)
				tree.Route(s, cells, 1)
				loss = inCells(b, cells, tree.Cells())
			}
			b.ReportMetric(loss, "loss")
		})
	}
	b.Run("mondrian", func(b *testing.B) {
		var loss float64
		for b.Loop() {
			p, _, err := partition.Partition(ctx, s, partition.Options{K: least, Method: partition.Mondrian})
			if err != nil {
				b.Fatal(err)
			}
			loss = inCells(b, p.Group, p.Groups)
		}
		b.ReportMetric(loss, "loss")
	})
}

// BenchmarkRoute finds the cells of a million records.
func BenchmarkRoute(b *testing.B) {
	const n = 1_000_000
	s := bigSpace(b, n)
	tree, err := partition.NewCellTree(context.Background(), s, n, 3000, partition.Frequent(5))
	if err != nil {
		b.Fatal(err)
	}
	cells := make([]uint32, n)
	for b.Loop() {
		tree.Route(s, cells, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}

// bigSpace is the space of the first n records of examples/bigtable.
func bigSpace(b *testing.B, n int64) *space.Space {
	b.Helper()
	ctx := context.Background()
	var text bytes.Buffer
	if err := bigtable.Write(ctx, &text, bigtable.Options{Rows: n, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "big.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	src := tabletest.CSV(b, path)
	defer func() { _ = src.Close() }()
	t, err := table.Read(ctx, src, bigtable.Schema(bigtable.Options{}).Fields, table.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := space.FromTable(t.Columns, space.MinMax)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
