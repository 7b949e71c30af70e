package spool

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// Source is a table that is kept. It may be read by several readers at a time.
// Close removes the file.
type Source struct {
	o       Options
	file    *tempfile.File
	size    int64
	rows    int64
	totals  int64
	columns []table.StoredColumn
	shapes  []shape
}

var _ table.Source = (*Source)(nil)

// Name implements [table.Source].
func (src *Source) Name() string { return src.o.Name }

// Place is where the table is: its file, and the sheet or table in it.
func (src *Source) Place() noren.Place { return src.o.place() }

// Columns implements [table.Source].
func (src *Source) Columns() []table.StoredColumn { return src.columns }

// Rows is the number of records.
func (src *Source) Rows() int64 { return src.rows }

// Totals is how many rows look like totals or notes below a table and not like records. All of them
// are in the table: a format that has such rows leaves them out before.
func (src *Source) Totals() int64 { return src.totals }

// Close removes the table. Readers that are still open fail.
func (src *Source) Close() error { return src.file.Close() }

// A chunk ends after chunkRows records, or after the one with which they take chunkBytes.
const (
	chunkRows  = 4096
	chunkBytes = 16 << 20
)

// Open implements [table.Source]. A position that does not exist is an error of
// kind Usage.
func (src *Source) Open(ctx context.Context, columns []int) (table.Reader, error) {
	if columns == nil {
		columns = make([]int, len(src.columns))
		for i := range columns {
			columns[i] = i
		}
	}
	r := &reader{
		ctx: ctx, src: src, columns: columns, in: bufio.NewReaderSize(io.NewSectionReader(src.file, 0, src.size), 256<<10),
		wanted: make([][]int, len(src.columns)),
	}
	r.chunk.Cols = make([]table.Vector, len(columns))
	r.arenas = make([]arena, len(columns))
	for i, c := range columns {
		if c < 0 || c >= len(src.columns) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: src.o.place(), What: "has no column %d, only %d",
				Args: []any{c + 1, len(src.columns)},
			}
		}
		r.wanted[c] = append(r.wanted[c], i)
		r.chunk.Cols[i].Kind = src.shapes[c].kind
	}
	return r, nil
}

// arena holds the texts of a column of a chunk.
type arena struct {
	bytes []byte
	ends  []int
	null  []bool
	some  bool // some are null
}

type reader struct {
	ctx     context.Context
	src     *Source
	columns []int
	wanted  [][]int // by column of the table, where its cells go
	in      *bufio.Reader
	row     []byte
	arenas  []arena
	chunk   table.Chunk
	lines   []int64
	line    int64
	read    int64 // bytes
	rows    int64
}

// Next implements [table.Reader].
func (r *reader) Next() (*table.Chunk, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	r.rows += int64(r.chunk.Rows)
	r.chunk.First, r.chunk.Rows, r.lines = r.rows, 0, r.lines[:0]
	for i := range r.chunk.Cols {
		v, a := &r.chunk.Cols[i], &r.arenas[i]
		v.Null, v.Ints, v.Floats, v.Texts = nil, v.Ints[:0], v.Floats[:0], v.Texts[:0]
		a.bytes, a.ends, a.null, a.some = a.bytes[:0], a.ends[:0], a.null[:0], false
	}
	for from := r.read; r.chunk.Rows < chunkRows && r.read-from < chunkBytes; {
		err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, &noren.Error{Where: r.src.o.place(), What: "the temporary file cannot be read back", Err: atomicfile.Reason(err)}
		}
		r.chunk.Rows++
	}
	if r.chunk.Rows == 0 {
		return nil, io.EOF
	}
	for i := range r.chunk.Cols {
		v, a := &r.chunk.Cols[i], &r.arenas[i]
		if a.some {
			v.Null = a.null
		}
		if v.Kind == table.Text {
			from := 0
			for _, to := range a.ends {
				v.Texts = append(v.Texts, a.bytes[from:to:to])
				from = to
			}
		}
	}
	return &r.chunk, nil
}

var errDamaged = errors.New("the file is damaged")

// next takes one row.
func (r *reader) next() error {
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err // io.EOF at the end
	}
	delta, err := binary.ReadUvarint(r.in)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	if uint64(cap(r.row)) < n {
		if n > uint64(r.src.size) {
			return errDamaged
		}
		r.row = make([]byte, n)
	}
	row := r.row[:n]
	if _, err := io.ReadFull(r.in, row); err != nil {
		return io.ErrUnexpectedEOF
	}
	r.read += int64(n) + 2
	r.line += int64(delta)
	r.lines = append(r.lines, r.line)
	for c := range r.src.columns {
		if len(row) == 0 {
			return errDamaged
		}
		t := Tag(row[0])
		row = row[1:]
		var bits uint64
		var text []byte
		switch {
		case t == Null:
		case t.isText():
			n, size := binary.Uvarint(row)
			if size <= 0 || n > uint64(len(row)-size) {
				return errDamaged
			}
			text, row = row[size:size+int(n)], row[size+int(n):]
		default:
			if len(row) < 8 {
				return errDamaged
			}
			bits, row = binary.LittleEndian.Uint64(row), row[8:]
		}
		for _, i := range r.wanted[c] {
			r.put(i, &r.src.shapes[c], t, bits, text)
		}
	}
	return nil
}

// put adds a cell to column i of the chunk.
func (r *reader) put(i int, s *shape, t Tag, bits uint64, text []byte) {
	v, a := &r.chunk.Cols[i], &r.arenas[i]
	a.null = append(a.null, t == Null)
	a.some = a.some || t == Null
	switch s.kind {
	case table.Int:
		n := int64(bits)
		if s.tag == Instant && t == Day {
			n *= perDay
		}
		v.Ints = append(v.Ints, n)
	case table.Float:
		f := math.Float64frombits(bits)
		if t == Integer {
			f = float64(int64(bits))
		}
		v.Floats = append(v.Floats, f)
	default:
		switch {
		case t == Null:
		case s.logical.Of != table.Mixed:
			a.bytes = append(a.bytes, text...)
		case t.isText():
			a.bytes = append(append(a.bytes, byte(t)), text...)
		default:
			a.bytes = appendShown(append(a.bytes, byte(t)), t, bits)
		}
		a.ends = append(a.ends, len(a.bytes))
	}
}

// Position implements [table.Reader].
func (r *reader) Position(record, column int) noren.Place {
	at := noren.Position{File: r.src.o.place(), Field: r.columns[column] + 1, Column: r.src.columns[r.columns[column]].Name}
	switch {
	case record < 0 || record >= len(r.lines):
	case r.src.o.Rows:
		at.Row = r.lines[record]
	default:
		at.Record = r.lines[record]
	}
	return at.Place()
}

// Progress implements [table.Reader].
func (r *reader) Progress() float64 {
	if r.src.size == 0 {
		return 1
	}
	return min(1, float64(r.read)/float64(r.src.size))
}

// Close implements [table.Reader].
func (r *reader) Close() error { return nil }

// showSingle shows floating point of 32 bits with the digits that it needs.
func showSingle(dst []byte, v *table.Vector, i int) []byte {
	f := v.Floats[i]
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, 32)
}
