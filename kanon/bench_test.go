package kanon_test

import (
	"context"
	"path/filepath"
	"testing"

	"noren/kanon"
	"noren/kanon/partition"
	"noren/kanon/refine"
	"noren/table"
	"noren/table/file"
)

// BenchmarkAnonymize releases 20,000 records x 5 quasi-identifiers, from the
// file to the verified file. The figures for 1,000,000 records are those of the
// program (internal/cli).
func BenchmarkAnonymize(b *testing.B) {
	const n = 20_000
	dir := b.TempDir()
	writeCSV(b, filepath.Join(dir, "in.csv"), people, makePeople(n, 1))
	src, err := file.Open(context.Background(), filepath.Join(dir, "in.csv"), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	j := kanon.Job{
		Kept:   []string{"key"},
		Source: src, Schema: table.Schema{Fields: people}, Missing: []string{"?"},
		Output:  kanon.Output{Path: filepath.Join(dir, "out.csv"), Force: true},
		Options: kanon.Options{K: 5},
	}
	for _, c := range []struct {
		name   string
		method partition.Method
		effort refine.Effort
	}{{"mondrian", partition.Mondrian, refine.Off}, {"auto, fast", partition.Auto, refine.Fast}} {
		b.Run(c.name, func(b *testing.B) {
			j.Partition.Method, j.Refine = c.method, c.effort
			for b.Loop() {
				anonymize(b, j)
			}
		})
	}
}
