package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/tabletest"
)

// BenchmarkCheck checks a table of 200,000 records with six columns kept.
func BenchmarkCheck(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := bigtable.Write(context.Background(), f, bigtable.Options{Rows: 200_000, Seed: 1, Extra: true}); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	src := tabletest.CSV(b, path)
	defer func() { _ = src.Close() }()
	schema := &table.Schema{}
	for _, c := range src.Columns() {
		f := table.Field{Name: c.Name}
		if slices.Contains([]string{"age", "sex", "region", "education", "occupation", "income"}, c.Name) {
			f.Role = table.Quasi
		}
		schema.Fields = append(schema.Fields, f)
	}
	for b.Loop() {
		if _, err := gate.Check(context.Background(), gate.Request{Source: src, Schema: schema}); err != nil {
			b.Fatal(err)
		}
	}
}
