package ratio

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// maxCategories is how many values a category may have.
const maxCategories = 256

// Points are records as points of R^d, n x d. A record that lacks a value is a point with a
// coordinate of NaN: all its kernels are 0, which is a function of that record alone. Where Outside is set ([Frame.Points]), it says of
// each record whether one of its values lies beyond the public bounds by more than a tenth
// of their width, or is a category outside of the public ones.
type Points = axis.Points[float64]

// Frame maps the records of tables to points: a category to one coordinate for each of its
// public values. It is immutable.
type Frame struct {
	axes []axis.Axis
	dim  int
}

// NewFrame checks the axes and returns all faults at once. A scale defaults to High - Low, and
// to 1 for a category, where two different values are one unit of distance apart. Error:
// [noren.Usage].
func NewFrame(axes []axis.Axis) (*Frame, error) {
	f := &Frame{axes: slices.Clone(axes)}
	var bad faults
	if len(axes) == 0 {
		bad.add("columns", "at least one column is needed")
	}
	seen := map[string]bool{}
	for j := range f.axes {
		a := &f.axes[j]
		where := noren.Textf("column %s", a.Field.Name)
		if a.Field.Name == "" {
			bad.add(noren.Textf("axis %d", j+1), "an axis needs a column")
		}
		if seen[a.Field.Name] {
			bad.add(where, "the column is named twice")
		}
		seen[a.Field.Name] = true
		if a.Field.Type == table.Category {
			f.dim += len(a.Categories)
			if len(a.Categories) == 0 || len(a.Categories) > maxCategories {
				bad.add(where, "a category needs its public values, 1 to 256 of them")
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(a.Categories))); len(distinct) != len(a.Categories) {
				bad.add(where, "a value is named twice")
			}
			if a.Scale == 0 {
				a.Scale = 1
			}
		} else {
			f.dim++
			if len(a.Categories) > 0 {
				bad.add(where, "only a category has a list of values")
			}
			if !(a.Low < a.High) || math.IsInf(a.Low, -1) || math.IsInf(a.High, 1) {
				bad.add(where, "the bounds must run from a number to a greater one")
				continue
			}
			if a.Scale == 0 {
				a.Scale = a.High - a.Low
			}
		}
		if w := (a.High - a.Low) / a.Scale; !(a.Scale > 0) || math.IsInf(a.Scale, 1) || math.IsInf(w, 1) {
			bad.add(where, "the scale must be a number above 0")
		}
	}
	if f.dim > maxDim {
		bad.add("columns", "more than 4096 coordinates")
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// Dim is d, the number of coordinates.
func (f *Frame) Dim() int { return f.dim }

// Axes are the axes with their defaults.
func (f *Frame) Axes() []axis.Axis { return slices.Clone(f.axes) }

// Columns describes the columns that Points reads.
func (f *Frame) Columns() []table.Field {
	fields := make([]table.Field, len(f.axes))
	for j, a := range f.axes {
		fields[j] = a.Field
	}
	return fields
}

// Points brings the records of a table to points. A record that lacks a value becomes a
// point of no numbers, which has no kernels. Errors come from the schema alone:
// [noren.Usage].
func (f *Frame) Points(t *table.Table) (*Points, error) {
	p := axis.NewPoints[float64](t.Rows, f.dim)
	p.Outside = make([]bool, t.Rows)
	at := 0
	for _, a := range f.axes {
		c := t.Column(a.Field.Name)
		if c == nil {
			return nil, noren.Usagef(a.Field.Name, "there is no such column").Hinted("name a column of the table")
		}
		if c.Len() != t.Rows || c.Field.Type != a.Field.Type {
			return nil, noren.Usagef(a.Field.Name, "the column is of another type or length than was declared")
		}
		if a.Field.Type == table.Category {
			f.categories(p, at, a, c)
			at += len(a.Categories)
			continue
		}
		for i := range t.Rows {
			v := math.NaN()
			if !c.IsMissing(i) {
				x := c.Number(i)
				v = (min(max(x, a.Low), a.High) - a.Low) / a.Scale
				margin := beyondBounds * (a.High - a.Low)
				p.Outside[i] = p.Outside[i] || x < a.Low-margin || x > a.High+margin
			}
			p.Data[i*f.dim+at] = v
		}
		at++
	}
	return p, nil
}

// beyondBounds is how far a value may lie beyond the bounds, by their width, before the
// record counts as outside.
const beyondBounds = 0.1

// outside reports which records are outside of the public ones: as the frame found, or,
// of points without one, beyond the range of the public points.
func (m *Mechanism) outside(x *Points) []bool {
	if x.Outside != nil {
		return x.Outside
	}
	out := make([]bool, x.Rows)
	for i := range out {
		for j, v := range x.Row(i) {
			margin := beyondBounds * (m.high[j] - m.low[j])
			out[i] = out[i] || v < m.low[j]-margin || v > m.high[j]+margin
		}
	}
	return out
}

// words fills the coordinates of a category: 1/sqrt(2) for the word that a record has.
func (f *Frame) categories(p *Points, at int, a axis.Axis, c *table.Column) {
	place := make([]int, len(c.Dict))
	for code, w := range c.Dict {
		place[code] = slices.Index(a.Categories, w)
	}
	for i := range p.Rows {
		if c.IsMissing(i) {
			p.Data[i*f.dim+at] = math.NaN()
		} else if w := place[c.Codes[i]]; w >= 0 {
			p.Data[i*f.dim+at+w] = 1 / (math.Sqrt2 * a.Scale)
		} else {
			p.Outside[i] = true
		}
	}
}

// box is the public box of all points: the method of noisy centres needs it.
func (f *Frame) box() (low, high []float64) {
	for _, a := range f.axes {
		if a.Field.Type != table.Category {
			low, high = append(low, 0), append(high, (a.High-a.Low)/a.Scale)
		}
		for range a.Categories {
			low, high = append(low, 0), append(high, 1/(math.Sqrt2*a.Scale))
		}
	}
	return low, high
}

// PublicAxes makes axes for columns of a public table: its least and greatest values
// for bounds, its values for categories. They are as public as the table is. Error:
// [noren.Usage].
func PublicAxes(t *table.Table, columns ...string) ([]axis.Axis, error) {
	axes := make([]axis.Axis, 0, len(columns))
	for _, name := range columns {
		c := t.Column(name)
		if c == nil {
			return nil, noren.Usagef(name, "there is no such column").Hinted("name a column of the public table")
		}
		a := axis.Axis{Field: c.Field}
		if c.Field.Type == table.Category {
			a.Categories = slices.Clone(c.Dict)
			if len(a.Categories) > maxCategories {
				return nil, noren.Usagef(name, "the column has more than 256 categories").Hinted("leave it out, or list the categories that count")
			}
			axes = append(axes, a)
			continue
		}
		a.Low, a.High = math.Inf(1), math.Inf(-1)
		for i := range t.Rows {
			if !c.IsMissing(i) {
				a.Low, a.High = min(a.Low, c.Number(i)), max(a.High, c.Number(i))
			}
		}
		if !(a.Low < a.High) {
			return nil, noren.Usagef(name, "the public column has fewer than two values").Hinted("leave it out: it cannot tell records apart")
		}
		axes = append(axes, a)
	}
	return axes, nil
}

// faults collects faults, so that all are reported at once.
type faults noren.Texts

func (f *faults) add(where any, what noren.Format, args ...any) {
	*f = append(*f, noren.Textf("%s: %s", where, noren.Textf(what, args...)))
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{noren.Texts(f)}}
}
