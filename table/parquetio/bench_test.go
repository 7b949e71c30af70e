package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// benchTable writes 1,003,520 records of 4 whole numbers and 4 texts.
func benchTable(path string) error {
	var columns []table.StoredColumn
	chunk := &table.Chunk{Rows: 4096}
	for j := range 8 {
		column, v := table.StoredColumn{Name: fmt.Sprint("c", j)}, table.Vector{}
		if j%2 == 0 {
			column.Kind, v.Kind = table.Int, table.Int
		}
		for i := range chunk.Rows {
			if j%2 == 0 {
				v.Ints = append(v.Ints, int64(i*7919%(1000*j+100)))
			} else {
				v.Texts = append(v.Texts, fmt.Append(nil, "text ", i*7919%(100*j*j)))
			}
		}
		columns, chunk.Cols = append(columns, column), append(chunk.Cols, v)
	}
	s, err := Create(path, columns)
	if err != nil {
		return err
	}
	for range 245 {
		if err := s.Write(chunk); err != nil {
			return err
		}
	}
	return s.Close()
}

func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		if err := benchTable(filepath.Join(b.TempDir(), "bench.parquet")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.parquet")
	if err := benchTable(path); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		src, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := src.Open(context.Background(), nil)
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for {
			c, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += c.Rows
		}
		if err := errors.Join(r.Close(), src.Close()); err != nil || rows != 245*4096 {
			b.Fatal(rows, err)
		}
	}
}
