package ldp

import (
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Mean is a mechanism for the mean of a number that lies in a public range. A
// report is one of a fixed list of symbols, each of which stands for a number;
// the numbers' mean over all reports is an unbiased estimate. It holds no state
// and is safe for concurrent use.
type Mean struct {
	name    string
	lo, hi  float64
	epsilon float64
	// Duchi's part: the sign, turned with probability turn.
	turn prob
	// The piecewise part, and the probability of taking it.
	piece window
	mix   prob
	// Of the piecewise part: a cell stands for (cell-a)/b positions.
	a, b float64
}

// meanCells is the number of cells of the piecewise mechanism. It is within a
// part in a million of the mechanism on real numbers.
const meanCells = 1 << 20

// hybridFrom is the epsilon from which the hybrid mechanism mixes (Wang et al.
// 2019, equation 7); below it is Duchi's.
const hybridFrom = 0.610986

// NewDuchi returns the mechanism of Duchi, Jordan and Wainwright (2018) for one
// number in [lo, hi]: one of two symbols. With x scaled to [-1, 1] it is rounded
// to -1 or 1 without bias, and the sign is sent by randomised response; of
// variance ((e^eps+1)/(e^eps-1))^2 - x^2.
func NewDuchi(lo, hi, epsilon float64) (*Mean, error) {
	return newMean("duchi", lo, hi, epsilon, prob{})
}

// NewPiecewise returns the Piecewise Mechanism (Wang et al., ICDE 2019) for
// numbers in [lo, hi]: a number near x more often than one far from it, of
// variance x^2/(e^(eps/2)-1) + (e^(eps/2)+3)/(3 (e^(eps/2)-1)^2) for x scaled to
// [-1, 1]. It is run on 2^20 cells instead of real numbers.
func NewPiecewise(lo, hi, epsilon float64) (*Mean, error) {
	return newMean("piecewise", lo, hi, epsilon, prob{one: true})
}

// NewHybrid returns the Hybrid Mechanism (Wang et al., ICDE 2019) for numbers in
// [lo, hi], whose worst variance is the least of the three: Piecewise with
// probability 1 - e^(-eps/2), else Duchi's, and Duchi's alone for epsilon <= 0.61.
func NewHybrid(lo, hi, epsilon float64) (*Mean, error) {
	mix := prob{}
	if epsilon > hybridFrom {
		mix = down(-math.Expm1(-epsilon / 2))
	}
	return newMean("hybrid", lo, hi, epsilon, mix)
}

func newMean(name string, lo, hi, epsilon float64, mix prob) (*Mean, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "range", What: "the low end must lie below the high end, both finite"}
	}
	m := &Mean{name: name, lo: lo, hi: hi, epsilon: epsilon, mix: mix}
	m.turn = share(safeExp(epsilon), 1).not()
	// The window of the mechanism on real numbers is 1/(e^(eps/2)+1) of the range.
	width := int(math.Round(meanCells / (math.Exp(epsilon/2) + 1)))
	m.piece = newWindow(meanCells, max(width, 1), epsilon)
	m.a, m.b = m.piece.moments()
	return m, nil
}

// Name is duchi, piecewise or hybrid.
func (m *Mean) Name() string { return m.name }

// Loss is epsilon for each report: whatever the mechanism mixes costs that.
func (m *Mean) Loss() Loss { return once(m.epsilon) }

// Symbols is how many different reports there are: 0 and 1 for Duchi's signs,
// then the cells of the piecewise part.
func (m *Mean) Symbols() int { return 2 + meanCells }

// Randomise makes the report of x. Numbers outside the range go to its nearest
// end; NaN is refused.
func (m *Mean) Randomise(src *noise.Source, x float64) (uint32, error) {
	if math.IsNaN(x) {
		return 0, &noren.Error{Kind: noren.BadData, What: "not a number cannot be reported"}
	}
	x = min(max(x, m.lo), m.hi)
	// In halves, as hi - lo is finite but 2x - lo - hi may not be.
	unit := min(max((x-m.lo)/(m.hi-m.lo), 0), 1)
	piecewise, err := m.mix.draw(src)
	if err != nil {
		return 0, err
	}
	if !piecewise {
		plus, err := down(unit).drawAlways(src)
		if err != nil {
			return 0, err
		}
		turned, err := m.turn.draw(src)
		if err != nil || plus == turned {
			return 0, err
		}
		return 1, nil
	}
	at := unit * float64(m.piece.positions()-1)
	position := math.Floor(at)
	over, err := down(at - position).draw(src)
	if err != nil {
		return 0, err
	}
	if over {
		position++
	}
	cell, err := m.piece.draw(src, int(position))
	return uint32(cell + 2), err
}

// unitValue is what a symbol stands for on [-1, 1].
func (m *Mean) unitValue(symbol uint32) float64 {
	if symbol < 2 {
		t := m.turn.float()
		return (2*float64(symbol) - 1) / (1 - 2*t)
	}
	return 2*((float64(symbol-2)-m.a)/m.b)/float64(m.piece.positions()-1) - 1
}

// Value is the number that a symbol stands for, in the units of the range.
func (m *Mean) Value(symbol uint32) (float64, error) {
	if err := m.Check(symbol); err != nil {
		return 0, err
	}
	return m.lo + (m.unitValue(symbol)+1)/2*(m.hi-m.lo), nil
}

// Check refuses symbols that the mechanism never sends.
func (m *Mean) Check(symbol uint32) error {
	if int64(symbol) >= int64(m.Symbols()) || symbol < 2 && m.mix.one || symbol >= 2 && m.mix == (prob{}) {
		return malformed("a symbol that the mechanism does not send")
	}
	return nil
}

// Format writes a symbol in decimal; Parse reads it.
func (m *Mean) Format(symbol uint32) string { return strconv.FormatUint(uint64(symbol), 10) }

// Parse reads what Format writes.
func (m *Mean) Parse(word string) (uint32, error) {
	v, err := parseNumber(word)
	if err != nil {
		return 0, err
	}
	return v, m.Check(v)
}

// Variance of one report of x, in the units of the range squared.
func (m *Mean) Variance(x float64) float64 {
	t := 2*(min(max(x, m.lo), m.hi)-m.lo)/(m.hi-m.lo) - 1
	e := math.Expm1(m.epsilon / 2)
	duchi := 1/math.Pow(math.Tanh(m.epsilon/2), 2) - t*t
	piecewise := t*t/e + (e+4)/(3*e*e)
	mix := m.mix.float()
	return (mix*piecewise + (1-mix)*duchi) * (m.hi - m.lo) * (m.hi - m.lo) / 4
}

// WorstVariance is the largest variance of one report over the range, at its
// middle or at its ends.
func (m *Mean) WorstVariance() float64 {
	return max(m.Variance(m.lo), m.Variance(m.lo/2+m.hi/2))
}

// MeanCollector adds up the reports of a Mean. It is not safe for concurrent use.
type MeanCollector struct {
	m        *Mean
	n        int64
	mean, m2 float64            // running mean and sum of squared deviations (Welford 1962)
	signs    [2]int64           // Duchi's reports
	parts    [windowParts]int64 // piecewise reports, by part of the window
	rejected Rejected
}

// NewMeanCollector returns an empty collector.
func NewMeanCollector(m *Mean) *MeanCollector { return &MeanCollector{m: m} }

// Add counts a report; one that cannot be is counted as rejected.
func (c *MeanCollector) Add(symbol uint32) error {
	v, err := c.m.Value(symbol)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	if symbol < 2 {
		c.signs[symbol]++
	} else {
		c.parts[windowPart(int(symbol-2), c.m.piece.cells)]++
	}
	c.n++
	d := v - c.mean
	c.mean += d / float64(c.n)
	c.m2 += d * (v - c.mean)
	return nil
}

// AddWord counts a report in its text form.
func (c *MeanCollector) AddWord(word string) error {
	s, err := c.m.Parse(word)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	return c.Add(s)
}

// N is the number of reports counted.
func (c *MeanCollector) N() int64 { return c.n }

// Rejected counts the reports that were excluded.
func (c *MeanCollector) Rejected() Rejected { return c.rejected }

// MeanEstimate is an estimated mean.
type MeanEstimate struct {
	N             int64
	Value, StdErr float64
	Low, High     float64 // holds with probability Level or more for every N; cut to the range
	Level         float64
	Basis         noren.Term // what the interval is by
	Rejected      Rejected
}

// Bases of intervals.
const (
	ByBinomial   noren.Term = "exact (Clopper-Pearson)"
	ByBernstein  noren.Term = "Bernstein's inequality, the mechanism's largest variance"
	ByEmpirical  noren.Term = "empirical Bernstein bound (Maurer and Pontil)"
	ByBootstrap  noren.Term = "bootstrap (approximate)" // of quartiles of a distribution
	empiricalMin            = 200
)

// Estimate returns the mean with an interval at level that holds for every number
// of reports, for the mean of the population that people are drawn from, and
// for that of the people themselves:
//
//   - Duchi's mechanism: from the interval of Clopper and Pearson for the probability
//     of the upper sign (for people who are fixed, by Hoeffding 1956).
//   - Piecewise and hybrid: values v of reports lie in [-b, b] on the scale [-1, 1] and have
//     E[v^2] <= M, a constant of the mechanism. With L = ln(2/(1-level)), Bernstein's
//     inequality gives a half-width w of sqrt(2 (M - mu^2) L/n) + (b+1) L/(3n);
//     |mu| is at least |mean| - w at mu = 0.
//   - Where epsilon is so large that values vary more than the noise (the variance at
//     the middle is below M/4), and from 200 reports on: the bound of Maurer and
//     Pontil (2009, theorem 11) by the reports' own variance V, with
//     L = ln(4/(1-level)): sqrt(2 V L/n) + 14 b L/(3 (n-1)).
//
// Which is used depends on the mechanism and n alone. StdErr is from the reports' own
// deviation, and not below the smallest that the mechanism's noise has.
func (c *MeanCollector) Estimate(level float64) (*MeanEstimate, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if c.n < 2 {
		return nil, &noren.Error{Kind: noren.BadData, What: "fewer than two reports were counted, so no error can be stated"}
	}
	m, n := c.m, float64(c.n)
	half := (m.hi - m.lo) / 2
	variance := c.m2 / (n - 1)
	least := min(m.Variance(m.lo), m.Variance(m.lo/2+m.hi/2))
	e := &MeanEstimate{N: c.n, Value: c.mean, StdErr: math.Sqrt(max(variance, least) / n), Level: level, Rejected: c.rejected}
	unit := (c.mean-m.lo)/half - 1
	low, high := 0.0, 0.0
	if m.mix == (prob{}) {
		e.Basis = ByBinomial
		turn := m.turn.float()
		low, high = binomialInterval(c.signs[1], c.n, 1-level)
		low, high = (2*low-1)/(1-2*turn), (2*high-1)/(1-2*turn)
	} else {
		top := max(math.Abs(m.unitValue(2)), math.Abs(m.unitValue(uint32(1+meanCells))))
		if !m.mix.one {
			top = max(top, m.unitValue(1))
		}
		middle, end := m.Variance(m.lo/2+m.hi/2)/half/half, m.Variance(m.hi)/half/half
		// The variance plus x^2 is convex in x^2; a part in 10^4 is for the cells.
		b := boundedMean{moment: max(middle, end+1) * (1 + 1e-4), middle: middle, top: top}
		var w float64
		w, e.Basis = b.halfWidth(unit, variance/half/half, c.n, level)
		low, high = unit-w, unit+w
	}
	at := func(u float64) float64 { return min(max(m.lo+(u+1)*half, m.lo), m.hi) }
	e.Low, e.High = at(low), at(high)
	return e, nil
}

// boundedMean is what a mechanism says of values v on the scale [-1, 1] whose mean is
// the mean of what people hold.
type boundedMean struct {
	moment float64 // E[v^2] is at most this
	middle float64 // the variance of v for a person in the middle
	top    float64 // |v| is at most this
}

// halfWidth is that of the interval of a mean of n values with this variance, by the
// bounds of [MeanCollector.Estimate].
func (b boundedMean) halfWidth(mean, variance float64, n int64, level float64) (w float64, basis noren.Term) {
	if b.middle < b.moment/4 && n >= empiricalMin {
		l := math.Log(4 / (1 - level))
		return math.Sqrt(2*variance*l/float64(n)) + 14*b.top*l/(3*float64(n-1)), ByEmpirical
	}
	l := math.Log(2 / (1 - level))
	width := func(mu float64) float64 {
		return math.Sqrt(2*(b.moment-mu*mu)*l/float64(n)) + (b.top+1)*l/(3*float64(n))
	}
	return width(min(max(0, math.Abs(mean)-width(0)), 1)), ByBernstein
}
