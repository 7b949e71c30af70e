package csvio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// A file is opened once and read as often as is needed, here the column of the
// ages alone.
func ExampleOpenFile() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(path, []byte("name;age\nA;34\nB;57\n"), 0o600); err != nil {
		panic(err)
	}

	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	src, err := csvio.OpenFile(context.Background(), f, csvio.Options{Name: "visits.csv"}) // and owns f
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	fmt.Printf("delimiter %q\n", src.Dialect().Delimiter)

	r, err := src.Open(context.Background(), []int{1})
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
			fmt.Printf("%s: %s\n", r.Position(i, 0), c.Cols[0].Texts[i])
		}
	}
	// Output:
	// delimiter ';'
	// visits.csv: line 2, column 2 (age): 34
	// visits.csv: line 3, column 2 (age): 57
}

func ExampleNewSink() {
	columns := []table.StoredColumn{{Name: "age"}, {Name: "note"}}
	out, err := csvio.NewSink(os.Stdout, "standard output", columns, csvio.Dialect{})
	if err != nil {
		panic(err)
	}
	err = out.Write(&table.Chunk{Rows: 2, Cols: []table.Vector{
		{Texts: [][]byte{[]byte("34"), []byte("57")}},
		{Texts: [][]byte{[]byte("well, mostly"), []byte("fine")}},
	}})
	if err != nil {
		panic(err)
	}
	if err := out.Close(); err != nil {
		panic(err)
	}
	// Output:
	// age,note
	// 34,"well, mostly"
	// 57,fine
}
