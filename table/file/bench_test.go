package file_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const benchRows = 1_000_000

// BenchmarkRead reads a table of 1,000,000 x 8 into typed columns.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"Private", "State-gov", "Self-emp-not-inc", "Local-gov", "Never-worked"}
	_, _ = w.WriteString("id,age,sex,date,amount,class,code,zip\n")
	for i := range benchRows {
		_, _ = fmt.Fprintf(w, "%d,%d,%s,20%02d-%02d-%02d,%.2f,%s,%04d,z%d\n", i, rng.IntN(90), []string{"M", "F"}[rng.IntN(2)],
			rng.IntN(24), 1+rng.IntN(12), 1+rng.IntN(28), rng.Float64()*1000, words[rng.IntN(5)], rng.IntN(10000), rng.IntN(1000))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	fields := []table.Field{
		{Name: "id", Type: table.Integer},
		{Name: "age", Type: table.Integer},
		{Name: "sex"},
		{Name: "date", Type: table.Date},
		{Name: "amount", Type: table.Decimal},
		{Name: "class"},
		{Name: "code"},
		{Name: "zip"},
	}
	parquet := filepath.Join(b.TempDir(), "bench.parquet")
	for _, path := range []string{path, parquet} {
		src, err := file.Open(context.Background(), path, file.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Ext(path), func(b *testing.B) {
			for b.Loop() {
				t, err := table.Read(context.Background(), src, fields, table.ReadOptions{Missing: []string{"NA", "?"}})
				if err != nil || t.Rows != benchRows {
					b.Fatal(t, err)
				}
			}
		})
		if path != parquet {
			r, err := src.Open(context.Background(), nil)
			if err != nil {
				b.Fatal(err)
			}
			out, err := file.Create(parquet, src.Columns(), file.DialectFor(parquet, nil))
			if err != nil {
				b.Fatal(err)
			}
			for {
				c, err := r.Next()
				if err != nil {
					break
				}
				if err := out.Write(c); err != nil {
					b.Fatal(err)
				}
			}
			if err := out.Close(); err != nil {
				b.Fatal(err)
			}
			_ = r.Close()
		}
		_ = src.Close()
	}
}
