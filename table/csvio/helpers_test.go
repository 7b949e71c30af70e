package csvio

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// put writes a file of that name into a new folder.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read opens the file at path and returns its header and records.
func read(path string, opts Options) (names []string, rows [][]string, err error) {
	src, err := Open(context.Background(), path, opts)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = src.Close() }()
	return readSource(src, nil)
}

func readSource(src *Source, columns []int) (names []string, rows [][]string, err error) {
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	r, err := src.Open(context.Background(), columns)
	if err != nil {
		return names, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		c, err := r.Next()
		if err == io.EOF {
			return names, rows, nil
		}
		if err != nil {
			return names, rows, err
		}
		if int(c.First) != len(rows) {
			return names, rows, errors.New("the chunk's First is not the number of records before it")
		}
		for i := range c.Rows {
			row := make([]string, len(c.Cols))
			for j := range c.Cols {
				row[j] = string(c.Cols[j].Texts[i])
			}
			rows = append(rows, row)
		}
	}
}

// write writes a table into a file of a new folder.
func write(t testing.TB, d Dialect, names []string, rows [][]string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.csv")
	columns := make([]table.StoredColumn, len(names))
	for i, n := range names {
		columns[i].Name = n
	}
	s, err := Create(path, columns, d)
	if err != nil {
		return path, err
	}
	if err := s.Write(chunkOf(len(names), rows)); err != nil {
		s.Abort()
		return path, err
	}
	return path, s.Close()
}

func chunkOf(columns int, rows [][]string) *table.Chunk {
	c := &table.Chunk{Rows: len(rows), Cols: make([]table.Vector, columns)}
	for _, row := range rows {
		for j, field := range row {
			c.Cols[j].Texts = append(c.Cols[j].Texts, []byte(field))
		}
	}
	return c
}
