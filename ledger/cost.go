package ledger

import (
	"strconv"
	"strings"
)

// Cost is an amount of privacy loss: epsilon in units of 1e-9, delta in units
// of 1e-18. Whoever prices a request rounds both up (design note, section 2).
type Cost struct {
	Epsilon int64
	Delta   int64
}

// decimal writes n units of 10^-digits exactly.
func decimal(n int64, digits int) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if len(text) <= digits {
		text = strings.Repeat("0", digits+1-len(text)) + text
	}
	whole, part := text[:len(text)-digits], strings.TrimRight(text[len(text)-digits:], "0")
	if part != "" {
		whole += "." + part
	}
	return sign + whole
}

// Neighbours is a relation of neighbouring data sets.
type Neighbours uint8

const (
	// AddRemove: one has all records of one unit more than the other.
	AddRemove Neighbours = iota
	// ReplaceOne: the records of one unit differ.
	ReplaceOne
)

// String names n as certificates do.
func (n Neighbours) String() string {
	if n == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// parseNeighbours reads what String wrote; the schema allows nothing else.
func parseNeighbours(s string) Neighbours {
	if s == ReplaceOne.String() {
		return ReplaceOne
	}
	return AddRemove
}
