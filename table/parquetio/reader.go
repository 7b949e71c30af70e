package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
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
	most    int // records of a chunk
	meter   *meter.Meter
	unpack  unpacker
	chunk   table.Chunk
	rows    int64 // records returned
	err     error // once it has ended
}

// cursor walks through a column's pages of a row group. It reads a run of values ahead,
// which ends before chunkRows where its texts are long; the chunks that are returned are
// as long as the shortest run that is left.
type cursor struct {
	pages   parquet.Pages
	from    *pages
	page    parquet.Page
	values  parquet.ValueReader
	shared  bool            // the page's values lie in a dictionary
	rest    []parquet.Value // of the page, behind a run that ended early
	own     bool            // in memory of their own
	over    bool            // and behind these the page ends
	arena   arena           // the bytes of the run's texts
	ends    []int
	scratch arena
	share   int          // bytes of texts after which a run ends
	nested  []leafCursor // of a nested column, instead of pages
	run     table.Vector
	at, n   int // the values of run that are still to come
}

// arena is bytes that draw on a meter where they have one.
type arena struct {
	b     []byte
	meter *meter.Meter
}

// grow makes space for n more bytes.
func (a *arena) grow(n int) error {
	if n <= cap(a.b)-len(a.b) || a.meter == nil {
		return nil
	}
	size := max(2*cap(a.b), len(a.b)+n, 1<<10)
	if err := a.meter.Hold(int64(size)); err != nil {
		size = len(a.b) + n
		if err := a.meter.Hold(int64(size)); err != nil {
			return err
		}
	}
	a.meter.Release(int64(cap(a.b)))
	a.b = append(make([]byte, 0, size), a.b...)
	return nil
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
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(src.name), What: "has no column %d, only %d",
				Args: []any{c + 1, len(src.columns)},
			}
		}
	}
	if err := src.unchanged(); err != nil {
		return nil, err
	}
	r := &reader{
		ctx: ctx, src: src, columns: columns, cursors: make([]cursor, len(columns)), values: make([]parquet.Value, chunkRows),
		meter: src.meter.Another(),
	}
	// A quarter of the memory at most is for values that are read ahead, and one for their
	// texts.
	quarter := int(min(r.meter.Held(), 1<<40) / 4)
	r.most = min(max(quarter/max(1, len(columns)*valueSize), 1), chunkRows)
	if err := r.meter.Hold(int64(len(columns)) * (columnSize + int64(r.most)*valueSize)); err != nil {
		return nil, meter.At(err, noren.File(src.name))
	}
	texts := 0
	for _, c := range columns {
		if src.columns[c].Kind == table.Text {
			texts++
		}
	}
	r.chunk.Cols = make([]table.Vector, len(columns))
	for i, c := range columns {
		k := &r.cursors[i]
		k.arena.meter, k.scratch.meter, k.share = r.meter, r.meter, max(quarter/max(1, texts), 1)
		r.chunk.Cols[i].Kind, k.run.Kind = src.columns[c].Kind, src.columns[c].Kind
		switch k.run.Kind {
		case table.Int:
			k.run.Ints = make([]int64, 0, r.most)
		case table.Float:
			k.run.Floats = make([]float64, 0, r.most)
		default:
			k.run.Texts = make([][]byte, 0, r.most)
			k.ends = make([]int, 0, r.most)
		}
	}
	return r, nil
}

// A value that is read ahead takes up to 32 bytes beside its text, and one that says that
// it is null; a column takes what the library keeps for its pages.
const (
	valueSize  = 33
	columnSize = 1 << 10
)

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
						l := &r.cursors[i].nested[j]
						l.buffer = make([]parquet.Value, nestedValues)
						l.from, l.pages = r.open(chunks[o.first+j], o.first+j)
					}
				default:
					r.cursors[i].from, r.cursors[i].pages = r.open(chunks[o.first], o.first)
				}
			}
			return nil
		})
		if err != nil {
			return r.src.damaged(noren.Textf("the data are damaged"), err)
		}
	}
	n := int(min(r.left, int64(r.most)))
	for i := range r.cursors {
		c := &r.cursors[i]
		if c.at < c.n {
			n = min(n, c.n-c.at)
			continue
		}
		if err := guard(func() error { return r.fill(i, int(min(r.left, int64(r.most)))) }); err != nil {
			at := noren.Position{File: r.src.name, Field: r.columns[i] + 1, Column: r.src.columns[r.columns[i]].Name}
			what := noren.Textf("the data of records %d to %d are damaged", r.rows+1, r.rows+int64(n))
			if errors.Is(err, errChecksum) {
				what.Format += " (a checksum does not fit)"
			}
			if meter.At(err, "") != nil {
				at.Record = r.rows + 1
			}
			damaged := r.src.damaged(what, err)
			var e *noren.Error
			if errors.As(damaged, &e) {
				e.Where = at
			}
			return damaged
		}
		n = min(n, c.n)
	}
	if err := r.made(n); err != nil {
		return meter.At(err, noren.Position{File: r.src.name, Record: r.rows + 1})
	}
	for i := range r.cursors {
		r.cursors[i].give(&r.chunk.Cols[i], n)
	}
	r.left -= int64(n)
	r.chunk.Rows = n
	return nil
}

// made counts the values of n records.
func (r *reader) made(n int) error {
	for i := range r.cursors {
		var err error
		switch c := &r.cursors[i]; {
		case c.nested != nil: // was counted value by value
		case c.from != nil:
			err = c.from.made(int64(n))
		default:
			err = r.meter.Unpack(int64(n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open begins to read a column chunk of the row group before the next.
func (r *reader) open(chunk parquet.ColumnChunk, i int) (*pages, parquet.Pages) {
	from := r.pagesOf(r.group-1, i)
	return from, chunk.(*parquet.FileColumnChunk).PagesFrom(from)
}

// give makes v the next n values of the run.
func (c *cursor) give(v *table.Vector, n int) {
	from, to := c.at, c.at+n
	v.Null = nil
	if c.run.Null != nil {
		v.Null = c.run.Null[from:to:to]
	}
	switch v.Kind {
	case table.Int:
		v.Ints = c.run.Ints[from:to:to]
	case table.Float:
		v.Floats = c.run.Floats[from:to:to]
	default:
		v.Texts = c.run.Texts[from:to:to]
	}
	c.at = to
}

// fill reads the next run of column i, of n values at most.
func (r *reader) fill(i, n int) error {
	c, v := &r.cursors[i], &r.cursors[i].run
	c.at, c.n = 0, 0
	column := r.columns[i]
	v.Ints, v.Floats, v.Texts, v.Null = v.Ints[:0], v.Floats[:0], v.Texts[:0], v.Null[:0]
	c.arena.b, c.ends = c.arena.b[:0], c.ends[:0]
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
			if done > 0 && len(c.arena.b) >= c.share {
				n = done
				break
			}
			null, err := c.takeNested(o.nested)
			if err != nil {
				return err
			}
			v.Null = append(v.Null, null)
			nulls = nulls || null
		}
	}
	for done < n {
		if len(c.rest) == 0 {
			if err := r.read(c, n-done); err != nil {
				return err
			}
		}
		some := c.rest[:min(len(c.rest), n-done)]
		before := len(c.arena.b)
		m, err := c.take(v, some, o.node.Type().Kind(), &o.form, &nulls)
		if err != nil {
			return err
		}
		if c.shared { // a text of a dictionary counts each time that a value is it
			if err := r.meter.Unpack(int64(len(c.arena.b) - before)); err != nil {
				return err
			}
		}
		done += m
		c.rest = c.rest[m:]
		if len(c.rest) == 0 && c.over {
			parquet.Release(c.page)
			c.page, c.values, c.over = nil, nil, false
		}
		if m < len(some) {
			break // the texts are long
		}
	}
	if len(c.rest) > 0 && !c.own {
		c.rest, c.own = slices.Clone(c.rest), true
	}
	c.n = done
	if v.Kind == table.Text {
		from := 0
		for _, to := range c.ends {
			v.Texts = append(v.Texts, c.arena.b[from:to:to])
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

// read reads the next values of the column, n at most.
func (r *reader) read(c *cursor, n int) error {
	if c.values == nil {
		page, err := c.pages.ReadPage()
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		c.from.settle()
		c.page, c.values, c.shared = page, page.Values(), page.Dictionary() != nil
	}
	m, err := c.values.ReadValues(r.values[:n])
	c.rest, c.own, c.over = r.values[:m], false, err == io.EOF
	switch {
	case err == io.EOF && m == 0:
		parquet.Release(c.page)
		c.page, c.values, c.over = nil, nil, false
	case err != nil && err != io.EOF:
		return err
	case m == 0:
		return io.ErrNoProgress
	}
	return nil
}

// take appends values to v. It ends early before a text that would make the run's texts
// longer than their share, but takes one at least.
func (c *cursor) take(v *table.Vector, values []parquet.Value, physical parquet.Kind, f *form, nulls *bool) (int, error) {
	unsigned := physical == parquet.Int32 && f.unsigned
	for i := range values {
		value := &values[i]
		null := value.IsNull()
		v.Null = append(v.Null, null)
		if null {
			*nulls = true
		} else if value.Kind() != physical {
			return i, errors.New("a value of another type")
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
					c.arena.b = binary.LittleEndian.AppendUint32(c.arena.b, part)
				}
			default:
				b := value.ByteArray()
				if len(b) > cap(c.arena.b)-len(c.arena.b) || len(c.arena.b)+len(b) > c.share {
					if len(c.arena.b)+len(b) > c.share && len(c.ends) > 0 && c.arena.meter != nil {
						v.Null = v.Null[:len(v.Null)-1]
						return i, nil
					}
					if err := c.arena.grow(len(b)); err != nil {
						return i, err
					}
				}
				c.arena.b = append(c.arena.b, b...)
			}
			c.ends = append(c.ends, len(c.arena.b))
		}
	}
	return len(values), nil
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
		if c.from != nil {
			c.from.close()
		}
		c.page, c.values, c.pages, c.nested, c.from, c.rest, c.over = nil, nil, nil, nil, nil, nil, false
	}
}

// Position implements [table.Reader].
func (r *reader) Position(record, column int) noren.Place {
	at := noren.Position{File: r.src.name}
	if record >= 0 && record < r.chunk.Rows {
		at.Record = r.chunk.First + int64(record) + 1
	}
	if column >= 0 && column < len(r.columns) {
		c := r.columns[column]
		at.Field, at.Column = c+1, r.src.columns[c].Name
	}
	return at.Place()
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
	r.unpack.close()
	if r.err == nil {
		r.err = &noren.Error{Where: noren.File(r.src.name), What: "read after Close"}
	}
	return nil
}
