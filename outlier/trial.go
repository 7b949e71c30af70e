package outlier

import (
	"context"
	"math"

	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Trial is what answers about made-up records came to.
type Trial struct {
	// Answer is one of the answers.
	Answer *Answer
	// Within is how many of the answers are off by at most the margin.
	Within int
}

// Try answers runs times about a table that was made up, and counts the answers that are
// off by at most margin. No guarantee holds for what it returns: the count tells of the
// exact answer. It must not be given private data.
func (m *Mechanism) Try(ctx context.Context, madeUp *table.Table, margin float64, runs int, src *noise.Source) (*Trial, error) {
	points, err := m.frame.points(madeUp)
	if err != nil {
		return nil, err
	}
	out := &Trial{}
	if out.Answer, err = m.answer(ctx, points, src); err != nil {
		return nil, err
	}
	p, err := newProfile(ctx, points, m.set, m.top(points.Records(), points.Dim))
	if err != nil {
		return nil, err
	}
	draw := func() (int64, error) { return int64(p.query()), nil }
	switch {
	case m.global == 0:
	case m.noise.Family == GlobalLaplace:
		d, err := m.globalNoise()
		if err != nil {
			return nil, err
		}
		draw = func() (int64, error) {
			z, err := d.Draw(src)
			return noise.AddSaturating(int64(p.query()), z), err
		}
	default:
		s, err := p.smooth(ctx, m.noise.smoothBeta())
		if err != nil {
			return nil, err
		}
		draw = func() (int64, error) { return m.noise.add(src, int64(p.query()), s) }
	}
	for range runs {
		y, err := draw()
		if err != nil {
			return nil, err
		}
		if math.Abs(float64(m.clamp(float64(y))-int64(p.query()))) <= margin {
			out.Within++
		}
	}
	return out, nil
}
