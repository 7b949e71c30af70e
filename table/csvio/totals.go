package csvio

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// Totals says what becomes of records that hold totals and are no records of a person: half of
// the fields or more are empty, and one of the first others is a word such as 合計.
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

// isTotal reports whether the record that was scanned last, of a table of so many columns, is
// a row of totals.
func (src *Source) isTotal(s *scanner) bool {
	if src.plain || len(src.columns) < table.TotalColumns {
		return false
	}
	cells, most := 0, table.TotalCells(len(src.columns))
	for _, f := range s.spans {
		if f.from != f.to {
			if cells++; cells > most {
				return false
			}
		}
	}
	looked := 0
	for _, f := range s.spans {
		if f.from == f.to {
			continue
		}
		field := text(s.buf, f)
		if src.unmark {
			if plain, ok := formula.Unmark(field); ok {
				field = plain
			}
		}
		if table.NamesTotal(field) {
			return true
		}
		if looked++; looked == table.TotalNames {
			break
		}
	}
	return false
}

// CountTotals reads the file, and counts its rows of totals up to the first fault, which is for a
// reader to say.
func (src *Source) CountTotals(ctx context.Context) (int64, error) {
	if src.plain || len(src.columns) < table.TotalColumns {
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
	var totals int64
	for n := 0; ; n++ {
		if n&4095 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		switch s.scan() {
		case complete:
			if src.isTotal(s) {
				totals++
			}
			s.skip()
			continue
		case partial:
			if s.fill() {
				continue
			}
		}
		src.totals.Store(totals)
		return totals, ctx.Err()
	}
}

// Totals is how many rows of totals were found, by [Source.CountTotals] or by a reader that
// came to the end.
func (src *Source) Totals() int64 { return src.totals.Load() }

// refuseTotals is the error about a table with rows of totals of which nothing was decided.
func (src *Source) refuseTotals(ctx context.Context) error {
	n, err := src.CountTotals(ctx)
	if err != nil {
		return err
	}
	return &noren.Error{
		Kind: noren.Usage, Code: table.CodeTotals, Where: noren.File(src.name), What: "%d {row holds|rows hold} totals and no record", Args: []any{n},
		Hint: "decide whether they are read as records or left out",
	}
}

// TotalsNote says that rows hold totals and what becomes of them; empty where none is known.
func (src *Source) TotalsNote() noren.Text {
	return NoteOfTotals(src.Totals(), src.policy == TotalsLeft)
}

// NoteOfTotals is [Source.TotalsNote] for a number of rows of totals, which are left out or read.
func NoteOfTotals(n int64, left bool) noren.Text {
	switch {
	case n == 0:
		return noren.Text{}
	case left:
		return noren.Textf("%d {row|rows} of totals {1|is|are} left out", n)
	default:
		return noren.Textf("%d {row of totals is read as a record|rows of totals are read as records}", n)
	}
}
