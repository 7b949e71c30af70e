package csvio

import (
	"io"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
)

// Header says what the first line of a file is.
type Header uint8

const (
	// HeaderNames takes the first line for the names of the columns.
	HeaderNames Header = iota
	// HeaderChecked is HeaderNames, and refuses a first line that looks like
	// data. Of a file that could not be read, titles above the line of the names are
	// skipped.
	HeaderChecked
	// HeaderAbsent takes the first line for the first record; the columns are
	// named c1, c2, ...
	HeaderAbsent
)

// FirstLineCode is the code of the error by which a first line that looks like
// data is refused.
const FirstLineCode = "first-line-is-data"

// Bounds on the records behind the first line that are looked at.
const (
	firstRecords = 1000
	firstBytes   = 256 << 10
)

// checkFirstLine refuses a first line that looks like data: taken for names, a
// record's values would be said in messages, reports and certificates. The error
// is of kind Usage and holds none of them.
func (src *Source) checkFirstLine() error {
	names := make([]string, len(src.columns))
	for i := range src.columns {
		names[i] = src.columns[i].Name
	}
	rows, err := src.firstRows(len(names))
	if err != nil {
		return err
	}
	n := dataLike(names, rows)
	if n == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Code: FirstLineCode, Where: noren.Position{File: src.name, Line: int64(src.skip) + 1},
		What: "expected the names of the columns, got what looks like a record: %d of %d {field|fields} {1|is a number, a date, an address or " +
			"a value of its own column|are numbers, dates, addresses or values of their own column}", Args: []any{n, len(names)},
		Hint: "say whether the first line holds the names of the columns",
	}
}

// firstRows are the records behind the first line, as far as they are looked at;
// what is wrong with them is for a reader to say.
func (src *Source) firstRows(columns int) ([][]string, error) {
	in, err := src.input(false, nil, src.meter())
	if err != nil {
		return nil, err
	}
	defer in.close()
	s := newScanner(io.LimitReader(in, firstBytes), src.dialect, in.meter)
	if s.skipLines(src.skip) != complete {
		return nil, nil
	}
	var rows [][]string
	for first := true; len(rows) < firstRecords; {
		switch s.scan() {
		case complete:
		case partial:
			if s.fill() {
				continue
			}
			return rows, nil
		default:
			return rows, nil
		}
		if !first && len(s.spans) >= columns && len(s.spans) <= src.width {
			row := make([]string, columns)
			for i, f := range s.spans[:columns] {
				row[i] = string(text(s.buf, f))
			}
			rows = append(rows, row)
		}
		first = false
		s.skip()
	}
	return rows, nil
}

// dataLike counts the fields of a first line that speak for a record, 0 where it
// passes as a header.
//
//   - A number, a date, or the unmistakable form of an address speaks for a
//     record, but not numbers that count up in equal steps (years or places as
//     names), see countsUp.
//   - A field that occurs again in its own column does, where half of the fields
//     do, and two at least in a file of several columns. A line that is the whole
//     first line once more is no evidence.
func dataLike(names []string, rows [][]string) int {
	var numbers []float64
	n, again := 0, 0
	for _, name := range names {
		if v, _, err := table.ParseDecimal([]byte(name)); err == nil {
			numbers = append(numbers, v)
			continue
		}
		if _, ok := personal.Match(name); ok || personal.IsDate(name) {
			n++
		}
	}
	if !countsUp(numbers) {
		n += len(numbers)
	}
	if n > 0 {
		return n
	}
	for i, name := range names {
		for _, row := range rows {
			if row[i] == name && !same(names, row) {
				again++
				break
			}
		}
	}
	if least := max(2, (len(names)+1)/2); again >= least || len(names) == 1 && again == 1 {
		return again
	}
	return 0
}

func same(a, b []string) bool {
	if len(a) == 1 {
		return false // one value of one column
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// countsUp reports whether numbers rise in equal whole steps: three or more, or
// two that are 0 and 1, 1 and 2, or years.
func countsUp(numbers []float64) bool {
	if len(numbers) < 2 {
		return false
	}
	step := numbers[1] - numbers[0]
	if step <= 0 || step != math.Trunc(step) {
		return false
	}
	if first := numbers[0]; len(numbers) == 2 && (step != 1 || first > 1 && (first < 1900 || first > 2100)) {
		return false
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i]-numbers[i-1] != step {
			return false
		}
	}
	return true
}
