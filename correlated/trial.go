package correlated

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
	// Within is how many values of all answers are off by at most the margin, and Of how
	// many values there are.
	Within, Of int
}

// Try answers runs times about a table that was made up, and counts the values that are
// off by at most margin. No guarantee holds for what it returns: the count tells of the
// exact answer. It must not be given private data.
func (m *Mechanism) Try(ctx context.Context, madeUp *table.Table, margin float64, runs int, src *noise.Source) (*Trial, error) {
	a, err := m.Answer(ctx, madeUp, src)
	if err != nil {
		return nil, err
	}
	out := &Trial{Answer: a.(*Answer)}
	for c, d := range m.query.dims {
		l, err := noise.NewLaplace(m.steps[c])
		if err != nil {
			return nil, err
		}
		for range runs {
			z, err := l.Draw(src)
			if err != nil {
				return nil, err
			}
			out.Of++
			if math.Abs(float64(z))*d.unit <= margin {
				out.Within++
			}
		}
	}
	return out, nil
}
