package kanon

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/space"
)

// Bound is a loss that no partition of a data set gets below (docs/loss-bounds.md).
type Bound struct {
	Loss float64 `json:"loss"`
	// Gap is the share of the row's loss that another partition could save,
	// at most.
	Gap float64 `json:"gap"`
	// Method is "simple" or "dual", Records how many records had prices of their
	// own.
	Method    string  `json:"method"`
	Records   int     `json:"records"`
	Converged bool    `json:"converged"`
	Seconds   float64 `json:"seconds"`
}

func lowerBound(ctx context.Context, s *space.Space, k int, o *Options, progress noren.Progress) (*Bound, error) {
	began := time.Now()
	b, err := bound.Lower(ctx, s, bound.Options{K: k, Duration: o.Gap, Seed: 1, Workers: o.Workers, Progress: progress})
	if err != nil {
		return nil, err
	}
	return &Bound{Loss: b.Loss, Method: b.Method.String(), Records: b.Records, Converged: b.Converged, Seconds: time.Since(began).Seconds()},
		nil
}

// of is b beside a partition that loses so much.
func (b *Bound) of(loss float64) *Bound {
	c := *b
	if loss > b.Loss {
		c.Gap = 1 - b.Loss/loss
	}
	return &c
}

// best holds the least losses known from other searches than ours, of many
// minutes: iterated local search, and recombining the groups that it saw.
var best = []struct {
	dataset, normalisation string
	k                      int
	loss                   float64
}{
	{"eia", "minmax", 3, 0.008530},
	{"eia", "minmax", 5, 0.016713},
	{"eia", "minmax", 10, 0.033582},
	{"census", "zscore", 3, 0.04668},
	{"census", "zscore", 5, 0.07250},
	{"census", "zscore", 10, 0.11380},
	{"tarragona", "zscore", 3, 0.14467},
	{"tarragona", "zscore", 5, 0.20156},
	{"tarragona", "zscore", 10, 0.30123},
	{"eia (UTILITYID + 10 amounts)", "zscore", 3, 0.003489},
	{"eia (UTILITYID + 10 amounts)", "zscore", 5, 0.007294},
	{"eia (UTILITYID + 10 amounts)", "zscore", 10, 0.019326},
	{"adult", "minmax", 5, 0.0108},
}

// known is the least loss known for a row of ours, 0 where none is.
func known(r Row) float64 {
	if r.Algorithm != "noren" {
		return 0
	}
	for _, b := range best {
		if b.dataset == r.Dataset && b.normalisation == r.Normalisation && b.k == r.K {
			return b.loss
		}
	}
	return 0
}
