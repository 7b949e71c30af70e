package shard_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
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

// With one file and one bucket the release is that of one process, record by record. With
// several files and buckets it is another with the same guarantee, and loses at most 0.5 %
// more.
func TestAsInOneProcess(t *testing.T) {
	schema, text := bigTable(t, 45_000, true)
	s := &setup{schema: schema, text: text, options: defaults(5), bucket: 1 << 40}
	out, single := whole(t, s)
	c, r := execute(t, s, 1, 1)
	if !slices.Equal(rows(t, out), rows(t, c.released(t)...)) {
		t.Error("the records of one bucket are not those of one process")
	}
	if r.Loss != single.Loss || r.Groups != single.Groups || r.NCP != single.NCP || r.GroupSize != single.GroupSize || r.RefinedFrom != single.RefinedFrom {
		t.Errorf("one bucket comes to %v, one process to %v", r, single)
	}
	for _, n := range []int{2, 7} {
		s.bucket = 12_000
		c, r := execute(t, s, n, uint64(n))
		if len(c.released(t)) < 3 {
			t.Errorf("%d files", len(c.released(t)))
		}
		if r.Rows != single.Rows || r.Loss > 1.005*single.Loss || r.AchievedK < 5 {
			t.Errorf("%d files: loss %v of %d records, one process %v of %d", n, r.Loss, r.Rows, single.Loss, single.Rows)
		}
		verified(t, c, schema.Names(table.Quasi), 5)
	}
}
