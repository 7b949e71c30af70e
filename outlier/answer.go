package outlier

import (
	"context"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// Answer is the released answer.
type Answer struct {
	// Count is the number of outliers with noise, clamped to at least 0 and, where the number
	// of records is public, to at most that number.
	Count int64 `json:"count"`
	// Interval is an interval that contains the number of outliers with probability 95%, over
	// the noise, whatever the data.
	Interval Interval `json:"interval"`
	// Expected is an interval that contains the number of outliers with probability 95% if the
	// public guess in the options is right. It is absent where no guess was given or the guess
	// allows no narrower interval than the global sensitivity. A guess is no bound: where it
	// is too small, the interval covers less.
	Expected *Interval `json:"expected_interval,omitempty"`
	// Noise is a description of the noise that was added.
	Noise noren.Text `json:"noise"`
	// Basis is what the interval follows from.
	Basis noren.Text `json:"basis"`
}

// Interval is a range of counts, both ends included.
type Interval struct {
	// Level is the confidence.
	Level float64 `json:"level"`
	// Low is the lower end.
	Low int64 `json:"low"`
	// High is the upper end.
	High int64 `json:"high"`
}

// Answer counts the outliers in a private table, which has the columns of
// Columns, and adds noise from src. Nothing in the result but the noisy count
// and, with an interval share, the noisy size of the noise depends on the data. It
// answers every table that [Mechanism.Covers] admits: a record that lacks a
// coordinate is an outlier without neighbours, and values beyond the box are
// clamped.
func (m *Mechanism) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	if m.set.Neighbours == account.ReplaceOne && t.Rows != m.plan.Records {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has another number of records than was declared"}
	}
	points, err := m.frame.points(t)
	if err != nil {
		return nil, err
	}
	return m.answer(ctx, points, src)
}

// answer is Answer on points.
func (m *Mechanism) answer(ctx context.Context, points *axis.Points[int32], src *noise.Source) (*Answer, error) {
	p, err := newProfile(ctx, points, m.set, m.top(points.Records(), points.Dim))
	if err != nil {
		return nil, err
	}
	if m.global == 0 {
		n := int64(p.query())
		return &Answer{Count: n, Interval: Interval{1, n, n}, Noise: noren.Textf("none"), Basis: noren.Textf("every record is an outlier")}, nil
	}
	if m.noise.Family == GlobalLaplace {
		return m.answerGlobal(int64(p.query()), src)
	}
	s, err := p.smooth(ctx, m.noise.smoothBeta())
	if err != nil {
		return nil, err
	}
	y, err := m.noise.add(src, int64(p.query()), s)
	if err != nil {
		return nil, err
	}
	out := m.present(y, m.halfWidth(float64(m.global), level95), noren.Textf("the global sensitivity"))
	if m.interval > 0 {
		most, err := m.size(ctx, p, src)
		if err != nil {
			return nil, err
		}
		// most is at most G: whichever of the two it is, a miss is either
		// noise beyond its 96% or a size that was released too small, 1%.
		out = m.present(y, m.halfWidth(most, level95+sizeDoubt), noren.Textf("the released size of the noise"))
	}
	// The half widths decide, which are public, and not the intervals: those are cut at
	// 0 and at the number of records, and whether that makes them equal depends on y.
	if guessed := m.halfWidth(m.guessed(), level95); m.options.Guess != 0 && guessed < m.halfWidth(float64(m.global), level95) {
		e := m.within(y, guessed)
		out.Expected = &e
	}
	return out, nil
}

// top is up to how many neighbours the profile counts.
func (m *Mechanism) top(records, dimensions int) int {
	if m.noise.Family == GlobalLaplace {
		return m.set.K // the query itself needs no more
	}
	return reach(m.set, records, dimensions, m.noise.smoothBeta())
}

// Degrees is the number of neighbours up to which an answer needs exact counts, of a table of at
// most this number of records: what an answer takes grows with it. It follows from public facts
// alone.
func (m *Mechanism) Degrees(records int) int {
	return min(records, m.top(records, len(m.options.Axes)))
}

// globalNoise is discrete Laplace noise of scale G/epsilon.
func (m *Mechanism) globalNoise() (*noise.Laplace, error) {
	scale, err := noise.ScaleFor(new(big.Rat).SetInt64(m.global), m.count.Epsilon)
	if err != nil {
		return nil, err
	}
	return noise.NewLaplace(scale)
}

// answerGlobal adds the noise of [Mechanism.globalNoise].
func (m *Mechanism) answerGlobal(q int64, src *noise.Source) (*Answer, error) {
	d, err := m.globalNoise()
	if err != nil {
		return nil, err
	}
	z, err := d.Draw(src)
	if err != nil {
		return nil, err
	}
	return m.present(noise.AddSaturating(q, z), float64(d.Interval(level95)), noren.Textf("the noise, which does not depend on the data")), nil
}

// size releases a bound of S that holds with probability 1 - sizeDoubt: the
// level L, an integer that differs by at most 1 between neighbours, with
// discrete Laplace noise, gives S <= e^{beta L}.
func (m *Mechanism) size(ctx context.Context, p *profile, src *noise.Source) (float64, error) {
	beta := m.noise.smoothBeta()
	l, err := p.level(ctx, beta)
	if err != nil {
		return 0, err
	}
	d, err := m.sizeNoise()
	if err != nil {
		return 0, err
	}
	z, err := d.Draw(src)
	if err != nil {
		return 0, err
	}
	noisy := noise.AddSaturating(noise.AddSaturating(l, z), d.Interval(1-2*sizeDoubt))
	return min(float64(m.global), math.Exp(beta*float64(noisy))), nil
}

// sizeNoise is the noise on the level.
func (m *Mechanism) sizeNoise() (*noise.Laplace, error) {
	scale, err := noise.ScaleFor(big.NewRat(1, 1), m.interval)
	if err != nil {
		return nil, err
	}
	return noise.NewLaplace(scale)
}

// sizeMargin is what is added to the noisy level, so that it is too small with
// probability at most sizeDoubt.
func (m *Mechanism) sizeMargin() (int64, error) {
	d, err := m.sizeNoise()
	if err != nil {
		return 0, err
	}
	return d.Interval(1 - 2*sizeDoubt), nil
}

// present brings the noisy y into what is possible and gives it an interval.
func (m *Mechanism) present(y int64, halfWidth float64, basis noren.Text) *Answer {
	return &Answer{Count: m.clamp(float64(y)), Interval: m.within(y, halfWidth), Noise: m.noise.words(), Basis: basis}
}

// within is the interval of a half-width about the noisy y.
func (m *Mechanism) within(y int64, halfWidth float64) Interval {
	w := math.Ceil(halfWidth)
	return Interval{level95, m.clamp(float64(y) - w), m.clamp(float64(y) + w)}
}

// clamp brings a count into what is possible, and into what JSON carries
// exactly.
func (m *Mechanism) clamp(v float64) int64 {
	most := float64(1<<53 - 1)
	if m.set.Neighbours == account.ReplaceOne {
		most = float64(m.plan.Records)
	}
	return int64(min(max(v, 0), most))
}
