package space

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Survey looks at the columns of a table, run of records by run of records, and
// makes the [Frame] that places them. The runs come in order, all of them once
// ([Survey.Look]) and, where [Survey.Twice] says so, all of them a second time.
type Survey struct {
	scaling Scaling
	columns []columnSurvey
	rows    int
	again   bool
}

// columnSurvey is what a frame must know of a column.
type columnSurvey struct {
	field   table.Field
	missing int
	present int
	// numbers
	lo, hi, sum, squares float64
	// categories: how often each code occurs
	counts []int
}

func (c *columnSurvey) number() bool {
	return c.field.Type.IsNumber() || c.field.Type == table.Ordered
}

func (c *columnSurvey) mean() float64 {
	if c.present == 0 {
		return 0
	}
	return c.sum / float64(c.present)
}

// NewSurvey begins to look at columns of these fields.
func NewSurvey(fields []table.Field, scaling Scaling) (*Survey, error) {
	if len(fields) == 0 {
		return nil, noren.Bug("a space needs a column at least")
	}
	v := &Survey{scaling: scaling, columns: make([]columnSurvey, len(fields))}
	for a := range v.columns {
		v.columns[a] = columnSurvey{field: fields[a], lo: math.Inf(1), hi: math.Inf(-1)}
	}
	return v, nil
}

// Twice tells that the records must be looked at a second time: deviations are
// summed about the mean.
func (v *Survey) Twice() bool {
	if v.scaling != ZScore {
		return false
	}
	for a := range v.columns {
		if v.columns[a].number() {
			return true
		}
	}
	return false
}

// Again begins the second look.
func (v *Survey) Again() { v.again = true }

// Look takes in a run of records; the columns are those of the fields.
func (v *Survey) Look(columns []*table.Column) {
	for a, col := range columns {
		c := &v.columns[a]
		switch {
		case v.again:
			if c.number() {
				c.deviate(col)
			}
		case c.number():
			c.measure(col)
		default:
			c.count(col)
		}
	}
	if !v.again {
		v.rows += columns[0].Len()
	}
}

func (c *columnSurvey) measure(col *table.Column) {
	gaps := col.Missing() > 0
	for i := range col.Len() {
		if gaps && col.IsMissing(i) {
			c.missing++
			continue
		}
		x := col.Number(i)
		c.lo, c.hi = min(c.lo, x), max(c.hi, x)
		c.sum += x
		c.present++
	}
}

func (c *columnSurvey) deviate(col *table.Column) {
	gaps := col.Missing() > 0
	mean := c.mean()
	for i := range col.Len() {
		if gaps && col.IsMissing(i) {
			continue
		}
		d := col.Number(i) - mean
		c.squares += d * d
	}
}

func (c *columnSurvey) count(col *table.Column) {
	if len(c.counts) < len(col.Dict) {
		c.counts = append(c.counts, make([]int, len(col.Dict)-len(c.counts))...)
	}
	gaps := col.Missing() > 0
	for i := range col.Len() {
		if gaps && col.IsMissing(i) {
			c.missing++
			continue
		}
		c.counts[col.Codes[i]]++
		c.present++
	}
}
