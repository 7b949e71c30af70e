package kanon_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// A release that has next to no memory, one worker or several, is the release
// that has plenty, to the last byte; and its temporary files are gone.
func TestMemoryChangesNothing(t *testing.T) {
	randtest.SkipShort(t)
	randtest.Fewer(t, 4)
	testMemory(t)
}

func TestLongMemoryChangesNothing(t *testing.T) {
	randtest.Long(t)
	testMemory(t)
}

func testMemory(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(120, 900).Draw(t, "n")
		rows := makePeople(n, rapid.Uint64().Draw(t, "table"))
		fields := slices.Clone(people)
		in := filepath.Join(dir, "in.csv")
		byPersons := rapid.Bool().Draw(t, "persons")
		if byPersons { // of four records each
			for i := range rows {
				rows[i][0] = "IDENT-" + rows[i/4*4][1]
			}
		}
		writeCSV(t, in, fields, rows)
		src, err := file.Open(context.Background(), in, file.Options{Delimiter: ',', Encoding: csvio.UTF8})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = src.Close() }()
		seed := rapid.Uint64().Draw(t, "seed")
		out := filepath.Join(dir, rapid.SampledFrom([]string{"out.csv", "out.parquet"}).Draw(t, "output"))
		j := kanon.Job{
			Kept:   []string{"key", "note"},
			Source: src, Schema: table.Schema{Fields: fields}, Missing: []string{"?"},
			Output: kanon.Output{Path: out, Force: true},
			Options: kanon.Options{
				K:       rapid.IntRange(2, 6).Draw(t, "k"),
				Scale:   rapid.SampledFrom([]space.Scaling{space.MinMax, space.ZScore, space.None}).Draw(t, "scale"),
				Refine:  rapid.SampledFrom([]refine.Effort{refine.Off, refine.Fast, refine.Auto}).Draw(t, "refine"),
				Publish: rapid.SampledFrom([]publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares}).Draw(t, "publish"),
				Seed:    &seed,
				Block:   rapid.IntRange(0, 200).Draw(t, "block"),
				Partition: partition.Options{
					Method: rapid.SampledFrom([]partition.Method{partition.Auto, partition.MDAV, partition.VMDAV, partition.Tomobiki, partition.TopDown}).
						Draw(t, "method"),
					Coarse: rapid.IntRange(6, 60).Draw(t, "coarse"),
				},
			},
		}
		if byPersons {
			j.Unit = "name"
		}
		release := func(memory int64, workers int) ([]byte, *kanon.Result) {
			j.Memory, j.Workers = memory, workers
			r := anonymize(t, j)
			r.Seconds = kanon.Seconds{}
			// Whether identifiers repeat is counted where memory allows it.
			r.Uncounted, r.Repeated, r.Verified.Suspected = nil, nil, nil
			return read(t, out), r
		}
		plenty, want := release(0, 1)
		if e := want.Excluded; (e != nil) != j.Publish.Boxes() || e != nil && (e.Sampled != n || e.Tight < e.Shown) {
			t.Fatalf("%s: excluded outsiders %+v of %d records", j.Publish, e, n)
		}
		// 24 bytes a record are what a release needs; a third of them is less
		// than the quasi-identifiers take.
		least := 24
		if j.Publish == publish.Matched {
			// What groups may choose from is held until all are known.
			least += (24 + 12*len(j.Schema.WithRole(table.Quasi))) / j.K
		}
		little, got := release(int64(least*n), 3)
		if !bytes.Equal(plenty, little) {
			t.Fatal("the release depends on the memory")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("the result depends on the memory:\n%s", d)
		}
		if filepath.Ext(out) == ".csv" {
			check(t, j.K, fields, rows, little)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != "in.csv" && e.Name() != "out.csv" && e.Name() != "out.parquet" {
				t.Fatalf("%s is left", e.Name())
			}
		}
	})
}

// What cannot be done in the memory allowed is refused before the work, with
// what it takes.
func TestTooLittleMemory(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	j := job(t, dir, makePeople(300, 1))
	j.Partition.Coarse, j.Memory = 30, 24*300-1
	_, err := kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.Usage {
		t.Errorf("%v", err)
	}

	// Annealing works on the whole table.
	j = job(t, dir, makePeople(40_001, 1))
	j.Refine, j.Memory = refine.Effort{Descend: true, Duration: time.Minute}, 24*40_001
	_, err = kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.Usage {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(j.Output.Path); err == nil {
		t.Error("there is an output")
	}
}

// A table of one block is what the library's parts make of it one after the
// other.
func TestOneBlockIsTheTable(t *testing.T) {
	dir := t.TempDir()
	j := job(t, dir, makePeople(400, 3))
	j.Partition.Coarse, j.Block = 40, 400
	r := anonymize(t, j)

	var fields []table.Field
	for _, f := range people {
		if f.Role == table.Quasi {
			fields = append(fields, f)
		}
	}
	whole, err := table.Read(context.Background(), j.Source, fields, table.ReadOptions{Missing: j.Missing})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.FromTable(whole.Columns, j.Scale)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := partition.Partition(context.Background(), s, partition.Options{K: j.K, Coarse: 40})
	if err != nil {
		t.Fatal(err)
	}
	p, stats, err := refine.Refine(context.Background(), s, p, refine.Options{K: j.K, Effort: refine.Fast})
	if err != nil {
		t.Fatal(err)
	}
	if r.Groups != p.Groups || r.SSE != stats.After || !near(r.SST, s.SST()) {
		t.Errorf("%d groups, SSE %v of %v; want %d, %v of %v", r.Groups, r.SSE, r.SST, p.Groups, stats.After, s.SST())
	}
}

// near is equal but for rounding.
func near(a, b float64) bool { return a-b <= 1e-9*b && b-a <= 1e-9*b }
