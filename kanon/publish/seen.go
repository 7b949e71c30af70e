package publish

import (
	"math"

	"github.com/noren-privacy/noren/table"
)

// Seen is what a [Plan] has seen of one column. Plans of the parts of a table are put
// together by it: see [Plan.Take].
type Seen struct {
	// Gaps tells that some record has no value.
	Gaps bool
	// Uneven tells that not all numbers are whole at the places they are written with.
	Uneven bool
	// Lo and Hi are of the values of a number. Lo is +Inf and Hi -Inf where there is none.
	Lo, Hi float64
	// Counts is how often each code of a category occurs, nil for a number.
	Counts []uint64
	// Units is how many values are multiples of which unit, nil where no means are published.
	Units *Multiples
}

// Seen is what was seen of each column. The counts and units are the plan's own. The plan must not
// be one that matches values.
func (p *Plan) Seen() []Seen {
	out := make([]Seen, len(p.columns))
	for j := range p.columns {
		c := &p.columns[j]
		out[j] = Seen{Gaps: c.gaps, Uneven: c.uneven, Lo: c.lo, Hi: c.hi, Counts: c.counts, Units: c.units}
	}
	return out
}

// Take adds what a plan of other records has seen, whose columns have the same
// descriptions. The order of the calls does not matter.
func (p *Plan) Take(seen []Seen) {
	for j := range p.columns {
		c, s := &p.columns[j], &seen[j]
		c.gaps, c.uneven = c.gaps || s.Gaps, c.uneven || s.Uneven
		c.lo, c.hi = min(c.lo, s.Lo), max(c.hi, s.Hi)
		if c.units != nil && s.Units != nil {
			c.units.Take(s.Units)
		}
		for code := range min(len(c.counts), len(s.Counts)) {
			c.counts[code] += s.Counts[code]
		}
	}
}

// Penalty is the part of [NCP] of the groups that these columns hold, times the number of
// records of the table.
func Penalty(columns []Column) float64 { return NCP(columns, 1) }

// FinishPart is [Plan.Finish] for columns that hold the groups of a part of the table and
// are written to a file of their own: the files of all parts have columns of the same
// description. The plan must not be one that matches values.
func (p *Plan) FinishPart(columns []Column) {
	for j := range columns {
		c, of := &columns[j], &p.columns[j]
		if of.gaps && of.stored.Kind != table.Text {
			c.Stored.Nullable = true
		}
		if c.null != nil && !c.Stored.Nullable && c.Stored.Kind == table.Text {
			c.null = nil // the empty text says it
		}
	}
}

// Inside tells, by way to publish and place in the sample, which sampled records some
// group spans.
func (o *Outsiders) Inside() [][]bool {
	out := make([][]bool, len(o.inside))
	for w := range o.inside {
		out[w] = make([]bool, len(o.inside[w]))
		for at := range out[w] {
			out[w][at] = o.inside[w][at].Load()
		}
	}
	return out
}

// Take adds what was found in other groups: see [Outsiders.Inside].
func (o *Outsiders) Take(inside [][]bool) {
	for w := range min(len(o.inside), len(inside)) {
		for at := range min(len(o.inside[w]), len(inside[w])) {
			if inside[w][at] {
				o.inside[w][at].Store(true)
			}
		}
	}
}

// NotSampled is the number of a record in [Outsiders.Look] that is not in the sample,
// where sampled records are known by their places in it.
const NotSampled = math.MaxUint32
