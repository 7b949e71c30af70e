//go:build unix

package refine_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/tabletest"
)

// block is a cell of a large table and its groups.
type block struct {
	s *space.Space
	p space.Partition
}

// blocksOf are cells of about 3,000 of the first n records of examples/bigtable, as
// blocks of a table of more than two million records are, divided at k = 5.
func blocksOf(b *testing.B, n int, scaling space.Scaling) (blocks []block, sst float64) {
	b.Helper()
	ctx := context.Background()
	var text bytes.Buffer
	if err := bigtable.Write(ctx, &text, bigtable.Options{Rows: int64(n), Seed: 1}); err != nil {
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
	s, err := space.FromTable(t.Columns, scaling)
	if err != nil {
		b.Fatal(err)
	}
	tree, err := partition.NewCellTree(ctx, s, n, 3000, partition.Frequent(5))
	if err != nil {
		b.Fatal(err)
	}
	cells := make([]uint32, n)
	tree.Route(s, cells, 2)
	members := make([][]int32, tree.Cells())
	for i, c := range cells {
		members[c] = append(members[c], int32(i))
	}
	for _, ids := range members {
		sub := s.Subset(ids)
		p, _, err := partition.Partition(ctx, sub, partition.Options{K: 5, Coarse: partition.CoarseOff, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		blocks = append(blocks, block{sub, p})
	}
	return blocks, s.SST()
}

// processor is the processor time of this process in seconds: what others do on the
// machine does not count.
func processor() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Sec+r.Stime.Sec) + 1e-6*float64(r.Utime.Usec+r.Stime.Usec)
}

// What the blocks of a large table cost, in microseconds of processor time a record: near
// lists, the descent with lists that are there already, and a refinement by auto.
func BenchmarkBlocks(b *testing.B) {
	const n = 30_000
	ctx := context.Background()
	each := func(b *testing.B, f func()) {
		runs := 0
		began := processor()
		for b.Loop() {
			f()
			runs++
		}
		b.ReportMetric(1e6*(processor()-began)/float64(runs)/n, "us/record")
		b.ReportMetric(0, "ns/op")
	}
	for _, scaling := range []space.Scaling{space.MinMax, space.ZScore} {
		blocks, sst := blocksOf(b, n, scaling)
		b.Run(scaling.String()+"/near", func(b *testing.B) {
			each(b, func() {
				for _, c := range blocks {
					if _, err := c.s.NearLists(ctx, 24, space.NearOptions{Workers: 1}); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
		refined := func(b *testing.B, effort refine.Effort) {
			var sse float64
			each(b, func() {
				sse = 0
				for _, c := range blocks {
					_, stats, err := refine.Refine(ctx, c.s, c.p, refine.Options{K: 5, Effort: effort, Workers: 1})
					if err != nil {
						b.Fatal(err)
					}
					sse += stats.After
				}
			})
			b.ReportMetric(sse/sst, "loss")
		}
		b.Run(scaling.String()+"/auto, all", func(b *testing.B) { refined(b, refine.Auto) })
		for _, c := range blocks {
			if err := c.s.KeepNear(ctx, 24, space.Cyclic, 1); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(scaling.String()+"/descent", func(b *testing.B) { refined(b, refine.Fast) })
	}
}
