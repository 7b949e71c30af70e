package space

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Farthest is the largest absolute value of a number that a space takes. Squared
// distances are then at most 4e280 an axis, and their sums over 2^32 records and
// 10^6 axes stay below 1e298: nothing overflows, under any scaling.
const Farthest = 1e140

// Frame places records of a table as [FromTable] does, without holding them: a
// run of records, wherever it is taken from, gets the coordinates that it has
// among all. Frames do not change and may be used by several goroutines.
type Frame struct {
	rows  int
	axes  []frameAxis
	words int // categorical axes
}

// frameAxis places one column.
type frameAxis struct {
	field       table.Field
	number      bool
	shift, unit float64 // of a number
	flat        bool    // a number that is the same for all
	rest        float64 // where a record without a value sits
	gaps        bool    // some record has none: an axis {present, missing} is added
	weights     []float64
	leaf        []uint32 // of each code, in a hierarchy
	sst         float64  // of the categorical axes
	mean        float64  // of the scaled number
	cardinality int      // codes of the column
	span        float64  // of a number, unscaled
}

// IsNumber reports whether column a is placed as a number, HasGaps whether some
// record lacks it, and Span is the span of a number over the whole table, as the
// column holds it.
func (f *Frame) IsNumber(a int) bool { return f.axes[a].number }

// HasGaps: see [Frame.IsNumber].
func (f *Frame) HasGaps(a int) bool { return f.axes[a].gaps }

// Span: see [Frame.IsNumber].
func (f *Frame) Span(a int) float64 { return f.axes[a].span }

// Frame ends the looking. The columns are those that were looked at; their
// records do not matter, their dictionaries do.
func (v *Survey) Frame(columns []*table.Column) (*Frame, error) {
	f := &Frame{rows: v.rows, axes: make([]frameAxis, len(columns))}
	for a, col := range columns {
		c := &v.columns[a]
		x := &f.axes[a]
		*x = frameAxis{field: col.Field, number: c.number(), gaps: c.missing > 0, cardinality: len(col.Dict)}
		if x.number {
			if c.present > 0 && (c.lo < -Farthest || c.hi > Farthest) {
				return nil, &noren.Error{
					Kind: noren.BadData, Where: noren.Textf("column %s", col.Field.Name),
					What: "expected numbers from -%g to %g, got one beyond: squared distances would overflow", Args: []any{Farthest, Farthest},
					Hint: "write the column in a larger unit",
				}
			}
			x.scale(c, v.scaling)
			if c.present > 0 {
				x.span = c.hi - c.lo
			}
			if x.gaps {
				x.weigh([][]int{{c.present, c.missing}}, 1, v.scaling)
			}
		} else {
			counts, err := x.levels(col, c)
			if err != nil {
				return nil, err
			}
			x.weigh(counts, 1/float64(len(counts)), v.scaling)
		}
		f.words += len(x.weights)
	}
	return f, nil
}

// scale chooses shift and unit.
func (x *frameAxis) scale(c *columnSurvey, scaling Scaling) {
	x.unit = 1
	if c.present == 0 {
		x.flat = true
		return
	}
	mean := c.mean()
	switch scaling {
	case MinMax:
		x.shift, x.unit = c.lo, c.hi-c.lo
	case ZScore:
		x.shift, x.unit = mean, 0
		if c.present > 1 {
			x.unit = math.Sqrt(c.squares / float64(c.present-1))
		}
	}
	if c.lo == c.hi && scaling != None {
		x.flat = true
		return
	}
	x.mean = (mean - x.shift) / x.unit
	x.rest = x.mean
}

// levels counts the codes of each categorical axis of a column: one, or one a
// level of its hierarchy. The last code of an axis is the missing value.
func (x *frameAxis) levels(col *table.Column, c *columnSurvey) ([][]int, error) {
	h := x.field.Hierarchy
	if h == nil {
		counts := make([]int, len(col.Dict)+1)
		copy(counts, c.counts)
		counts[len(col.Dict)] = c.missing
		return [][]int{counts}, nil
	}
	x.leaf = make([]uint32, len(col.Dict))
	for d, word := range col.Dict {
		id, ok := h.Leaf(word)
		if !ok {
			return nil, noren.Bug("a value of the column is no leaf of its hierarchy")
		}
		x.leaf[d] = id
	}
	all := make([][]int, h.Levels()-1)
	for l := range all {
		all[l] = make([]int, h.Size(l)+1)
		all[l][h.Size(l)] = c.missing
		for d, n := range c.counts {
			all[l][h.Ancestor(x.leaf[d], l)] += n
		}
	}
	return all, nil
}

// weigh gives the axes their weight, and under [ZScore] one at which the
// column's total sample variance is 1: an axis of weight w whose codes occur m_c
// times has the sum of squares (w/2)(n - sum m_c²/n). A constant column then
// gets weight 0.
func (x *frameAxis) weigh(axes [][]int, weight float64, scaling Scaling) {
	x.weights = make([]float64, len(axes))
	var n float64
	for _, m := range axes[0] {
		n += float64(m)
	}
	var sst float64
	for l, counts := range axes {
		x.weights[l] = weight
		rest := n
		for _, m := range counts {
			if n > 0 {
				rest -= float64(m) * float64(m) / n
			}
		}
		sst += weight / 2 * rest
	}
	x.sst = sst
	if scaling != ZScore {
		return
	}
	variance := 0.0
	if n > 1 {
		variance = sst / (n - 1)
	}
	x.sst = 0
	for l := range x.weights {
		if variance > 0 {
			x.weights[l] /= variance
			x.sst = sst / variance
		} else {
			x.weights[l] = 0
		}
	}
}

// Space places a run of records, given by its columns.
func (f *Frame) Space(columns []*table.Column) (*Space, error) {
	n := columns[0].Len()
	var numbers [][]float64
	words := make([]Categorical, 0, f.words)
	for a, c := range columns {
		x := &f.axes[a]
		switch {
		case x.number:
			numbers = append(numbers, x.place(c))
			if x.gaps {
				codes := make([]uint32, n)
				for i := range codes {
					if c.IsMissing(i) {
						codes[i] = 1
					}
				}
				words = append(words, Categorical{Codes: codes, Cardinality: 2, Weight: x.weights[0]})
			}
		case x.leaf != nil:
			h := x.field.Hierarchy
			for l, weight := range x.weights {
				codes := make([]uint32, n)
				for i := range codes {
					if c.IsMissing(i) {
						codes[i] = uint32(h.Size(l))
					} else {
						codes[i] = h.Ancestor(x.leaf[c.Codes[i]], l)
					}
				}
				words = append(words, Categorical{Codes: codes, Cardinality: h.Size(l) + 1, Weight: weight})
			}
		default:
			codes := make([]uint32, n)
			for i := range codes {
				if c.IsMissing(i) {
					codes[i] = uint32(x.cardinality)
				} else {
					codes[i] = c.Codes[i]
				}
			}
			words = append(words, Categorical{Codes: codes, Cardinality: x.cardinality + 1, Weight: x.weights[0]})
		}
	}
	return New(n, numbers, words)
}

// place scales a number.
func (x *frameAxis) place(c *table.Column) []float64 {
	out := make([]float64, c.Len())
	if x.flat {
		return out
	}
	gaps := x.gaps && c.Missing() > 0
	for i := range out {
		if gaps && c.IsMissing(i) {
			out[i] = x.rest
		} else {
			out[i] = (c.Number(i) - x.shift) / x.unit
		}
	}
	return out
}

// SST adds up the sum of squared distances of all records to their centre,
// from runs of records in any number.
type SST struct {
	f       *Frame
	squares []float64 // by numeric axis
}

// NewSST begins the sum.
func (f *Frame) NewSST() *SST { return &SST{f: f} }

// Add takes in the records of s, which the frame has placed.
func (t *SST) Add(s *Space) {
	if t.squares == nil {
		t.squares = make([]float64, len(s.numbers))
	}
	at := 0
	for a := range t.f.axes {
		if !t.f.axes[a].number {
			continue
		}
		mean := t.f.axes[a].mean
		for _, x := range s.numbers[at] {
			t.squares[at] += (x - mean) * (x - mean)
		}
		at++
	}
}

// Sum is the sum once all records are in.
func (t *SST) Sum() float64 {
	var sum float64
	for _, q := range t.squares {
		sum += q
	}
	for a := range t.f.axes {
		sum += t.f.axes[a].sst
	}
	return sum
}
