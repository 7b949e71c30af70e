package space

import (
	"errors"
	"math"

	"noren/table"
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
	if len(columns) == 0 {
		return nil, errors.New("a space needs a column at least")
	}
	n := columns[0].Len()
	var numbers [][]float64
	var words []Categorical
	for _, c := range columns {
		switch {
		case c.Field.Type.IsNumber() || c.Field.Type == table.Ordered:
			x, missing := scaledColumn(c, scaling)
			numbers = append(numbers, x)
			if missing != nil {
				words = append(words, weigh([]Categorical{*missing}, scaling)...)
			}
		case c.Field.Hierarchy != nil:
			axes, err := hierarchyAxes(c)
			if err != nil {
				return nil, err
			}
			words = append(words, weigh(axes, scaling)...)
		default:
			words = append(words, weigh([]Categorical{flatAxis(c)}, scaling)...)
		}
	}
	return New(n, numbers, words)
}

// FromMatrix makes a space of numbers alone, one slice of n values a column,
// scaled. It is the paper's code space when text columns enter by rank.
func FromMatrix(columns [][]float64, scaling Scaling) (*Space, error) {
	if len(columns) == 0 {
		return nil, errors.New("a space needs a column at least")
	}
	scaled := make([][]float64, len(columns))
	for a, x := range columns {
		scaled[a] = scale(x, func(int) bool { return true }, scaling)
	}
	return New(len(columns[0]), scaled, nil)
}

// scale returns the scaled values of the records that are present; the others
// sit at the mean of these.
func scale(x []float64, present func(int) bool, scaling Scaling) []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	var sum float64
	var m int
	for i, v := range x {
		if present(i) {
			lo, hi = min(lo, v), max(hi, v)
			sum += v
			m++
		}
	}
	out := make([]float64, len(x))
	if m == 0 {
		return out
	}
	mean := sum / float64(m)
	shift, unit := 0.0, 1.0
	switch scaling {
	case MinMax:
		shift, unit = lo, hi-lo
	case ZScore:
		var squares float64
		for i, v := range x {
			if present(i) {
				squares += (v - mean) * (v - mean)
			}
		}
		shift, unit = mean, 0
		if m > 1 {
			unit = math.Sqrt(squares / float64(m-1))
		}
	}
	if lo == hi && scaling != None {
		return out
	}
	var scaledSum float64
	for i, v := range x {
		if present(i) {
			out[i] = (v - shift) / unit
			scaledSum += out[i]
		}
	}
	for i := range out {
		if !present(i) {
			out[i] = scaledSum / float64(m)
		}
	}
	return out
}

func scaledColumn(c *table.Column, scaling Scaling) ([]float64, *Categorical) {
	n := c.Len()
	x := make([]float64, n)
	for i := range x {
		x[i] = c.Number(i)
	}
	out := scale(x, func(i int) bool { return !c.IsMissing(i) }, scaling)
	if c.Missing() == 0 {
		return out, nil
	}
	codes := make([]uint32, n)
	for i := range codes {
		if c.IsMissing(i) {
			codes[i] = 1
		}
	}
	return out, &Categorical{Codes: codes, Cardinality: 2, Weight: 1}
}

func flatAxis(c *table.Column) Categorical {
	codes := make([]uint32, c.Len())
	for i := range codes {
		if c.IsMissing(i) {
			codes[i] = uint32(len(c.Dict))
		} else {
			codes[i] = c.Codes[i]
		}
	}
	return Categorical{Codes: codes, Cardinality: len(c.Dict) + 1, Weight: 1}
}

func hierarchyAxes(c *table.Column) ([]Categorical, error) {
	h := c.Field.Hierarchy
	leaf := make([]uint32, len(c.Dict))
	for d, word := range c.Dict {
		id, ok := h.Leaf(word)
		if !ok {
			return nil, errors.New("a value of the column is no leaf of its hierarchy")
		}
		leaf[d] = id
	}
	levels := h.Levels() - 1
	axes := make([]Categorical, levels)
	for l := range axes {
		codes := make([]uint32, c.Len())
		for i := range codes {
			if c.IsMissing(i) {
				codes[i] = uint32(h.Size(l))
			} else {
				codes[i] = h.Ancestor(leaf[c.Codes[i]], l)
			}
		}
		axes[l] = Categorical{Codes: codes, Cardinality: h.Size(l) + 1, Weight: 1 / float64(levels)}
	}
	return axes, nil
}

// weigh rescales the axes of one column, under [ZScore], to a total sample
// variance of 1: an axis of weight w whose codes occur m_c times has the sum of
// squares (w/2)(n - sum m_c²/n). A constant column gets weight 0.
func weigh(axes []Categorical, scaling Scaling) []Categorical {
	if scaling != ZScore {
		return axes
	}
	var variance float64
	for _, a := range axes {
		n := float64(len(a.Codes))
		count := make([]float64, a.Cardinality)
		for _, c := range a.Codes {
			count[c]++
		}
		rest := n
		for _, m := range count {
			rest -= m * m / n
		}
		if n > 1 {
			variance += a.Weight / 2 * rest / (n - 1)
		}
	}
	for i := range axes {
		if variance > 0 {
			axes[i].Weight /= variance
		} else {
			axes[i].Weight = 0
		}
	}
	return axes
}
