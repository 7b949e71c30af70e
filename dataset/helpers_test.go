package dataset

import (
	"bytes"
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

var bg = context.Background()

// memory is a file in memory.
type memory struct {
	*bytes.Reader
	size   int64
	closed bool
	end    int64 // the furthest byte that was read
}

func newMemory(content []byte) *memory {
	return &memory{Reader: bytes.NewReader(content), size: int64(len(content))}
}

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.Reader.ReadAt(p, at)
	m.end = max(m.end, at+int64(n))
	return n, err
}
func (m *memory) Close() error               { m.closed = true; return nil }
func (m *memory) Stat() (fs.FileInfo, error) { return info{m.size}, nil }

type info struct{ size int64 }

func (i info) Name() string       { return "memory" }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o600 }
func (i info) ModTime() time.Time { return time.Unix(0, 0) }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// fataler is what rapid and testing have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// grid is a table of texts; nil is null.
type grid struct {
	names []string
	rows  [][]*string
}

func ptr(s string) *string { return &s }

func newGrid(names []string, rows ...[]string) *grid {
	g := &grid{names: names}
	for _, row := range rows {
		cells := make([]*string, len(row))
		for i := range row {
			cells[i] = ptr(row[i])
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// write writes the grid in the format of the name.
func (g *grid) write(t fataler, name string, d csvio.Dialect) []byte {
	t.Helper()
	columns := make([]table.StoredColumn, len(g.names))
	chunk := &table.Chunk{Rows: len(g.rows), Cols: make([]table.Vector, len(g.names))}
	for i := range columns {
		columns[i] = table.StoredColumn{Name: g.names[i]}
		v := &chunk.Cols[i]
		v.Null = make([]bool, len(g.rows))
		for r, row := range g.rows {
			text := []byte(nil)
			if row[i] == nil {
				v.Null[r], columns[i].Nullable = true, true
			} else {
				text = []byte(*row[i])
			}
			v.Texts = append(v.Texts, text)
		}
		if !columns[i].Nullable {
			v.Null = nil
		}
	}
	var out bytes.Buffer
	sink, err := file.NewSink(&out, name, columns, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(chunk); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// permuted is the grid with its columns and rows in another order.
func (g *grid) permuted(columns, rows []int) *grid {
	out := &grid{}
	for _, c := range columns {
		out.names = append(out.names, g.names[c])
	}
	for _, r := range rows {
		row := make([]*string, len(columns))
		for i, c := range columns {
			row[i] = g.rows[r][c]
		}
		out.rows = append(out.rows, row)
	}
	return out
}

var testKeys = KeysOf(func(purpose string) []byte { return append([]byte("a secret of these tests: "), purpose...) })

func complete(t fataler, d Definition) *Definition {
	t.Helper()
	out, err := d.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func openBytes(t fataler, content []byte, d *Definition) file.Source {
	t.Helper()
	src, err := Open(bg, newMemory(content), "in.csv", d)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func openString(t testing.TB, text string, d *Definition) file.Source {
	t.Helper()
	return openBytes(t, []byte(text), d)
}
