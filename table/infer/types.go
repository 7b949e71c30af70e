package infer

import (
	"github.com/noren-privacy/noren/table"
)

// guess is a type and why.
type guess struct {
	kind     table.Type
	layout   table.Layout
	number   table.NumberFormat
	reason   Reason
	declared bool
	typed    bool // numbers or dates, as seen in the texts themselves
}

// fewRecords is the number of records below which a coincidence is no evidence.
const fewRecords = 10

// guess decides the type from the values; what may stand for a missing value
// is none.
func (s *scan) guess() guess {
	if s.stored.Proposed != nil {
		kind := *s.stored.Proposed
		return guess{kind: kind, reason: typeReason(kind, Reason{Code: "type-declared"}), declared: true, typed: kind.IsNumber()}
	}
	if s.n == 0 {
		return category(Reason{Code: "type-empty"})
	}
	s.elect()
	name := wordsOf(s.stored.Name)
	if g, ok := s.guessDate(name); ok {
		return g
	}
	if g, ok := s.guessFormat(name); ok {
		return g
	}
	if g, ok := s.guessNear(name); ok {
		return g
	}
	distinct, _ := s.distinct()
	switch {
	case !s.numbers || s.odds.n > 0:
		return category(Reason{Code: "type-words"})
	case s.zeros:
		return category(Reason{Code: "type-zeros"})
	case !s.decimal && name.has(codeNames):
		return category(Reason{Code: "type-code-name"})
	case !s.decimal && distinct <= 2 && s.n >= fewRecords:
		return category(Reason{Code: TypeTwo})
	case s.decimal:
		return guess{kind: table.Decimal, reason: typeReason(table.Decimal, Reason{Code: "type-decimal"}), typed: true}
	}
	return guess{kind: table.Integer, reason: typeReason(table.Integer, Reason{Code: "type-integer"}), typed: true}
}

// codes tells that whole numbers are codes: the name says so, or they are at most two.
func codes(name nameWords, decimal bool, distinct, values int64) bool {
	return !decimal && (name.has(codeNames) || distinct <= 2 && values >= fewRecords)
}

// category is the guess that a column holds categories.
func category(r Reason) guess {
	return guess{kind: table.Category, reason: typeReason(table.Category, r)}
}

// guessDate decides whether the column holds dates. Whole numbers of eight
// digits are days only where they are many or the name says so, and the years
// are such as people live in.
func (s *scan) guessDate(name nameWords) (guess, bool) {
	all := s.readAll()
	if len(all) == 0 {
		return guess{}, false
	}
	d := all[0]
	if s.numbers && s.odds.n == 0 && (s.n < fewRecords && !name.has(dateNames) || !d.humanYears()) {
		return guess{}, false
	}
	why := Reason{Code: "type-date", Args: args{"format": string(d.layout)}}
	if left := different(all); len(left) > 1 {
		why = Reason{
			Code: "type-date-open",
			Args: args{"format": string(left[0].layout), "other": string(left[1].layout)},
		}
	}
	g := guess{kind: table.Date, layout: d.layout, reason: typeReason(table.Date, why), typed: true}
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
