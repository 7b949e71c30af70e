package outlier

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// maxCoordinate is the largest coordinate: 2^30 steps.
const maxCoordinate = 1 << 30

// frame brings records to integer coordinates.
type frame struct {
	axes    []axis.Axis
	step    float64
	radius2 int64 // in squared steps
}

// newFrame checks the axes, and returns all faults at once.
func newFrame(axes []axis.Axis, step, radius float64) (*frame, faults) {
	f := &frame{axes: append([]axis.Axis(nil), axes...), step: step}
	var bad faults
	if len(axes) == 0 {
		bad.add("columns", "at least one column is needed")
	}
	if !(step > 0) || math.IsInf(step, 1) {
		bad.add("step", "the step must be a number above 0")
	}
	if !(radius > 0) || math.IsInf(radius, 1) {
		bad.add("radius", "the radius must be a number above 0")
	}
	seen := map[string]bool{}
	span := 0.0
	for j := range f.axes {
		a := &f.axes[j]
		where := noren.Textf("axis %d (%s)", j+1, a.Field.Name)
		if a.Field.Name == "" {
			bad.add(where, "an axis needs a column")
		}
		if seen[a.Field.Name] {
			bad.add(where, "the column is named twice")
		}
		seen[a.Field.Name] = true
		if a.Field.Type == table.Category {
			a.Field.Type = table.Decimal
		}
		if a.Scale == 0 {
			a.Scale = 1
		}
		if !(a.Scale > 0) || math.IsInf(a.Scale, 1) {
			bad.add(where, "the scale must be a number above 0")
			continue
		}
		if !(a.Low < a.High) || math.IsInf(a.Low, -1) || math.IsInf(a.High, 1) {
			bad.add(where, "the box must run from a number to a greater one")
			continue
		}
		m := math.Round((a.High - a.Low) / (a.Scale * step))
		if !(m <= maxCoordinate) {
			bad.add(where, "the box holds more than 2^30 steps: choose a coarser step or a smaller box")
			continue
		}
		span += m * m
	}
	if span > 1<<61 {
		bad.add("box", "the box is too large for exact distances: choose a coarser step")
	}
	if len(bad) == 0 {
		// The factor brings back a square that rounding has put just below an
		// integer. The radius that counts is the one in steps, and it is public.
		r2 := math.Floor(radius / step * (radius / step) * (1 + 1e-12))
		if r2 > float64(maxRadius2) {
			bad.add("radius", "the radius holds more than 2^30 steps: choose a coarser step")
		} else {
			f.radius2 = int64(r2)
		}
	}
	return f, bad
}

// columns describes the columns that are read.
func (f *frame) columns() []table.Field {
	fields := make([]table.Field, len(f.axes))
	for j, a := range f.axes {
		fields[j] = a.Field
	}
	return fields
}

// points reads the columns of a table. A record that lacks a coordinate has no
// place. Errors come from the schema alone, which is public.
func (f *frame) points(t *table.Table) (*axis.Points[int32], error) {
	cols := make([]*table.Column, len(f.axes))
	for j, a := range f.axes {
		cols[j] = t.Column(a.Field.Name)
		switch c := cols[j]; {
		case c == nil:
			return nil, noren.Usagef(a.Field.Name, "there is no such column").Hinted("name a column of the table")
		case c.Field.Type == table.Category:
			return nil, noren.Usagef(a.Field.Name, "a category has no distances").Hinted("name a column of numbers, dates or ordered levels")
		case c.Len() != t.Rows:
			return nil, &noren.Error{Kind: noren.Internal, Where: a.Field.Name, What: "the columns are not of one length"}
		}
	}
	if err := checkRecords(t.Rows, len(cols)); err != nil {
		return nil, err
	}
	coords := make([]int32, 0, t.Rows*len(cols))
	alone := 0
records:
	for i := range t.Rows {
		for _, c := range cols {
			if c.IsMissing(i) {
				alone++
				continue records
			}
		}
		for j, c := range cols {
			coords = append(coords, f.coordinate(j, c.Number(i)))
		}
	}
	return NewPoints(len(cols), coords, alone)
}

// coordinate is a value of axis j in steps from its lower bound.
func (f *frame) coordinate(j int, v float64) int32 {
	a := f.axes[j]
	return int32(math.Round((min(max(v, a.Low), a.High) - a.Low) / (a.Scale * f.step)))
}

// faults gathers what is wrong with options, so that all of it is reported at once.
type faults noren.Texts

func (f *faults) add(where any, what noren.Format, args ...any) {
	*f = append(*f, noren.Textf("%s: %s", where, noren.Textf(what, args...)))
}

// Points brings the records of a private table to the coordinates that the
// mechanism counts with, for [Diagnose] with [Mechanism.Setting]. The result is
// private.
func (m *Mechanism) Points(t *table.Table) (*axis.Points[int32], error) { return m.frame.points(t) }

// Setting is the query with its radius in squared steps.
func (m *Mechanism) Setting() Setting { return m.set }

// IntegerPoints takes whole numbers as they stand for coordinates, for [Diagnose]:
// the named Integer columns of a private table, of which it takes away the least
// value of each, as only differences count. A record that lacks one has no place.
// Errors: [noren.Usage] for a column that is not there or not of whole numbers,
// [noren.BadData] for one that spans 2^31 or more.
func IntegerPoints(t *table.Table, columns []string) (*axis.Points[int32], error) {
	cols := make([]*table.Column, len(columns))
	least := make([]int64, len(columns))
	for j, name := range columns {
		c := t.Column(name)
		if c == nil || c.Field.Type != table.Integer {
			return nil, noren.Usagef(name, "there is no column of whole numbers of this name").Hinted("round the values to public steps first")
		}
		cols[j] = c
		low, high, found := int64(0), int64(0), false
		for i, v := range c.Ints {
			if c.IsMissing(i) {
				continue
			}
			if !found {
				low, high, found = v, v, true
			}
			low, high = min(low, v), max(high, v)
		}
		if uint64(high)-uint64(low) > math.MaxInt32 {
			return nil, &noren.Error{Kind: noren.BadData, Where: name, What: "the column spans 2^31 or more", Hint: "use coarser steps"}
		}
		least[j] = low
	}
	if err := checkRecords(t.Rows, len(cols)); err != nil {
		return nil, err
	}
	coords, alone := make([]int32, 0, t.Rows*len(cols)), 0
records:
	for i := range t.Rows {
		for _, c := range cols {
			if c.IsMissing(i) {
				alone++
				continue records
			}
		}
		for j, c := range cols {
			coords = append(coords, int32(c.Ints[i]-least[j]))
		}
	}
	return NewPoints(len(cols), coords, alone)
}
