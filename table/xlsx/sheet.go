package xlsx

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/spool"
)

// sheet is a worksheet that is read once from its start.
type sheet struct {
	b        *book
	name     string
	sheet    string
	header   int // its row from 0; -1 while it is to be found
	dir      string
	progress noren.Progress
	row      int  // from 0
	inside   bool // a row
	next     int  // column of the next cell without a reference
	cells    []headerCell
	hidden   concealed
	totals   totals
	searched bool  // the header was not said: it must look like one
	first    int   // column of the first name
	slots    []int // of the columns from first on: their place in the table, -1 for those left out
	names    []string
	exactly  []string // names of columns that are read exactly
	exact    []bool   // and by their places in the table
	w        *spool.Writer
	at       int // column of the table that comes next
	some     bool
	value    []byte
	formats  []map[spool.Tag]string
}

// headerCell is a name while the header is read.
type headerCell struct {
	column int
	name   string
	hidden bool
	text   bool // and no number or date
}

// rowShare is the part of the memory that one row may take: it is kept in a temporary
// file, and several copies of it are held while it is read back.
const rowShare = 8

func (s *sheet) bad(row, column int, what noren.Text, hint noren.Format) error {
	return &noren.Error{Kind: noren.BadData, Where: s.place(row, column), What: what.Format, Args: what.Args, Hint: hint}
}

// place names a row and a column.
func (s *sheet) place(row, column int) noren.Place {
	where := noren.Textf("sheet %s", s.sheet)
	if row >= 0 {
		where = noren.Textf("sheet %s, row %d", s.sheet, row+1)
	}
	if column >= 0 {
		at := noren.Textf("column %s", appendColumn(nil, column))
		if i := column - s.first; s.names != nil && i >= 0 && i < len(s.slots) && s.slots[i] >= 0 {
			at = noren.Textf("column %s (%s)", appendColumn(nil, column), s.names[s.slots[i]])
		}
		where = noren.Textf("%s, %s", where, at)
	}
	return noren.Place{noren.File(s.name), where}
}

// where is the place of the whole sheet.
func (s *sheet) where() noren.Place { return s.place(-1, -1) }

const headerCode = "header-row"

func (s *sheet) badHeader(row, column int, what noren.Text) error {
	err := s.bad(row, column, what, "if the rows above the table hold a title, say in which row the names of the columns are").(*noren.Error)
	err.Code = headerCode
	return err
}

// read reads the sheet into a spool.
func (s *sheet) read(ctx context.Context, part string) (*spool.Writer, error) {
	in, done, err := s.b.open(part)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	s.row = -1
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return s.w, ctx.Err()
		}
		k, err := in.next()
		if err == io.EOF {
			break
		}
		if err == nil && k == start {
			switch string(in.name) {
			case "sheetFormatPr":
				s.hidden.others = isNothing(in.rawAttr("defaultColWidth"))
			case "col":
				s.hidden.takeColumns(in)
			case "row":
				s.hidden.startRow(in)
				err = s.startRow(in)
			case "c":
				err = s.cell(in)
			case "mergeCell":
				err = s.merged(in)
			}
		} else if err == nil && k == end && string(in.name) == "row" {
			err = s.endRow()
		}
		if err != nil {
			return s.w, s.b.failure(part, err)
		}
	}
	if s.names == nil {
		if s.header >= 0 {
			return s.w, s.badHeader(s.header, -1, noren.Textf("the row is blank or missing, expected the names of the columns"))
		}
		return s.w, s.bad(-1, -1, noren.Textf("the sheet is empty, expected a row with the names of the columns"), "")
	}
	return s.w, nil
}

func (s *sheet) startRow(in *scanner) error {
	row := s.row + 1
	if s.inside {
		return s.bad(s.row, -1, noren.Textf("holds another row"), "save it again in a spreadsheet program")
	}
	s.inside = true
	if r := in.rawAttr("r"); r != nil {
		n, err := strconv.Atoi(string(r))
		if err != nil || n <= s.row+1 || n > mostRows {
			return s.bad(-1, -1, noren.Textf("its rows are not in order"), "save it again in a spreadsheet program")
		}
		row = n - 1
	}
	if row >= mostRows {
		return s.bad(-1, -1, noren.Textf("has more rows than a sheet can"), "")
	}
	s.row, s.next, s.at, s.some = row, 0, 0, false
	return nil
}

// cell reads a cell whose start was read, to its end.
func (s *sheet) cell(in *scanner) error {
	column := s.next
	if r := in.rawAttr("r"); r != nil {
		c, row, ok := place(r)
		if !ok || row != s.row || c < s.next {
			return s.bad(s.row, -1, noren.Textf("its cells are not in order"), "save it again in a spreadsheet program")
		}
		column = c
	}
	if column >= mostColumns || !s.inside {
		return s.bad(s.row, -1, noren.Textf("has more columns than a sheet can, or a cell outside of a row"), "")
	}
	s.next = column + 1
	t := byte('n')
	switch string(in.rawAttr("t")) {
	case "s":
		t = 's'
	case "str":
		t = 't'
	case "inlineStr":
		t = 'i'
	case "b":
		t = 'b'
	case "e":
		t = 'e'
	case "d":
		t = 'd'
	}
	st := style{}
	if v := in.rawAttr("s"); v != nil {
		if n, err := strconv.Atoi(string(v)); err == nil && n >= 0 && n < len(s.b.styles) {
			st = s.b.styles[n]
		}
	}
	found, formula, err := s.content(in)
	if err != nil {
		return err
	}
	s.hidden.value = s.hidden.value || found && !s.ignored()
	if formula && (!found || len(s.value) == 0 && t != 't') {
		if s.ignored() || s.left(column) {
			return nil
		}
		return s.bad(s.row, column, noren.Textf("is a formula without a stored value"),
			"open the workbook in a spreadsheet program, which computes it, and save it")
	}
	value := s.value
	switch {
	case !found, s.names != nil && s.left(column), s.names == nil && s.leftRow():
		return nil
	case t == 's':
		n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
		var ok bool
		if err == nil {
			value, ok, err = s.b.shared.at(n)
			if err != nil {
				return err
			}
			if err := s.b.meter.Unpack(int64(len(value))); err != nil { // once for each cell that names it
				return meter.At(err, s.place(s.row, column))
			}
		}
		if !ok {
			return s.bad(s.row, column, noren.Textf("names a text that the workbook does not hold"), "save it again in a spreadsheet program")
		}
	case t == 't':
		value = unescapeControls(value, 0)
	case t != 'i':
		value = bytes.TrimSpace(value)
		if len(value) == 0 {
			return nil
		}
	}
	return s.take(column, t, st, value)
}

// ignored reports whether the cells of the row are not part of the table.
func (s *sheet) ignored() bool {
	return s.header >= 0 && s.row < s.header
}

// left reports whether a cell of the row that is read is left out of the table.
func (s *sheet) left(column int) bool {
	return s.leftRow() || s.hidden.policy == Leave && s.hidden.column(column)
}

// leftRow reports whether the row that is read is left out. A row that was said to hold the
// names is not.
func (s *sheet) leftRow() bool { return s.hidden.leaves() && (s.names != nil || s.row != s.header) }

// content reads what is in a cell: found says that there is a value.
func (s *sheet) content(in *scanner) (found, formula bool, err error) {
	s.value = s.value[:0]
	inside := false
	for {
		k, err := in.next()
		if err == io.EOF {
			err = errShort
		}
		if err != nil {
			return false, false, err
		}
		switch k {
		case start:
			switch string(in.name) {
			case "v":
				inside, found = true, true
			case "f":
				formula = true
			case "is":
				if s.value, err = richText(in, "is", s.value[:0]); err != nil {
					return false, false, err
				}
				found = true
			}
		case text:
			if inside {
				if len(s.value)+len(in.text) > longest {
					return false, false, errLong
				}
				s.value = append(s.value, in.text...)
			}
		case end:
			switch string(in.name) {
			case "v":
				inside = false
			case "c":
				return found, formula, nil
			}
		}
	}
}

// take takes a value: into the header, or into the table.
func (s *sheet) take(column int, t byte, st style, value []byte) error {
	switch {
	case s.ignored():
		return nil
	case s.names == nil:
		name, err := s.headerText(t, st, value)
		if err != nil || name == "" {
			return err
		}
		if err := s.b.meter.Hold(int64(len(name)) + pieceWeight); err != nil {
			return meter.At(err, s.place(s.row, column))
		}
		s.cells = append(s.cells, headerCell{column, name, s.hidden.column(column), t == 's' || t == 't' || t == 'i'})
		return nil
	}
	i := column - s.first
	if i < 0 || i >= len(s.slots) {
		if len(value) == 0 {
			return nil
		}
		return s.badHeader(s.row, column, noren.Textf("holds a value beside the table: row %d names the columns %s to %s alone", s.header+1,
			appendColumn(nil, s.first), appendColumn(nil, s.first+len(s.slots)-1)))
	}
	i = s.slots[i]
	for ; s.at < i; s.at++ {
		s.w.Null()
	}
	s.some = true
	s.at++
	if len(value) == 0 {
		s.w.Null()
		return nil
	}
	s.totals.take(value)
	if most := s.b.meter.Held() / rowShare; int64(s.w.RowSize()+len(value)) > most {
		return meter.At(&meter.Excess{Limit: s.b.meter.Held()}, s.place(s.row, column))
	}
	take := s.b.cellValue
	if s.exact[i] {
		take = exactValue
	}
	if what := take(s.w, t, st, value); what != "" {
		return s.bad(s.row, column, noren.Textf(what), "save the workbook again in a spreadsheet program")
	}
	if st.code != "" && t == 'n' {
		tag := spool.Integer
		if st.sense != number {
			tag = spool.Day
			v, _ := strconv.ParseFloat(string(value), 64)
			tag, _ = s.b.dated(v, st.sense)
		}
		if f := s.formats[i]; f[tag] == "" {
			f[tag] = st.code
		}
	}
	return nil
}

// headerText is the text of a name, whatever type its cell has.
func (s *sheet) headerText(t byte, st style, value []byte) (string, error) {
	if t == 's' || t == 't' || t == 'i' {
		if len(bytes.TrimSpace(value)) == 0 {
			return "", nil
		}
		return string(value), nil
	}
	w, err := spool.NewWriter(spool.Options{Name: s.name, Place: s.where(), Dir: s.dir, Columns: make([]spool.Column, 1)})
	if err != nil {
		return "", err
	}
	defer w.Close()
	if what := s.b.cellValue(w, t, st, value); what != "" {
		return "", s.bad(s.row, -1, noren.Textf(what), "")
	}
	return w.Shown(), nil
}

func (s *sheet) endRow() error {
	s.inside = false
	if s.names == nil && s.leftRow() || s.names != nil {
		s.hidden.endRow()
	}
	if s.names == nil {
		if len(s.cells) == 0 {
			return nil
		}
		s.hidden.endRow()
		return s.setHeader()
	}
	if s.row <= s.header {
		return nil
	}
	if left := s.totals.endRow(s.row, len(s.names), s.some); left || !s.some {
		s.w.DropRow()
		return nil
	}
	for ; s.at < len(s.names); s.at++ {
		s.w.Null()
	}
	// A row of one cell has as many as there are columns.
	if err := s.b.meter.Unpack(int64(len(s.names))); err != nil {
		return meter.At(err, s.place(s.row, -1))
	}
	return s.w.EndRow(int64(s.row) + 1)
}

// setHeader takes the row that was read for the names of the columns.
func (s *sheet) setHeader() error {
	if s.header >= 0 && s.row != s.header {
		return s.badHeader(s.header, -1, noren.Textf("the row is blank, expected the names of the columns"))
	}
	if s.searched && !titles(s.cells) {
		return s.badHeader(s.row, -1, noren.Textf("the row does not look like the names of columns"))
	}
	s.header = s.row
	cells := s.cells
	if s.hidden.policy == Leave {
		cells = slices.DeleteFunc(slices.Clone(cells), func(c headerCell) bool { return c.hidden })
		if len(cells) == 0 {
			return s.badHeader(s.row, -1, noren.Textf("all columns are hidden and left out, expected one at least"))
		}
	}
	s.first = cells[0].column
	s.slots = make([]int, cells[len(cells)-1].column-s.first+1)
	var names []string
	for i, next := 0, 0; i < len(s.slots); i++ {
		s.slots[i] = -1
		switch named := cells[next].column == s.first+i; {
		case !named && s.hidden.policy == Leave && s.hidden.column(s.first+i):
			continue
		case !named:
			return s.badHeader(s.row, s.first+i, noren.Textf("the column has no name"))
		}
		name := cells[next].name
		if first := slices.Index(names, name); first >= 0 {
			return s.badHeader(s.row, s.first+i, noren.Textf("the name %q is that of column %s already", name,
				appendColumn(nil, cells[first].column)))
		}
		s.slots[i] = len(names)
		names = append(names, name)
		next++
	}
	columns := make([]spool.Column, len(names))
	for i, name := range names {
		columns[i].Name = name
		s.exact = append(s.exact, slices.Contains(s.exactly, name))
		s.formats = append(s.formats, map[spool.Tag]string{})
	}
	for _, c := range s.cells {
		if c.hidden {
			s.hidden.found.Columns = append(s.hidden.found.Columns, c.name)
		}
	}
	s.names = names
	var err error
	s.w, err = spool.NewWriter(spool.Options{
		Name: s.name, Place: s.where(), Dir: s.dir, Rows: true, Progress: s.progress,
		Columns: columns,
	})
	return err
}

// merged refuses merged cells in the table: all but the first would be read as
// missing.
func (s *sheet) merged(in *scanner) error {
	ref, _ := in.attr("ref")
	from, to, found := bytes.Cut([]byte(ref), []byte(":"))
	c1, r1, ok1 := place(from)
	c2, r2, ok2 := place(to)
	if !found || !ok1 || !ok2 || s.names == nil {
		return nil
	}
	if r2 < s.header || c2 < s.first || c1 >= s.first+len(s.slots) {
		return nil
	}
	if s.hidden.policy == Leave && s.leftColumns(c1, c2) || s.totals.merges(r1, r2) {
		return nil
	}
	if r1 <= s.header {
		return s.badHeader(s.header, -1, noren.Textf("the cells %s are merged, expected a name in a cell of its own for each column", ref))
	}
	return s.bad(r1, c1, noren.Textf("the cells %s are merged, expected a value in each cell", ref), "unmerge them and fill in each cell")
}

// leftColumns reports whether all columns of a range are left out.
func (s *sheet) leftColumns(from, to int) bool {
	for i := from; i <= to; i++ {
		if !s.hidden.column(i) {
			return false
		}
	}
	return true
}
