package assess

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// columnLoss is what one column adds to the loss, unscaled.
type columnLoss struct {
	sst             float64
	sse             float64
	low, high       float64    // bounds of sse
	width           float64    // largest - smallest value of the original
	variance        float64    // sample variance of the original
	reason          noren.Text // why there is no sse; empty when there is
	byDecomposition bool
}

// figure is the column's own SSE/SST.
func (l *columnLoss) figure() Figure {
	if !l.reason.IsZero() {
		return noFigure(l.reason)
	}
	if l.sst == 0 {
		// A constant column has nothing to lose, unless it was changed.
		if l.sse == 0 {
			return exact(0)
		}
		return noFigure(noren.Textf("the original is constant"))
	}
	f := exact(l.sse / l.sst)
	if l.low != l.high {
		f.Low, f.High = finite(l.low/l.sst), finite(l.high/l.sst)
	}
	return f
}

// lossByRows is exact: row i of both is the same record.
func lossByRows(x, y *numbers, s spread) columnLoss {
	l := newColumnLoss(s)
	for i, here := range x.present {
		if !here {
			continue
		}
		published := s.mean
		if y.present[i] {
			published = y.mid(i)
		}
		d := x.mid(i) - published
		l.sse += d * d
	}
	l.low, l.high = l.sse, l.sse
	return l
}

// leastSquares is the least sum of squares that double precision holds with its usual
// relative error: below, squares of differences vanish.
const leastSquares = 0x1p-950

func newColumnLoss(s spread) columnLoss {
	l := columnLoss{sst: s.ss, width: s.max - s.min}
	if l.width > 0 && l.sst < leastSquares {
		l.reason = noren.Textf("the values are so close together that the squares of their differences vanish")
	}
	if s.count > 1 {
		l.variance = s.ss / float64(s.count-1)
	}
	return l
}

// lossByDecomposition is SST - SSA, for a release of group means whose rows
// are in any order. c is the release's column.
func lossByDecomposition(x, y *numbers, s, t spread, c *table.Column) columnLoss {
	l := newColumnLoss(s)
	l.byDecomposition = true
	step := roundingStep(c)
	switch {
	case !l.reason.IsZero():
	case y.ranges || y.unread > 0:
		l.reason = noren.Textf("the release publishes ranges: without corresponding rows their error is not known")
	case x.missing > 0 || y.missing > 0:
		l.reason = noren.Textf("the column has missing values: the decomposition of variance does not hold")
	case len(x.present) != len(y.present):
		l.reason = noren.Textf("the tables have different numbers of records")
	case s.count == 0:
		l.reason = noren.Textf("the column has no values")
	case math.Abs(s.mean-t.mean) > step/2+1e-9*math.Max(s.max-s.min, math.Max(math.Abs(s.max), math.Abs(s.min))*1e-3):
		l.reason = noren.Textf("the mean moved by more than rounding can: these are no group means")
	}
	if !l.reason.IsZero() {
		return l
	}
	// With m the true and p = m + e the published means, |e| <= step/2, and all
	// norms over the n records: |p - mean| is known, |e| <= slack, and
	// SSE = |x - p|^2 = |x - m|^2 + |e|^2 = SST - |m - mean|^2 + |e|^2, as x - m
	// is orthogonal to all that is constant in each group.
	n := float64(s.count)
	published := math.Sqrt(t.ss + n*(t.mean-s.mean)*(t.mean-s.mean))
	slack := math.Sqrt(n) * step / 2
	most, least := published+slack, math.Max(0, published-slack)
	l.sse = clamp(l.sst-published*published, l.sst)
	l.low = clamp(l.sst-most*most, l.sst)
	l.high = clamp(l.sst-least*least, l.sst) + slack*slack
	return l
}

func clamp(v, top float64) float64 { return min(max(v, 0), top) }

// roundingStep is the step that the values of c were rounded to: the largest
// power of ten that divides every value, at most 10^18; 0 when the values
// show no rounding (numbers that were not written as decimal text).
func roundingStep(c *table.Column) float64 {
	if c.Field.Type == table.Decimal && c.Places > 0 {
		return math.Pow10(-c.Places)
	}
	step := 1e18
	for i := range c.Len() {
		if c.IsMissing(i) {
			continue
		}
		v := c.Number(i)
		if v != math.Trunc(v) {
			return 0
		}
		for step > 1 && math.Mod(v, step) != 0 {
			step /= 10
		}
	}
	if step == 1e18 { // all zero
		return 1
	}
	return step
}

// totalLoss sums the columns up under both scalings.
func totalLoss(names []string, losses []columnLoss) Loss {
	var total Loss
	type sums struct{ sst, sse, low, high float64 }
	var minMax, zScore sums
	add := func(s *sums, l columnLoss, weight float64) {
		s.sst += weight * l.sst
		s.sse += weight * l.sse
		s.low += weight * l.low
		s.high += weight * l.high
	}
	var reasons noren.Text
	for i, l := range losses {
		if !l.reason.IsZero() {
			reasons = l.reason
			continue
		}
		total.Columns = append(total.Columns, names[i])
		total.Method = "rows"
		if l.byDecomposition {
			total.Method = "decomposition"
		}
		if l.sst > 0 {
			add(&minMax, l, 1/l.width/l.width)
			add(&zScore, l, 1/l.variance)
		}
	}
	figure := func(s sums) Figure {
		switch {
		case len(losses) == 0:
			return noFigure(noren.Textf("no column of numbers"))
		case len(total.Columns) == 0:
			return noFigure(reasons)
		case s.sst == 0:
			return exact(0)
		}
		f := exact(s.sse / s.sst)
		if s.low != s.high {
			f.Low, f.High = finite(s.low/s.sst), finite(s.high/s.sst)
		}
		return f
	}
	total.MinMax, total.ZScore = figure(minMax), figure(zScore)
	return total
}
