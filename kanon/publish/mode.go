package publish

import "fmt"

// Mode is how a group's common value is made.
type Mode uint8

const (
	// Aggregate publishes means, medians and most frequent values.
	Aggregate Mode = iota
	// Generalize publishes ranges, ancestors and sets.
	Generalize
)

// String names m as on the command line.
func (m Mode) String() string {
	if m == Generalize {
		return "generalize"
	}
	return "aggregate"
}

// ParseMode is the inverse of [Mode.String].
func ParseMode(s string) (Mode, error) {
	switch s {
	case "aggregate":
		return Aggregate, nil
	case "generalize":
		return Generalize, nil
	}
	return 0, fmt.Errorf("unknown way to publish %q: aggregate or generalize", s)
}
