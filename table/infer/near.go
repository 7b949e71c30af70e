package infer

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Most values of a column may be dates or numbers of a format, and a few not: a day that does
// not exist, a mistyped digit. Such a column is text, and its reason names the first of these values by its place.

// heads is how many of the first values choose the layouts and formats that are looked for: those that
// read half of them or more.
const heads = 12

// head is one of the first values: its record in the chunk, and its place once the chunk is passed.
type head struct {
	text string
	odd
}

// odds counts the values that a layout or a format does not read.
type odds struct {
	n  int64
	at odd
}

// odd is where a value stands: its record in the chunk, or -1 and the place in the file.
type odd struct {
	row int
	at  place
}

// inChunk is where the value of a record of the chunk stands.
func inChunk(row int) odd { return odd{row: row} }

// place is a place in the file: what is counted there ("line", "row" or "record") and its number from 1, and
// the file where the table has several.
type place struct {
	kind, file string
	number     int64
}

// placeIn reads a place of a table of this name.
func placeIn(name string, at noren.Place) (p place) {
	for _, part := range at {
		switch part := part.(type) {
		case noren.File:
			if string(part) != name {
				p.file = filepath.Base(string(part))
			}
		case noren.Text:
			for len(part.Args) > 0 {
				inner, ok := part.Args[0].(noren.Text)
				if !ok {
					break
				}
				part = inner
			}
			if kind, _, ok := strings.Cut(string(part.Format), " %d"); ok && len(part.Args) == 1 {
				if n, ok := part.Args[0].(int64); ok {
					p.kind, p.number = kind, n
				}
			}
		}
	}
	return p
}

// add counts a value.
func (o *odds) add(at odd) {
	if o.n == 0 {
		o.at = at
	}
	o.n++
}

// tooMany tells that the values that are not read are no exceptions among n values.
func tooMany(odds, n int64) bool { return odds > 10+n/50 }

// few tells that at most half of n values are not read.
func few(odds, n int64) bool { return 2*odds <= n && !tooMany(odds, n) }

// settle gives the value its place.
func (o *odd) settle(place func(row int) place) {
	if o.row >= 0 {
		o.at, o.row = place(o.row), -1
	}
}

// places gives a place to what was noticed in the chunk that is passed.
func (s *scan) places(place func(row int) place) {
	if s.odds.n > 0 {
		s.odds.at.settle(place)
	}
	for i := range s.heads {
		s.heads[i].settle(place)
	}
	for i := range s.dates {
		if d := &s.dates[i]; d.odds.n > 0 {
			d.odds.at.settle(place)
		}
	}
	for _, f := range s.forms {
		if f.odds.n > 0 {
			f.odds.at.settle(place)
		}
	}
}

// dateLike looks whether text, the value of a record of the chunk, is a date.
func (s *scan) dateLike(k *kept, row int) {
	switch {
	case !s.elected:
		s.heads = append(s.heads, head{k.string(), inChunk(row)})
		if len(s.heads) == heads {
			s.elect()
		}
	case len(s.dates) > 0:
		s.dates = narrow(s.dates, k.text, inChunk(row), s.n)
	}
}

// elect chooses the layouts and formats that read half or more of the first values.
func (s *scan) elect() {
	if s.elected {
		return
	}
	s.elected = true
	n := int64(len(s.heads))
	for _, d := range s.days {
		for i := 0; i < len(s.heads) && few(d.odds.n, n); i++ {
			d.take([]byte(s.heads[i].text), s.heads[i].odd)
		}
		if few(d.odds.n, n) {
			s.dates = append(s.dates, d)
		}
	}
	if s.formats && len(s.forms) == 0 && s.odds.n > 0 && !few(s.odds.n, n) {
		for _, f := range newForms() {
			for i := 0; i < len(s.heads) && few(f.odds.n, n); i++ {
				if h := s.heads[i]; !f.look([]byte(h.text)) {
					f.odds.add(h.odd)
				}
			}
			if few(f.odds.n, n) {
				s.forms = append(s.forms, f)
			}
		}
	}
	s.heads = nil
}

// readAll are the layouts that read all values.
func (s *scan) readAll() []dating {
	var all []dating
	for _, d := range s.dates {
		if d.odds.n == 0 {
			all = append(all, d)
		}
	}
	return all
}

// formsOfAll are the formats that read all values.
func (s *scan) formsOfAll() []*form {
	var all []*form
	for _, f := range s.forms {
		if f.odds.n == 0 {
			all = append(all, f)
		}
	}
	return all
}

// guessNear says of a column that is text which values among dates, or among numbers of a format, are
// none, where the column would be one of dates or numbers without them. Whole numbers that are not all
// days are none, unless the name says so.
func (s *scan) guessNear(name nameWords) (guess, bool) {
	values := s.n
	plain := s.numbers && few(s.odds.n, values)
	if len(s.dates) > 0 {
		d := slices.MinFunc(s.dates, func(a, b dating) int { return int(a.odds.n - b.odds.n) })
		days := name.has(dateNames) || d.odds.n == s.odds.n && values-d.odds.n >= fewRecords
		if d.odds.n > 0 && few(d.odds.n, values) && (!plain || days && d.humanYears()) {
			return near(oddDate, d.odds, values, string(d.layout)), true
		}
	}
	distinct, _ := s.distinct()
	if plain && s.odds.n > 0 && !s.zeros && !codes(name, s.decimal, distinct-s.odds.n, values) {
		return near(oddNumber, s.odds, values, ""), true
	}
	if len(s.forms) > 0 {
		f := slices.MinFunc(s.forms, func(a, b *form) int { return int(a.odds.n - b.odds.n) })
		if format := f.written(); f.odds.n > 0 && few(f.odds.n, values) && !f.zeros && !codes(name, f.decimal, distinct-f.odds.n, values) {
			return near(oddFormat, f.odds, values, string(format)), true
		}
	}
	return guess{}, false
}

// Codes of reasons of a type: nearly all values are numbers, numbers of a format, or dates.
const oddNumber, oddFormat, oddDate = "type-odd", "type-odd-format", "type-odd-date"

func near(code string, o odds, values int64, format string) guess {
	at := o.at.at
	a := args{"odd": o.n, "values": values}
	if at.kind != "" {
		a[at.kind] = at.number
	}
	if at.file != "" {
		a["file"] = at.file
	}
	if format != "" {
		a["format"] = format
	}
	return guess{kind: table.Category, reason: typeReason(table.Category, Reason{Code: code, Args: a}), typed: true}
}
