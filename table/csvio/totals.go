package csvio

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// Totals says what becomes of rows that hold totals or notes and are no records of a person: half of
// the fields or more are empty, and one of the first others is a word such as 合計; one field has a
// value, which begins as a note does; or a record is above, none follows, and at most one field has a value
// or the row begins as a note does and is half empty.
type Totals uint8

const (
	// TotalsRead takes them as all other records.
	TotalsRead Totals = iota
	// TotalsRefused refuses a table that has some, where its reader comes to the first, with
	// the code [table.CodeTotals].
	TotalsRefused
	// TotalsLeft leaves them out.
	TotalsLeft
)

// noTail is the tail of a table where no row was looked at.
const noTail = -1

// look tells what the record is that was scanned last.
func (src *Source) look(s *scanner) table.RowKind {
	if src.plain || len(src.columns) < table.NoteColumns {
		return table.RecordRow
	}
	// Nearly every row has more values than a row of totals: that alone is looked at first.
	most := table.TotalCells(len(src.columns))
	cells := 0
	for _, f := range s.spans {
		if f.from == f.to {
			continue
		}
		if cells++; cells > most {
			return table.RecordRow
		}
	}
	var looks table.Looks
	for _, f := range s.spans {
		if f.from == f.to {
			continue
		}
		if looks.Cells() >= table.TotalNames {
			looks.Take(nil)
			continue
		}
		field := text(s.buf, f)
		if src.unmark {
			if plain, ok := formula.Unmark(field); ok {
				field = plain
			}
		}
		looks.Take(field)
	}
	return looks.End(len(src.columns))
}

// tail counts the rows of totals and notes of a file as they are read one by one.
type tail struct {
	rows    int64 // that were read
	totals  int64 // rows of totals and notes
	below   int64 // rows that are no records if none follows, since the last record
	first   int64 // line of the first row of totals or notes
	started int64 // line of the first of these
	records bool  // some row is a record
}

// take takes a row, which begins on a line.
func (t *tail) take(k table.RowKind, line int64) {
	t.rows++
	if k == table.TailRow && !t.records {
		return // a table that has no other rows
	}
	switch k {
	case table.TotalRow:
		if t.totals++; t.totals == 1 {
			t.first = line
		}
	case table.TailRow:
		if t.below++; t.below == 1 {
			t.started = line
		}
	default:
		t.below, t.records = 0, true
	}
}

// CountTotals reads the file, and counts its rows of totals and notes up to the first fault, which is
// for a reader to say.
func (src *Source) CountTotals(ctx context.Context) (int64, error) {
	if src.plain || len(src.columns) < table.NoteColumns {
		return 0, nil
	}
	in, err := src.input(true, nil, src.meter())
	if err != nil {
		return 0, err
	}
	defer in.close()
	s := newScanner(in, src.dialect, in.meter)
	if err := src.header(s, in); err != nil {
		return 0, err
	}
	if !src.nameless {
		s.skip()
	}
	var t tail
	ended := int64(0) // rows up to the last record
	for n := 0; ; n++ {
		if n&4095 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		switch s.scan() {
		case complete:
			if len(s.spans) != len(src.columns) && s.blank() {
				s.skip()
				continue
			}
			k := src.look(s)
			if t.take(k, s.line); k == table.RecordRow || !t.records {
				ended = t.rows
			}
			s.skip()
			continue
		case partial:
			if s.fill() {
				continue
			}
		}
		if t.below > 0 && (t.totals == 0 || t.started < t.first) {
			t.first = t.started
		}
		src.tail.Store(ended)
		src.first.Store(t.first)
		src.totals.Store(t.totals + t.below)
		return t.totals + t.below, ctx.Err()
	}
}

// inTail reports whether no record follows the row of that number, from 0.
func (src *Source) inTail(ctx context.Context, row int64) (bool, error) {
	if src.tail.Load() == noTail {
		if _, err := src.CountTotals(ctx); err != nil {
			return false, err
		}
	}
	at := src.tail.Load()
	return at != noTail && row >= at, nil
}

// Totals is how many rows of totals and notes were found, by [Source.CountTotals] or by a reader that
// came to the end.
func (src *Source) Totals() int64 { return src.totals.Load() }

// refuseTotals is the error about a table with rows of totals or notes of which nothing was decided.
func (src *Source) refuseTotals(ctx context.Context) error {
	n, err := src.CountTotals(ctx)
	if err != nil {
		return err
	}
	return &noren.Error{
		Kind: noren.Usage, Code: table.CodeTotals, Where: noren.Position{File: src.name, Line: src.first.Load()}.Place(),
		What: "%d {row looks|rows look} like totals or notes, not like records", Args: []any{n},
		Hint: "decide whether they are read as records or left out",
	}
}

// TotalsNote says that rows hold totals or notes and what becomes of them; empty where none is known.
func (src *Source) TotalsNote() noren.Text {
	return table.NoteOfTotals(src.Totals(), src.policy == TotalsLeft)
}
