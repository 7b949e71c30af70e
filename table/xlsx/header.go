package xlsx

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
	"github.com/noren-privacy/noren/table/spool"
)

// Bounds of the search for the row of the names.
const (
	// searchedRows is how many rows are tried after the first that is not blank.
	searchedRows = 20
	// nearRows is how soon a value beside the table must follow for a row to be a title. A
	// value beside the table further below is a fault of the table.
	nearRows = 100
)

// search reads the sheet by the first row, after the one that failed as a header, that can
// name the columns: a text in each cell, none of which looks like a value, and the rows that
// follow fit. Only a sheet that could not be read is searched. It returns nil where no
// row fits.
func (s *sheet) search(ctx context.Context, part string) (*sheet, *spool.Writer, error) {
	if s.row-s.header > nearRows {
		return nil, nil, nil
	}
	for row := s.header + 1; row <= s.header+searchedRows; row++ {
		try := s.anew(row)
		try.searched = true
		w, err := try.read(ctx, part)
		switch {
		case err == nil:
			return try, w, nil
		case w != nil:
			w.Close()
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case noren.CodeOf(err) == "too-large":
			return nil, nil, err
		case try.names == nil || noren.CodeOf(err) == headerCode && try.row-row <= nearRows: // the next row
		case noren.CodeOf(err) == headerCode:
			return nil, nil, nil
		default:
			return nil, nil, err // the row names the columns, and the table has a fault
		}
	}
	return nil, nil, nil
}

// anew is the same sheet before it is read, with the names of its columns in a row.
func (s *sheet) anew(header int) *sheet {
	return &sheet{
		b: s.b, name: s.name, sheet: s.sheet, header: header, exactly: s.exactly, dir: s.dir, progress: s.progress,
		hidden: concealed{policy: s.hidden.policy}, totals: totals{policy: s.totals.policy},
	}
}

// below is the sheet that was read, before it is read again: its last record is known.
func (s *sheet) below() *sheet {
	again := s.anew(s.header)
	again.searched, again.totals.tail = s.searched, max(s.totals.ended, s.header+1)
	return again
}

// titles reports whether cells can be the names of columns: two at least, each a text that
// is no number, no date and no address.
func titles(cells []headerCell) bool {
	if len(cells) < 2 {
		return false
	}
	for _, c := range cells {
		if !c.text || personal.IsDate(c.name) {
			return false
		}
		if _, _, err := table.ParseDecimal([]byte(c.name)); err == nil {
			return false
		}
		if _, is := personal.Match(c.name); is {
			return false
		}
	}
	return true
}
