package shard_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

// whole releases the table of a setup in one process.
func whole(t testing.TB, s *setup) (string, *kanon.Result) {
	t.Helper()
	ctx := context.Background()
	src, err := file.Open(ctx, split(t, s.text, 1)[0], file.Options{Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	out := filepath.Join(t.TempDir(), "out.csv")
	var kept []string
	for _, f := range s.schema.Fields {
		kept = append(kept, f.Name)
	}
	r, err := kanon.Anonymize(ctx, kanon.Job{Source: src, Schema: *s.schema, Kept: kept, Options: s.options, Output: kanon.Output{Path: out}})
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

// verified has the folder of a release verified as one table, and each file alone.
func verified(t testing.TB, c *cluster, quasi []string, k int) {
	t.Helper()
	ctx := context.Background()
	if err := parts.CheckManifest(ctx, c.Folder); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(c.released(t), c.Folder) {
		src, err := file.Open(ctx, path, file.Options{Delimiter: ','})
		if err != nil {
			t.Fatal(err)
		}
		v, err := verify.Verify(ctx, src, verify.Options{Quasi: quasi, Requirement: privacy.Requirement{K: k}})
		_ = src.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !v.Met {
			t.Fatalf("%s: %v", path, v.Failures)
		}
	}
}

// near tells whether two figures are equal but for the order of their sums.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) }

// small is a table that is cut into several cells and buckets.
func small(t testing.TB, k int) *setup {
	t.Helper()
	schema, text := bigTable(t, 3_000, true)
	s := &setup{schema: schema, text: text, options: defaults(k), bucket: 800}
	s.options.Partition.Coarse, s.options.Block = 100, 200
	return s
}

// With one file and one bucket the release is that of one process, record by record,
// whatever is published and however columns are scaled. With several files and buckets it
// is another with the same guarantee.
func TestAsInOneProcess(t *testing.T) {
	randtest.SkipShort(t)
	s := small(t, 5)
	quasi := s.schema.Names(table.Quasi)
	for _, c := range []struct {
		name  string
		alter func(o *kanon.Options)
	}{
		{"aggregate, zscore", func(*kanon.Options) {}},
		{"aggregate, minmax", func(o *kanon.Options) { o.Scale = space.MinMax }},
		{"aggregate, none, mdav", func(o *kanon.Options) { o.Scale, o.Partition.Method = space.None, partition.MDAV }},
		{"generalize", func(o *kanon.Options) { o.Publish = publish.Generalize }},
		{"generalize, fixed", func(o *kanon.Options) { o.Publish, o.Ranges = publish.Generalize, publish.Fixed }},
		{"shares", func(o *kanon.Options) { o.Publish = publish.Shares }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "aggregate, zscore" {
				randtest.SkipShort(t)
			}
			s := *s
			c.alter(&s.options)
			s.bucket = 1 << 40
			out, single := whole(t, &s)
			one, r := execute(t, &s, 1, 1)
			if !slices.Equal(rows(t, out), rows(t, one.released(t)...)) {
				t.Error("the records of one bucket are not those of one process")
			}
			if r.Groups != single.Groups || r.GroupSize != single.GroupSize || r.Classes != single.Classes || r.AchievedK != single.AchievedK ||
				!near(r.Loss, single.Loss) || !near(r.NCP, single.NCP) || !near(r.RefinedFrom, single.RefinedFrom) || r.Objective != single.Objective {
				t.Errorf("one bucket comes to %+v, one process to %+v", r, single)
			}
			if diff := cmp.Diff(single.Excluded, r.Excluded); diff != "" {
				t.Error(diff)
			}
			s.bucket = 800
			several, r := execute(t, &s, 2, 2)
			if n := len(several.released(t)); n < 3 {
				t.Errorf("%d files", n)
			}
			if r.Rows != single.Rows || r.AchievedK < 5 || r.Loss > 1.05*single.Loss {
				t.Errorf("loss %v of %d records, one process %v of %d", r.Loss, r.Rows, single.Loss, single.Rows)
			}
			if diff := cmp.Diff(single.Guarantee, r.Guarantee); diff != "" {
				t.Error(diff)
			}
			if e := r.Excluded; e != nil && (math.Abs(e.Shown-single.Excluded.Shown) > 0.1 || e.Sampled != single.Excluded.Sampled) {
				t.Errorf("excluded %+v, one process %+v", e, single.Excluded)
			}
			verified(t, several, quasi, 5)
			// Columns that are kept are as they were.
			if !slices.Equal(kept(t, s.schema, out), kept(t, s.schema, several.released(t)...)) {
				t.Error("kept columns have changed")
			}
		})
	}
}

// kept are the kept columns of released CSV files, sorted by record.
func kept(t testing.TB, schema *table.Schema, paths ...string) []string {
	t.Helper()
	var of []int
	at := 0
	for _, f := range schema.Fields {
		switch f.Role {
		case table.Identifier:
			continue
		case table.Other, table.Sensitive:
			of = append(of, at)
		}
		at++
	}
	var out []string
	for _, row := range rows(t, paths...) {
		cells := strings.Split(row, "\x00")
		own := ""
		for _, i := range of {
			own += cells[i] + "\x00"
		}
		out = append(out, own)
	}
	slices.Sort(out)
	return out
}

// On a large table several files and buckets lose at most 0.5 % more than one process.
func TestLongLoss(t *testing.T) {
	randtest.Long(t)
	schema, text := bigTable(t, 500_000, false)
	s := &setup{schema: schema, text: text, options: defaults(5), bucket: 100_000}
	_, single := whole(t, s)
	c, r := execute(t, s, 8, 1)
	t.Logf("loss %v, one process %v", r.Loss, single.Loss)
	if r.Loss > 1.005*single.Loss {
		t.Errorf("loss %v, one process %v", r.Loss, single.Loss)
	}
	verified(t, c, schema.Names(table.Quasi), 5)
}
