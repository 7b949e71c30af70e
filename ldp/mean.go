package ldp

import (
	"math"
	"strconv"

	"noren"
	"noren/noise"
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
		plus, err := down(unit).draw(src)
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
	mean, m2 float64 // running mean and sum of squared deviations (Welford 1962)
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

// Rejected counts the reports that were set aside.
func (c *MeanCollector) Rejected() Rejected { return c.rejected }

// MeanEstimate is an estimated mean.
type MeanEstimate struct {
	N             int64
	Value, StdErr float64
	Low, High     float64 // cut to the range
	Level         float64
	Rejected      Rejected
}

// Estimate returns the mean with an interval at level, from the normal
// approximation with the reports' own deviation: good from some hundred reports on.
func (c *MeanCollector) Estimate(level float64) (*MeanEstimate, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if c.n < 2 {
		return nil, &noren.Error{Kind: noren.BadData, What: "fewer than two reports were counted, so no error can be told"}
	}
	se := math.Sqrt(c.m2 / float64(c.n-1) / float64(c.n))
	z := quantile((1 - level) / 2)
	cut := func(v float64) float64 { return min(max(v, c.m.lo), c.m.hi) }
	return &MeanEstimate{
		N: c.n, Value: c.mean, StdErr: se, Low: cut(c.mean - z*se), High: cut(c.mean + z*se), Level: level, Rejected: c.rejected,
	}, nil
}
