package space

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// FromTable makes the space of a table's quasi-identifiers.
//
// Integers, decimals and dates are numbers; ordered categories enter by rank,
// as numbers. A category is an axis of weight 1; with a hierarchy of L levels
// below the root it is L axes, the ancestor at each of them, of weight 1/L
// each, so that the squared distance of two values is the share of levels at
// which they differ.
//
// A missing value is a value of its own: one more code in a category (at every
// level of a hierarchy); in a number the record sits at the mean of the
// present ones, and an axis {present, missing} of weight 1 is added.
//
// Under [ZScore] the axes that a category or a missing value adds are weighted
// so that the column's total sample variance in the embedding is 1, like that
// of a number.
func FromTable(columns []*table.Column, scaling Scaling) (*Space, error) {
	f, err := FrameOf(columns, scaling)
	if err != nil {
		return nil, err
	}
	return f.Space(columns)
}

// FrameOf is the frame of a whole table, by which [FromTable] places its records.
func FrameOf(columns []*table.Column, scaling Scaling) (*Frame, error) {
	fields := make([]table.Field, len(columns))
	for a, c := range columns {
		fields[a] = c.Field
	}
	v, err := NewSurvey(fields, scaling)
	if err != nil {
		return nil, err
	}
	v.Look(columns)
	if v.Twice() {
		v.Again()
		v.Look(columns)
	}
	return v.Frame(columns)
}

// FromMatrix makes a space of numbers alone, one slice of n values a column,
// scaled. It is the paper's code space when text columns enter by rank.
func FromMatrix(columns [][]float64, scaling Scaling) (*Space, error) {
	if len(columns) == 0 {
		return nil, noren.Bug("a space needs a column at least")
	}
	scaled := make([][]float64, len(columns))
	for a, x := range columns {
		scaled[a] = scale(x, scaling)
	}
	return New(len(columns[0]), scaled, nil)
}

// scale returns the scaled values.
func scale(x []float64, scaling Scaling) []float64 {
	c := columnSurvey{lo: math.Inf(1), hi: math.Inf(-1), present: len(x)}
	for _, v := range x {
		c.lo, c.hi = min(c.lo, v), max(c.hi, v)
		c.sum += v
	}
	for _, v := range x {
		c.squares += (v - c.mean()) * (v - c.mean())
	}
	var axis frameAxis
	axis.scale(&c, scaling)
	out := make([]float64, len(x))
	if axis.flat {
		return out
	}
	for i, v := range x {
		out[i] = (v - axis.shift) / axis.unit
	}
	return out
}
