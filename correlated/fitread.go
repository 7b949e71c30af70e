package correlated

import (
	"maps"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// ReadStates reads category or ordered columns as states: the places of their values
// in names, -1 where a value is missing or none of names. Without names the states are
// the values that the columns hold, in byte order. It returns a list of states for each
// column, and the names that were used.
func ReadStates(columns []*table.Column, names []string) (states [][]int, used []string) {
	if len(names) == 0 {
		seen := map[string]bool{}
		for _, c := range columns {
			for _, value := range c.Dict {
				seen[value] = true
			}
		}
		names = slices.Sorted(maps.Keys(seen))
	}
	number := make(map[string]int, len(names))
	for i, name := range names {
		number[name] = i
	}
	states = make([][]int, len(columns))
	for j, c := range columns {
		states[j] = make([]int, c.Len())
		for i := range states[j] {
			states[j][i] = -1
			if c.IsMissing(i) {
				continue
			}
			if state, known := number[c.Dict[c.Codes[i]]]; known {
				states[j][i] = state
			}
		}
	}
	return states, names
}

// Sequences cuts a list of states, one a row, into runs of rows with equal values of
// by, for [FitChain]; missing values are equal to each other. Without by all rows are
// one sequence.
func Sequences(states []int, by *table.Column) [][]int {
	if by == nil {
		return [][]int{states}
	}
	same := func(i, j int) bool {
		if by.IsMissing(i) || by.IsMissing(j) {
			return by.IsMissing(i) == by.IsMissing(j)
		}
		return by.Codes[i] == by.Codes[j]
	}
	var out [][]int
	from := 0
	for i := range states {
		if !same(i, from) {
			out = append(out, states[from:i])
			from = i
		}
	}
	return append(out, states[from:])
}

// Samples turns lists of n states, one a column, into n samples, one a row, for
// [FitTree].
func Samples(columns [][]int, n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		for _, c := range columns {
			out[i] = append(out[i], c[i])
		}
	}
	return out
}
