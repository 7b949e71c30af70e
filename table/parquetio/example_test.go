package parquetio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/parquetio"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "visits.parquet")

	columns := []table.StoredColumn{{Name: "age", Kind: table.Int, Nullable: true}, {Name: "diagnosis"}}
	w, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	out, err := parquetio.NewSink(w, path, columns)
	if err != nil {
		panic(err)
	}
	err = out.Write(&table.Chunk{Rows: 2, Cols: []table.Vector{
		{Kind: table.Int, Ints: []int64{34, 0}, Null: []bool{false, true}},
		{Texts: [][]byte{[]byte("J45"), []byte("E11")}},
	}})
	if err := errors.Join(err, out.Close(), w.Close()); err != nil {
		panic(err)
	}

	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	src, err := parquetio.OpenFile(f, parquetio.Options{Name: "visits.parquet"}) // and owns f
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = r.Close() }()
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		for i := range c.Rows {
			for j := range c.Cols {
				column := &src.Columns()[j]
				fmt.Printf("%s: %q\n", column.Name, table.AppendText(nil, column, &c.Cols[j], i))
			}
		}
	}
	// Output:
	// age: "34"
	// diagnosis: "J45"
	// age: ""
	// diagnosis: "E11"
}
