package publish

import (
	"github.com/noren-privacy/noren"
)

// Mode is how a group's common value is made.
type Mode uint8

const (
	// Aggregate publishes means, medians and most frequent values.
	Aggregate Mode = iota
	// Generalize publishes ranges, ancestors and sets.
	Generalize
	// Matched publishes one value a group and column, as Aggregate does, chosen
	// so that counts over one and two columns of the whole table stay near the
	// original's.
	Matched
	// Shares publishes the values of a category with their shares in the group,
	// and the range and the mean of a number.
	Shares
)

var modeNames = [...]string{Aggregate: "aggregate", Generalize: "generalize", Matched: "matched", Shares: "shares"}

// String names m as on the command line.
func (m Mode) String() string { return modeNames[m] }

// Boxes reports whether m publishes what a group spans (ranges, sets), and not
// one value of it: a small span is then what a partition should aim at.
func (m Mode) Boxes() bool { return m == Generalize || m == Shares }

// ParseMode is the inverse of [Mode.String].
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return 0, noren.Reasonf("unknown way to publish %q: matched, aggregate, generalize or shares", s)
}

// Ranges is where the ends of published ranges come from.
type Ranges uint8

const (
	// Tight ranges end at the smallest and largest value of the group.
	Tight Ranges = iota
	// Fixed ranges end at round numbers of grids that do not depend on the data.
	Fixed
)

// String names r as on the command line.
func (r Ranges) String() string {
	if r == Fixed {
		return "fixed"
	}
	return "tight"
}

// ParseRanges is the inverse of [Ranges.String].
func ParseRanges(s string) (Ranges, error) {
	switch s {
	case "tight":
		return Tight, nil
	case "fixed":
		return Fixed, nil
	}
	return 0, noren.Reasonf("unknown ranges %q: tight or fixed", s)
}

// Options say how groups are published.
type Options struct {
	// Mode defaults to Aggregate.
	Mode Mode
	// Ranges is for Generalize and Shares. Defaults to Tight.
	Ranges Ranges
	// Seed fixes the order in which Matched visits the groups. Defaults to 0.
	Seed uint64
	// Progress receives the stages "publishing" and, with Matched, "matching".
	// Optional.
	Progress noren.Progress
}
