package csvio

import (
	"context"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// chunkRows is the most records in a chunk. As all of a chunk's text lies in
// one block, long records make shorter chunks, and so do many columns: the fields of a
// chunk take an eighth of the memory that a reading may hold.
const (
	chunkRows  = 8192
	chunkShare = 8
	fieldSize  = 24 // bytes of the place of a field in a chunk
	// columnSize is what a column takes beside the fields of a chunk.
	columnSize = 256
)

// reader implements [table.Reader].
type reader struct {
	ctx     context.Context
	src     *Source
	in      *input
	s       *scanner
	columns []int // positions in the file
	slots   []int // for each column of the file, its place in texts or -1
	again   []int // for each wanted column, the place of its first mention
	texts   [][][]byte
	arena   []byte // unescaped fields
	chunk   table.Chunk
	most    int   // records of a chunk
	rows    int64 // records returned
	tail    tail  // rows of totals and notes
	total   bool  // the next record is one, and is refused
	failed  error // while the end of the table was looked for
	starts  []int // where in s.buf the chunk's records begin
	lines   []int64
	asked   place // of the field whose place was asked for last
	of      int   // its record, -1 for none
	err     error // once it has ended
	closed  bool
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
	r := &reader{
		ctx: ctx, src: src, columns: columns, slots: make([]int, len(src.columns)), of: -1, again: make([]int, len(columns)),
		texts: make([][][]byte, len(columns)),
	}
	m := src.meter()
	r.most = min(max(int(min(m.Held(), 1<<40)/chunkShare/fieldSize)/max(1, len(columns)), 1), chunkRows)
	if err := m.Hold(int64(len(columns)) * (columnSize + int64(r.most)*fieldSize)); err != nil {
		return nil, meter.At(err, noren.File(src.name))
	}
	for i := range r.slots {
		r.slots[i] = -1
	}
	for i, c := range columns {
		if c < 0 || c >= len(src.columns) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(src.name), What: "has no column %d, only %d",
				Args: []any{c + 1, len(src.columns)},
			}
		}
		if r.slots[c] < 0 {
			r.slots[c] = i
			r.texts[i] = make([][]byte, r.most)
		}
		r.again[i] = r.slots[c]
	}
	r.chunk.Cols = make([]table.Vector, len(columns))
	r.starts, r.lines = make([]int, r.most), make([]int64, r.most)
	if err := src.unchanged(); err != nil {
		return nil, err
	}
	in, err := src.input(true, src.sums.begin(), m)
	if err != nil {
		return nil, err
	}
	r.in, r.s = in, newScanner(in, src.dialect, m)
	if src.nameless {
		if err := src.above(r.s, in); err != nil {
			in.close()
			return nil, err
		}
		return r, nil
	}
	if err := src.header(r.s, in); err != nil {
		in.close()
		return nil, err
	}
	r.s.skip()
	return r, nil
}

// Next implements [table.Reader].
func (r *reader) Next() (*table.Chunk, error) {
	r.chunk.Rows = 0
	if r.err != nil {
		return nil, r.err
	}
	if err := r.ctx.Err(); err != nil {
		r.err = err
		return nil, err
	}
	for {
		n, st := r.parse()
		if n > 0 {
			return r.hand(n), nil
		}
		switch {
		case r.failed != nil:
			r.err = r.failed
		case r.total || st == finished && r.src.policy == TotalsRefused && r.tail.below > 0:
			r.err = r.src.refuseTotals(r.ctx)
		case st == faulty:
			r.err = r.src.faultError(&r.s.fault, r.rows+1)
		case st == finished:
			r.err = io.EOF
			r.src.totals.Store(r.tail.totals + r.tail.below)
			if err := r.src.ended(r.in); err != nil {
				r.err = err
			}
		case r.s.fill():
			continue
		case r.s.err != nil:
			r.err = r.in.failure(r.s.err, r.s.line, r.rows+1)
		default:
			continue
		}
		return nil, r.err
	}
}

// parse takes the records that are whole in the buffer. The status is that of
// the record behind the last taken.
func (r *reader) parse() (n int, st status) {
	s := r.s
	r.arena = r.arena[:0]
	for n < r.most {
		st = s.scan()
		if st != complete {
			return n, st
		}
		if len(s.spans) != len(r.slots) {
			if s.blank() {
				s.skip()
				continue
			}
			switch left, ok := r.short(); {
			case !ok:
				return n, faulty
			case left:
				s.skip()
				continue
			}
		}
		if k := r.src.look(s); k == table.RecordRow {
			r.tail.take(k, s.line)
		} else if left, ok := r.decide(k); !ok {
			return n, faulty
		} else if left {
			s.skip()
			continue
		}
		for i, f := range s.spans {
			slot := r.slots[i]
			if slot < 0 {
				continue
			}
			field := s.buf[f.from:f.to:f.to]
			if f.escaped {
				at := len(r.arena)
				r.arena = unescape(r.arena, field)
				field = r.arena[at:len(r.arena):len(r.arena)]
			}
			if r.src.unmark {
				plain, ok := formula.Unmark(field)
				if !ok {
					s.fault = fault{s.fieldLine(s.pos, s.line, i), i + 1, noren.Textf(whatFormula), hintFormula, ""}
					return n, faulty
				}
				field = plain
			}
			r.texts[slot][n] = field
		}
		r.starts[n], r.lines[n] = s.pos, s.line
		n++
		s.skip()
	}
	return n, complete
}

// decide takes a row that may hold totals or a note, and reports whether it is left out. It is not
// ok where the row is refused, or the end of the table could not be looked for.
func (r *reader) decide(k table.RowKind) (left, ok bool) {
	switch {
	case k == table.TotalRow && r.src.policy == TotalsRefused:
		r.total = true
		return false, false
	case r.src.policy != TotalsLeft:
	case k == table.TotalRow:
		left = true
	default:
		left, r.failed = r.src.inTail(r.ctx, r.tail.rows)
		if r.failed != nil {
			return false, false
		}
	}
	r.tail.take(k, r.s.line)
	return left, true
}

// short takes a record of another number of fields than there are columns. One of a single field
// may be a note below the table, as a text editor writes it: it is left out, or refused, with
// the others, and no record.
func (r *reader) short() (left, ok bool) {
	if len(r.s.spans) == 1 && len(r.slots) > 1 {
		k := r.src.look(r.s)
		is := k == table.TotalRow
		if k == table.TailRow && r.src.policy != TotalsRead {
			is, r.failed = r.src.inTail(r.ctx, r.tail.rows)
			if r.failed != nil {
				return false, false
			}
		}
		switch {
		case is && r.src.policy == TotalsLeft:
			r.tail.take(k, r.s.line)
			return true, true
		case is && r.src.policy == TotalsRefused:
			r.total = true
			return false, false
		case is || k == table.TailRow:
			r.s.fault = fault{
				r.s.line, 0, noren.Textf("%d {field|fields}, expected %d as in the first line", 1, r.src.width),
				"if it is a note below the table, leave rows of totals and notes out, or remove the line", "",
			}
			r.s.fault.Code = "note-line"
			return false, false
		}
	}
	return false, r.trim()
}

// trim cuts a record of another number of fields than there are columns to the
// columns: it may have as many more as the header, and they must be empty.
func (r *reader) trim() bool {
	s, columns := r.s, len(r.slots)
	if n := len(s.spans); n < columns || n > r.src.width {
		s.fault = fault{
			s.line, 0, noren.Textf("%d {field|fields}, expected %d as in the first line", n, r.src.width),
			"quote fields that hold the delimiter", "",
		}
		return false
	}
	for i, f := range s.spans[columns:] {
		if f.from != f.to {
			s.fault = fault{
				s.fieldLine(s.pos, s.line, columns+i), columns + i + 1,
				noren.Textf("expected an empty field, as the column has no name"), "give the column a name in the first line", "",
			}
			return false
		}
	}
	s.spans = s.spans[:columns]
	return true
}

func (r *reader) hand(n int) *table.Chunk {
	r.chunk.First, r.chunk.Rows, r.of = r.rows, n, -1
	for i, slot := range r.again {
		r.chunk.Cols[i].Texts = r.texts[slot][:n]
	}
	r.rows += int64(n)
	return &r.chunk
}

// Position implements [table.Reader].
func (r *reader) Position(record, column int) noren.Place {
	at := noren.Position{File: r.src.name}
	if record >= 0 && record < r.chunk.Rows {
		at.Record = r.chunk.First + int64(record) + 1
		at.Line = r.lines[record]
	}
	if column >= 0 && column < len(r.columns) {
		c := r.columns[column]
		at.Field, at.Column = c+1, r.src.columns[c].Name
		if at.Line > 0 {
			if r.of != record || r.asked.field > c {
				r.of, r.asked = record, place{r.starts[record], at.Line, 0, false}
			}
			at.Line = r.s.walk(&r.asked, c)
		}
	}
	return at.Place()
}

// Progress implements [table.Reader].
func (r *reader) Progress() float64 {
	if r.src.size == 0 {
		return 1
	}
	return min(1, float64(r.in.file.read.Load())/float64(r.src.size))
}

// Close implements [table.Reader].
func (r *reader) Close() error {
	if !r.closed {
		r.closed = true
		r.in.close()
		if r.err == nil {
			r.err = &noren.Error{Where: noren.File(r.src.name), What: "read after Close"}
		}
	}
	return nil
}
