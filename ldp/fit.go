package ldp

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
)

// Fit says how well counts agree with what a mechanism can send, whatever the
// values of the people are. A mechanism bounds the probability of each report on
// both sides; reports that were not randomised, or by other parameters, can leave
// these bounds.
//
// All tests assume that reports are independent: one from each person, and
// for RAPPOR and the longitudinal mechanisms one from each device.
type Fit struct {
	// P bounds the probability that reports of the mechanism differ from it by
	// as much: the smallest p-value times the number of tests, at most 1.
	P float64
	// What says which bound the reports leave.
	What noren.Text
	// Cohorts bounds the probability that cohorts drawn uniformly are as uneven; 1
	// where there are none.
	Cohorts float64
}

// Limits of Fit.P.
const (
	// ImpossibleBelow is the P below which estimates are refused.
	ImpossibleBelow = 1e-6
	// UnlikelyBelow is the P below which reports are doubtful.
	UnlikelyBelow = 1e-3
)

// Err is an error of kind BadData where P is below ImpossibleBelow.
func (f Fit) Err() error {
	if f.P >= ImpossibleBelow {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.Phrase("reports"), What: "these cannot be reports of this mechanism: %s", Args: []any{f.What},
		Hint: "check that mechanism, epsilon, labels and cohorts are those that the reports were made by, and that the answers were randomised",
	}
}

// Warning says what is doubtful, empty where nothing is.
func (f Fit) Warning() noren.Text {
	switch {
	case f.P < UnlikelyBelow:
		return noren.Textf(
			"the reports are unlikely for this mechanism (p = %.1g): %s; check that the specification is the one they were made by", f.P, f.What)
	case f.Cohorts < ImpossibleBelow:
		return noren.Textf("the cohorts are not uniform (p = %.1g): a cohort must be drawn at random, and must not depend on the value",
			f.Cohorts)
	}
	return noren.Text{}
}

// fitTests collects p-values.
type fitTests struct {
	tests float64
	least float64
	what  noren.Text
}

func newFitTests() *fitTests { return &fitTests{least: 1} }

// fit is the outcome of all tests. Without a test nothing differs: P is 1.
func (t *fitTests) fit() Fit {
	if t.tests == 0 {
		return Fit{P: 1, Cohorts: 1}
	}
	return Fit{P: min(1, t.tests*t.least), What: t.what, Cohorts: 1}
}

func (t *fitTests) add(p float64, format noren.Format, args ...any) {
	t.tests++
	if p < t.least {
		t.least, t.what = p, noren.Textf(format, args...)
	}
}

// share tests that an event that each report has with a probability in [low, high]
// was seen count times in n. By Hoeffding (1956) the binomial tail at the bound is
// an upper bound of the tail from one count beyond the mean on, also where the
// probabilities of reports differ.
func (t *fitTests) share(count, n int64, low, high float64, event noren.Text) {
	p, limit, format := 1.0, 0.0, noren.Format("")
	switch c, all := float64(count), float64(n); {
	case c <= all*low-1:
		p, limit = mathext.RegIncBeta(float64(n-count), c+1, 1-low), low
		format = "%s in %d of %d {report|reports}, where the mechanism gives at least %.4g %% of them, apart from chance"
	case c >= all*high+1:
		p, limit = mathext.RegIncBeta(c, float64(n-count)+1, high), high
		format = "%s in %d of %d {report|reports}, where the mechanism gives at most %.4g %% of them, apart from chance"
	}
	t.tests++ // both sides are one test each
	if p == 1 {
		t.tests++
		return
	}
	t.add(p, format, event, count, n, 100*limit)
}

// sum tests that the number of set bits of n reports, each of which has ones bits
// that are set with probability on and the rest of k with probability off, is sum.
// ones lies in [low, high]. The bound is Chernoff's.
func (t *fitTests) sum(sum, n int64, k int, low, high int, on, off float64) {
	t.tests++
	mean := func(ones int) float64 { return float64(n) * (float64(ones)*on + float64(k-ones)*off) }
	s := float64(sum)
	ones, sign, format := 0, 0.0, noren.Format("")
	switch {
	case s < mean(low):
		ones, sign = low, -1
		format = "the reports have %.4g set bits on average, where the mechanism gives at least %.4g, apart from chance"
	case s > mean(high):
		ones, sign = high, 1
		format = "the reports have %.4g set bits on average, where the mechanism gives at most %.4g, apart from chance"
	default:
		t.tests++
		return
	}
	exponent := func(theta float64) (value, slope float64) {
		term := func(p float64) (float64, float64) {
			e := p * math.Expm1(theta)
			return math.Log1p(e), p * math.Exp(theta) / (1 + e)
		}
		v1, d1 := term(on)
		v0, d0 := term(off)
		a, b := float64(n)*float64(ones), float64(n)*float64(k-ones)
		return theta*s - a*v1 - b*v0, s - a*d1 - b*d0
	}
	// The exponent is concave in theta; its slope at 0 has the sign of theta's best.
	from, to := 0.0, 60.0
	for range 60 {
		mid := (from + to) / 2
		if _, slope := exponent(sign * mid); slope*sign > 0 {
			from = mid
		} else {
			to = mid
		}
	}
	v, _ := exponent(sign * from)
	t.add(math.Exp(-max(v, 0)), format, s/float64(n), mean(ones)/float64(n))
}

// Fit tests the counts against the mechanism.
func (c *Collector) Fit() Fit {
	t := newFitTests()
	if c.n == 0 {
		return t.fit()
	}
	channel := c.oracle.Channel()
	low, high := min(channel.Other, channel.True), max(channel.Other, channel.True)
	sum := int64(0)
	for l, count := range c.counts {
		t.share(count, c.n, low, high, noren.Textf("label %d is supported", l))
		sum += count
	}
	if bitsEach(c.oracle) {
		t.sum(sum, c.n, c.oracle.Domain(), 1, 1, channel.True, channel.Other)
	}
	return t.fit()
}

// bitsEach tells whether a mechanism randomises a bit for each label by itself.
func bitsEach(o Oracle) bool {
	switch m := o.(type) {
	case *Unary:
		return true
	case *Longitudinal:
		return m.bits
	}
	return false
}

// Fit tests the counts against the mechanism.
func (c *RapporCounts) Fit() Fit {
	t := newFitTests()
	n, sum := c.Reports(), int64(0)
	if n == 0 {
		return t.fit()
	}
	channel := c.r.server(false)
	last := 0
	cohorts := newFitTests()
	for i, in := range c.N {
		if in > 0 {
			last = i
		}
		for b, count := range c.Cohort(i) {
			if in > 0 {
				t.share(count, in, channel.Other, channel.True, noren.Textf("bit %d of cohort %d is set", b, i))
			}
			sum += count
		}
		cohorts.share(in, n, 1/float64(c.r.M), 1/float64(c.r.M), noren.Textf("a cohort"))
	}
	t.sum(sum, n, c.r.K, 1, min(c.r.H, c.r.K), channel.True, channel.Other)
	// All reports in the first cohorts, however many these are.
	if m := float64(c.r.M); last+1 < int(c.r.M) {
		p := m * math.Exp(float64(n)*math.Log(float64(last+1)/m))
		t.add(min(p, 1), "no report is of the cohorts from %d on, where %d {cohort is|cohorts are} drawn uniformly", last+1, c.r.M)
	}
	f := t.fit()
	f.Cohorts = cohorts.fit().P
	return f
}

// windowParts is how many parts of a window's cells are tested.
const windowParts = 16

// windowPart is the part of a cell.
func windowPart(cell, cells int) int { return int(int64(cell) * windowParts / int64(cells)) }

// fitWindow tests the counts of the parts of a window.
func (t *fitTests) window(w window, parts []int64, n int64) {
	in, out := w.densities()
	for i, count := range parts {
		from, to := (i*w.cells+windowParts-1)/windowParts, ((i+1)*w.cells+windowParts-1)/windowParts
		size := to - from
		if size == 0 {
			continue
		}
		most := min(size, w.width)
		t.share(count, n, float64(size)*out, min(float64(most)*in+float64(size-most)*out, 1),
			noren.Textf("part %d of %d of the report's range is sent", i+1, windowParts))
	}
}

// Fit tests the counts against the mechanism.
func (c *MeanCollector) Fit() Fit {
	t := newFitTests()
	if c.n == 0 {
		return t.fit()
	}
	signs := c.signs[0] + c.signs[1]
	if !c.m.mix.one && c.m.mix != (prob{}) {
		duchi := c.m.mix.not().float()
		t.share(signs, c.n, duchi, duchi, noren.Textf("a sign is sent"))
	}
	if signs > 0 {
		turn := c.m.turn.float()
		t.share(c.signs[1], signs, turn, 1-turn, noren.Textf("the upper sign is sent"))
	}
	if c.n > signs {
		t.window(c.m.piece, c.parts[:], c.n-signs)
	}
	return t.fit()
}

// Fit tests the counts against the mechanism.
func (c *WaveCollector) Fit() Fit {
	t := newFitTests()
	if c.n == 0 {
		return t.fit()
	}
	in, out := c.m.wave.densities()
	parts := make([]int64, windowParts)
	for cell, count := range c.counts {
		t.share(count, c.n, out, in, noren.Textf("cell %d is sent", cell))
		parts[windowPart(cell, len(c.counts))] += count
	}
	t.window(c.m.wave, parts, c.n)
	return t.fit()
}

// Fit tests the counts of all attributes against their mechanisms.
func (c *MultiCollector) Fit() Fit {
	worst := Fit{P: 1, Cohorts: 1}
	for j := range c.labels {
		var f Fit
		if c.labels[j] != nil {
			f = c.labels[j].Fit()
		} else {
			f = c.means[j].Fit()
		}
		f.P = min(1, f.P*float64(len(c.labels)))
		if f.P < worst.P {
			worst = f
			worst.What = noren.Textf("attribute %d: %s", j+1, f.What)
		}
	}
	return worst
}
