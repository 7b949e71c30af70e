package infer

import (
	"fmt"

	"github.com/noren-privacy/noren/table"
)

// guess is a type and why.
type guess struct {
	kind     table.Type
	layout   table.Layout
	number   table.NumberFormat
	reason   string
	declared bool
	typed    bool // numbers or dates, as seen in the texts themselves
}

// fewRecords is the number of records below which a coincidence is no evidence.
const fewRecords = 10

// guess decides the type from the values; what may stand for a missing value
// is none.
func (s *scan) guess() guess {
	if s.stored.Proposed != nil {
		return guess{kind: *s.stored.Proposed, reason: fmt.Sprintf("%s: the file itself declares it", *s.stored.Proposed), declared: true, typed: s.stored.Proposed.IsNumber()}
	}
	if s.n == 0 {
		return guess{kind: table.Category, reason: "category: it holds no value"}
	}
	name := wordsOf(s.stored.Name)
	if g, ok := s.guessDate(name); ok {
		return g
	}
	if g, ok := s.guessFormat(name); ok {
		return g
	}
	distinct, _ := s.distinct()
	switch {
	case !s.numbers:
		return guess{kind: table.Category, reason: "category: its values are words"}
	case s.odds == s.n:
		return guess{kind: table.Category, reason: "category: its values are words"}
	case s.odds > 0:
		return guess{kind: table.Category, reason: fmt.Sprintf("category: %d of its %d values are no numbers, the first at %s; if they stand for missing values, say so, and the column is numbers", s.odds, s.n, s.oddAt)}
	case s.zeros:
		return guess{kind: table.Category, reason: "category: some of its numbers begin with a zero or a plus, as codes do, and would lose it"}
	case !s.decimal && name.has(codeNames):
		return guess{kind: table.Category, reason: "category: its values are numbers, but its name says that they are codes"}
	case !s.decimal && distinct <= 2 && s.n >= fewRecords:
		return guess{kind: table.Category, reason: "category: it has at most two whole numbers as values, as codes do"}
	case s.decimal:
		return guess{kind: table.Decimal, reason: "decimal: all its values are numbers, and some are not whole", typed: true}
	}
	return guess{kind: table.Integer, reason: "integer: all its values are whole numbers", typed: true}
}

// guessDate decides whether the column holds dates. Whole numbers of eight
// digits are days only where they are many or the name says so, and the years
// are such as people live in.
func (s *scan) guessDate(name nameWords) (guess, bool) {
	if len(s.dates) == 0 {
		return guess{}, false
	}
	d := s.dates[0]
	if s.numbers && s.odds == 0 {
		first, last := year(d.layout, d.smallest), year(d.layout, d.largest)
		if s.n < fewRecords && !name.has(dateNames) || first < 1850 || last > 2150 {
			return guess{}, false
		}
	}
	g := guess{kind: table.Date, layout: d.layout, reason: fmt.Sprintf("date: all its values read as %s", d.layout), typed: true}
	if left := different(s.dates); len(left) > 1 {
		g.reason = fmt.Sprintf("date: all its values read as %s, and as %s too: no day above the 12th tells which number is the month; say the format", left[0].layout, left[1].layout)
	}
	return g, true
}

func year(l table.Layout, v int64) int {
	days := table.Layout("YYYY-MM-DD")
	if l.HasTime() {
		v /= 24 * 60 * 60
	}
	n := 0
	for _, c := range days.Format(v)[:4] {
		n = 10*n + int(c-'0')
	}
	return n
}
