package ratio

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/learn"
	core "github.com/noren-privacy/noren/ratio"
)

// AdultRow is what the weighted public part said of one question at one epsilon.
type AdultRow struct {
	Question string  `json:"question"`
	Epsilon  float64 `json:"epsilon"`
	// Private is the truth: the mean over the private records, or the accuracy of a
	// machine that was trained on them, in both cases without privacy. Unweighted and
	// Weighted are from the public part. All are means over the splits.
	Private    float64 `json:"private"`
	Unweighted float64 `json:"unweighted"`
	Weighted   float64 `json:"weighted"`
	// ErrorUnweighted and ErrorWeighted are mean absolute errors against Private.
	ErrorUnweighted float64 `json:"error_unweighted"`
	ErrorWeighted   float64 `json:"error_weighted"`
	// SE is the mean of the standard errors that the answers come with, and Within2SE
	// the share of splits in which the answer was within two of them. Not for accuracy.
	SE        *float64 `json:"standard_error,omitempty"`
	Within2SE *float64 `json:"within_2_se,omitempty"`
	// Direct is the mean absolute error of a direct answer to this one question, with
	// Laplace noise and all of epsilon. Not for accuracy.
	Direct *float64 `json:"direct,omitempty"`
}

// AdultFacts describe the splits.
type AdultFacts struct {
	Splits   int     `json:"splits"`
	Public   float64 `json:"public_records"` // mean over splits
	Records  float64 `json:"private_records"`
	DegreeE  float64 `json:"degree_public"`
	DegreeD  float64 `json:"degree_private"`
	Centres  int     `json:"centres"`
	ESS      float64 `json:"ess"` // at epsilon 1
	Warned   float64 `json:"warned"`
	Accuracy string  `json:"accuracy_of"`
}

// at most adultSplits, and the centres of its weights.
const (
	adultSplits  = 20
	adultCentres = 30
)

// Accuracy is the question of the machine.
const Accuracy = "accuracy of the SVM"

// answered is one split at one epsilon.
type answered struct {
	private, unweighted, weighted, se []float64 // one each question, then the accuracy
	ess, warned                       float64
	public, records, degE, degD       float64
}

func (r *Result) adult(ctx context.Context, o Options, c *census) error {
	splits := min(o.Repeats, adultSplits)
	all := make([][]answered, splits) // splits x epsilons
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(runtime.GOMAXPROCS(0), splits) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= splits || ctx.Err() != nil {
					return
				}
				a, err := c.trySplit(ctx, o.Seed, uint64(i))
				mu.Lock()
				all[i] = a
				if err != nil && failed == nil {
					failed = err
				}
				bad := failed != nil
				o.Progress.Report("adult", done.Add(1), int64(splits))
				mu.Unlock()
				if bad {
					return
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.gather(c, all)
	return nil
}

// trySplit makes one split, weights at each epsilon, and all answers.
func (c *census) trySplit(ctx context.Context, seed, split uint64) ([]answered, error) {
	rng := rand.New(rand.NewPCG(seed, 1<<40+split))
	p := c.split(rng)
	public, private := pick(c.kernels, p.public), pick(c.kernels, p.private)
	plain, err := c.accuracy(ctx, p.public, p.try, split)
	if err != nil {
		return nil, err
	}
	best, err := c.accuracy(ctx, p.private, p.try, split)
	if err != nil {
		return nil, err
	}
	out := make([]answered, len(epsilons))
	for i, epsilon := range epsilons {
		m, err := core.New(ctx, core.Options{
			Public: public, Neighbours: account.ReplaceOne, Records: private.Rows, Centres: adultCentres,
			Cost: account.Cost{Epsilon: int64(math.Round(epsilon * account.EpsilonUnits))},
		})
		if err != nil {
			return nil, err
		}
		released, err := m.Release(ctx, private, entropy.Seeded(rng.Uint64()))
		if err != nil {
			return nil, err
		}
		w, err := m.Weights(ctx, released)
		if err != nil {
			return nil, err
		}
		a := &out[i]
		a.ess, a.warned = w.Meta.ESS, flag(!w.Meta.Check.Passed)
		a.public, a.records = float64(public.Rows), float64(private.Rows)
		a.degE, a.degD = c.degrees(p.public), c.degrees(p.private)
		for _, q := range c.ask {
			f := of(q.values, p.public)
			answer, err := w.Mean(f)
			if err != nil {
				return nil, err
			}
			a.private = append(a.private, meanOf(of(q.values, p.private)))
			a.unweighted = append(a.unweighted, meanOf(f))
			a.weighted = append(a.weighted, answer.Value)
			a.se = append(a.se, answer.SE)
		}
		got, err := c.accuracy(ctx, resample(rng, p.public, w.W), p.try, split)
		if err != nil {
			return nil, err
		}
		a.private, a.unweighted, a.weighted = append(a.private, best), append(a.unweighted, plain), append(a.weighted, got)
	}
	return out, nil
}

func of(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = values[r]
	}
	return out
}

func (c *census) degrees(rows []int) float64 {
	n := 0.0
	for _, r := range rows {
		n += flag(c.degree[r])
	}
	return n / float64(len(rows))
}

// accuracy is the share of right answers on some records of a linear SVM that was
// trained on others.
func (c *census) accuracy(ctx context.Context, train, try []int, seed uint64) (float64, error) {
	y := make([]int, len(train))
	for i, r := range train {
		y[i] = c.class[r]
	}
	m, err := learn.SVM{Tolerance: 0.01}.Fit(ctx, c.features.Select(train), y, seed)
	if err != nil {
		return 0, err
	}
	right := 0
	for _, r := range try {
		if m.Predict(c.features.Row(r)) == c.class[r] {
			right++
		}
	}
	return float64(right) / float64(len(try)), nil
}

// gather makes the rows.
func (r *Result) gather(c *census, all [][]answered) {
	splits := len(all)
	mean := func(epsilon int, f func(a *answered) float64) float64 {
		s := 0.0
		for i := range all {
			s += f(&all[i][epsilon]) / float64(splits)
		}
		return s
	}
	for e, epsilon := range epsilons {
		for q := range len(c.ask) + 1 {
			row := AdultRow{
				Question: Accuracy, Epsilon: epsilon,
				Private:         mean(e, func(a *answered) float64 { return a.private[q] }),
				Unweighted:      mean(e, func(a *answered) float64 { return a.unweighted[q] }),
				Weighted:        mean(e, func(a *answered) float64 { return a.weighted[q] }),
				ErrorUnweighted: mean(e, func(a *answered) float64 { return math.Abs(a.unweighted[q] - a.private[q]) }),
				ErrorWeighted:   mean(e, func(a *answered) float64 { return math.Abs(a.weighted[q] - a.private[q]) }),
			}
			if q < len(c.ask) {
				row.Question = c.ask[q].name
				se := mean(e, func(a *answered) float64 { return a.se[q] })
				within := mean(e, func(a *answered) float64 { return flag(math.Abs(a.weighted[q]-a.private[q]) <= 2*a.se[q]) })
				// The mean absolute value of Laplace noise is its scale.
				direct := mean(e, func(a *answered) float64 { return c.ask[q].width / (a.records * epsilon) })
				row.SE, row.Within2SE, row.Direct = &se, &within, &direct
			}
			r.Adult = append(r.Adult, row)
		}
	}
	r.Facts = &AdultFacts{
		Splits: splits, Centres: adultCentres, Accuracy: "a linear SVM for salaries above 50K, on unseen records of the private distribution",
		Public:  mean(1, func(a *answered) float64 { return a.public }),
		Records: mean(1, func(a *answered) float64 { return a.records }),
		DegreeE: mean(1, func(a *answered) float64 { return a.degE }),
		DegreeD: mean(1, func(a *answered) float64 { return a.degD }),
		ESS:     mean(1, func(a *answered) float64 { return a.ess }),
		Warned:  mean(1, func(a *answered) float64 { return a.warned }),
	}
}
