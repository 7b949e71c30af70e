package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

const chunkRows = 4096

// reader implements [table.Reader].
type reader struct {
	ctx     context.Context
	src     *Source
	columns []int
	cursors []cursor
	group   int   // the next row group to open
	left    int64 // records left in the open one
	values  []parquet.Value
	chunk   table.Chunk
	rows    int64 // records returned
	err     error // once it has ended
}

// cursor walks through a column's pages of a row group.
type cursor struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	arena  []byte // the bytes of the chunk's texts
	ends   []int
	nested []leafCursor // of a nested column, instead of pages
}

// Open implements [table.Source]. A position that does not exist is an error
// of kind Usage.
func (src *Source) Open(ctx context.Context, columns []int) (table.Reader, error) {
	if columns == nil {
		columns = make([]int, len(src.columns))
		for i := range columns {
			columns[i] = i
		}
	}
	for _, c := range columns {
		if c < 0 || c >= len(src.columns) {
			return nil, &noren.Error{Kind: noren.Usage, Where: src.name, What: fmt.Sprintf("has no column %d, only %d", c+1, len(src.columns))}
		}
	}
	if err := src.unchanged(); err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, src: src, columns: columns, cursors: make([]cursor, len(columns)), values: make([]parquet.Value, chunkRows)}
	r.chunk.Cols = make([]table.Vector, len(columns))
	for i, c := range columns {
		v := &r.chunk.Cols[i]
		v.Kind = src.columns[c].Kind
		switch v.Kind {
		case table.Int:
			v.Ints = make([]int64, 0, chunkRows)
		case table.Float:
			v.Floats = make([]float64, 0, chunkRows)
		default:
			v.Texts = make([][]byte, 0, chunkRows)
			r.cursors[i].ends = make([]int, 0, chunkRows)
		}
	}
	return r, nil
}

// Next implements [table.Reader].
func (r *reader) Next() (*table.Chunk, error) {
	r.rows += int64(r.chunk.Rows)
	r.chunk.Rows = 0
	if r.err != nil {
		return nil, r.err
	}
	if r.err = r.next(); r.err != nil {
		return nil, r.err
	}
	r.chunk.First = r.rows
	return &r.chunk, nil
}

func (r *reader) next() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	for r.left == 0 {
		r.closePages()
		groups := r.src.parquet.RowGroups()
		if r.group == len(groups) {
			if err := r.src.unchanged(); err != nil {
				return err
			}
			return io.EOF
		}
		g := groups[r.group]
		r.group++
		r.left = g.NumRows()
		err := guard(func() error {
			chunks := g.ColumnChunks()
			for i, c := range r.columns {
				o := r.src.origins[c]
				switch {
				case o.empty:
				case o.nested != nil:
					r.cursors[i].nested = make([]leafCursor, o.leaves)
					for j := range o.leaves {
						r.cursors[i].nested[j] = leafCursor{pages: chunks[o.first+j].Pages(), buffer: make([]parquet.Value, nestedValues)}
					}
				default:
					r.cursors[i].pages = chunks[o.first].Pages()
				}
			}
			return nil
		})
		if err != nil {
			return r.src.damaged("the data are damaged", err)
		}
	}
	n := int(min(r.left, chunkRows))
	for i := range r.cursors {
		if err := guard(func() error { return r.fill(i, n) }); err != nil {
			at := noren.Position{File: r.src.name, Field: r.columns[i] + 1, Column: r.src.columns[r.columns[i]].Name}
			what := fmt.Sprintf("the data of records %d to %d are damaged", r.rows+1, r.rows+int64(n))
			if errors.Is(err, parquet.ErrCorrupted) {
				what += " (a checksum does not fit)"
			}
			damaged := r.src.damaged(what, err)
			var e *noren.Error
			if errors.As(damaged, &e) {
				e.Where = at.String()
			}
			return damaged
		}
	}
	r.left -= int64(n)
	r.chunk.Rows = n
	return nil
}

// fill reads the next n values of column i of the chunk.
func (r *reader) fill(i, n int) error {
	c, v := &r.cursors[i], &r.chunk.Cols[i]
	column := r.columns[i]
	v.Ints, v.Floats, v.Texts, v.Null = v.Ints[:0], v.Floats[:0], v.Texts[:0], v.Null[:0]
	c.arena, c.ends = c.arena[:0], c.ends[:0]
	nulls := false
	done := 0
	o := r.src.origins[column]
	switch {
	case o.empty:
		for ; done < n; done++ {
			v.Null = append(v.Null, true)
			c.ends = append(c.ends, 0)
		}
		nulls = true
	case o.nested != nil:
		for ; done < n; done++ {
			null, err := c.takeNested(o.nested)
			if err != nil {
				return err
			}
			v.Null = append(v.Null, null)
			nulls = nulls || null
		}
	}
	for done < n {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return err
			}
			c.page, c.values = page, page.Values()
		}
		m, err := c.values.ReadValues(r.values[:n-done])
		if e := c.take(v, r.values[:m], o.node.Type().Kind(), &o.form, &nulls); e != nil {
			return e
		}
		done += m
		switch {
		case err == io.EOF:
			parquet.Release(c.page)
			c.page, c.values = nil, nil
		case err != nil:
			return err
		case m == 0:
			return io.ErrNoProgress
		}
	}
	if v.Kind == table.Text {
		from := 0
		for _, to := range c.ends {
			v.Texts = append(v.Texts, c.arena[from:to:to])
			from = to
		}
	}
	switch {
	case !nulls:
		v.Null = nil
	case !r.src.columns[column].Nullable:
		return errors.New("a null in a column without")
	}
	return nil
}

// take appends values to v.
func (c *cursor) take(v *table.Vector, values []parquet.Value, physical parquet.Kind, f *form, nulls *bool) error {
	unsigned := physical == parquet.Int32 && f.unsigned
	for i := range values {
		value := &values[i]
		null := value.IsNull()
		v.Null = append(v.Null, null)
		if null {
			*nulls = true
		} else if value.Kind() != physical {
			return errors.New("a value of another type")
		}
		switch v.Kind {
		case table.Int:
			n := int64(0)
			switch {
			case null:
			case physical == parquet.Boolean:
				if value.Boolean() {
					n = 1
				}
			case unsigned:
				n = int64(value.Uint32())
			case physical == parquet.Int32:
				n = int64(value.Int32())
			default:
				n = value.Int64()
			}
			v.Ints = append(v.Ints, n)
		case table.Float:
			f := 0.0
			switch {
			case null:
			case physical == parquet.Float:
				f = float64(value.Float())
			default:
				f = value.Double()
			}
			v.Floats = append(v.Floats, f)
		default:
			switch {
			case null:
			case physical == parquet.Int96:
				n := value.Int96()
				for _, part := range n {
					c.arena = binary.LittleEndian.AppendUint32(c.arena, part)
				}
			default:
				c.arena = append(c.arena, value.ByteArray()...)
			}
			c.ends = append(c.ends, len(c.arena))
		}
	}
	return nil
}

func (r *reader) closePages() {
	for i := range r.cursors {
		c := &r.cursors[i]
		_ = guard(func() error {
			if c.page != nil {
				parquet.Release(c.page)
			}
			if c.pages != nil {
				return c.pages.Close()
			}
			return nil
		})
		for j := range c.nested {
			_ = guard(c.nested[j].close)
		}
		c.page, c.values, c.pages, c.nested = nil, nil, nil, nil
	}
}

// Position implements [table.Reader].
func (r *reader) Position(record, column int) string {
	at := noren.Position{File: r.src.name}
	if record >= 0 && record < r.chunk.Rows {
		at.Record = r.chunk.First + int64(record) + 1
	}
	if column >= 0 && column < len(r.columns) {
		c := r.columns[column]
		at.Field, at.Column = c+1, r.src.columns[c].Name
	}
	return at.String()
}

// Progress implements [table.Reader].
func (r *reader) Progress() float64 {
	if r.src.rows == 0 {
		return 1
	}
	return float64(r.rows+int64(r.chunk.Rows)) / float64(r.src.rows)
}

// Close implements [table.Reader].
func (r *reader) Close() error {
	r.closePages()
	if r.err == nil {
		r.err = &noren.Error{Where: r.src.name, What: "read after Close"}
	}
	return nil
}
