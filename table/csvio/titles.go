package csvio

import (
	"bytes"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
)

// Bounds of the search for the line of the names.
const (
	// searchedLines is how many lines are tried after the first.
	searchedLines = 20
	// nearRecords is how soon a record that does not fit must follow for a line to be a title.
	// One further below is a fault of the table.
	nearRecords = 100
)

// search skips the lines of a title: those above the first line, after one that cannot name
// the columns, that can. It has a text in each field, none of which looks like a value, and the
// records that follow fit. Only a file that could not be read is searched.
func (out *found) search(sample []byte, whole bool, delimiters []rune) {
	newline := out.dialect.newline()
	form := out.dialect
	if names, fits := likeTable(sample, whole, form); fits || names == nil && len(sample) == 0 {
		return
	}
	for line := 1; line <= searchedLines; line++ {
		_, rest, more := bytes.Cut(sample, []byte{newline})
		if !more {
			return
		}
		sample = rest
		most := 1
		for _, form.Delimiter = range delimiters {
			if names, fits := likeTable(sample, whole, form); fits && titles(names) && len(names) > most {
				most = len(names)
				out.dialect.Delimiter = form.Delimiter
			}
		}
		if most > 1 {
			out.skip += line
			out.notes = append(out.notes, noren.Textf("line %d names the columns: the lines above it are not read", out.skip+1))
			return
		}
	}
}

// likeTable reads a sample as a table. fits reports whether the first record can name
// columns, and the next nearRecords, of which there is one at least, have a field for each;
// names are without those at the end that are empty.
func likeTable(sample []byte, whole bool, form Dialect) (names []string, fits bool) {
	s := newScanner(bytes.NewReader(sample), Dialect{Delimiter: form.Delimiter, CR: form.CR}, meter.New(meter.Limits{}, 0))
	width, records := 0, 0
	for records < nearRecords {
		switch s.scan() {
		case partial:
			if s.fill() {
				continue
			}
			return names, false
		case finished:
			return names, records > 0
		case faulty:
			return names, !whole && s.eof && records > 0 // perhaps only for being cut
		}
		if !whole && s.eof && s.end == len(s.buf) {
			return names, records > 0 // the last record may be cut
		}
		switch {
		case width == 0:
			width = len(s.spans)
			if s.blank() {
				return nil, false
			}
			names = named(s)
			if names == nil {
				return nil, false
			}
		case s.blank():
		default:
			if len(s.spans) < len(names) || len(s.spans) > width {
				return names, false
			}
			for _, f := range s.spans[len(names):] {
				if f.from != f.to {
					return names, false
				}
			}
			records++
		}
		s.skip()
	}
	return names, true
}

// named are the fields of the record that was scanned last, without empty ones at the end; nil
// where one is empty or occurs twice.
func named(s *scanner) []string {
	n := len(s.spans)
	for n > 0 && s.spans[n-1].from == s.spans[n-1].to {
		n--
	}
	names := make([]string, n)
	seen := make(map[string]bool, n)
	for i, f := range s.spans[:n] {
		names[i] = string(text(s.buf, f))
		if names[i] == "" || seen[names[i]] {
			return nil
		}
		seen[names[i]] = true
	}
	return names
}

// titles reports whether fields can be the names of columns: two at least, each a text that is
// no number, no date and no address.
func titles(names []string) bool {
	if len(names) < 2 {
		return false
	}
	for _, name := range names {
		if personal.IsDate(name) {
			return false
		}
		if _, _, err := table.ParseDecimal([]byte(name)); err == nil {
			return false
		}
		if _, is := personal.Match(name); is {
			return false
		}
	}
	return true
}
