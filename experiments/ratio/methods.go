package ratio

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	core "github.com/noren-privacy/noren/ratio"
)

// The box that the paper's setting is clamped to: method A needs one.
const boxLow, boxHigh = -3.0, 5.0

// Epsilons are the paper's.
var epsilons = []float64{0.1, 1, 10}

// fitted is what a method makes of one repeat.
type fitted struct {
	weights []float64 // for the public records, not normalised
	at      func(*core.Points) ([]float64, error)
	sigma   float64
	check   *core.FitCheck // nil for methods that have none
}

// trial is one repeat of a setting.
type trial struct {
	*sample
	setting *Setting
	seed    uint64
	// Choices of leave-one-out on private records, for the paper's methods.
	byPrivate, byPublic *chosen
}

// rng is a stream of the trial, another for each method and epsilon.
func (t *trial) rng(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(t.seed, stream)) }

// privateChoice is leave-one-out with records of D for centres.
func (t *trial) privateChoice(ctx context.Context) (chosen, error) {
	if t.byPrivate == nil {
		c, err := choose(ctx, sampleOf(t.rng(1), t.private, min(paperCentres, t.private.Rows)), t.sample)
		if err != nil {
			return c, err
		}
		t.byPrivate = &c
	}
	return *t.byPrivate, nil
}

// publicChoice is leave-one-out with records of E for centres, at most 100 of them.
func (t *trial) publicChoice(ctx context.Context) (chosen, error) {
	if t.byPublic == nil {
		centres := t.public
		if centres.Rows > paperCentres {
			centres = sampleOf(t.rng(2), centres, paperCentres)
		}
		c, err := choose(ctx, centres, t.sample)
		if err != nil {
			return c, err
		}
		t.byPublic = &c
	}
	return *t.byPublic, nil
}

// method is a row's maker.
type method struct {
	name string
	// remark says what the row is not: "not private", say.
	remark string
	// epsilons are those it is run at; 0 alone stands for a method without privacy.
	epsilons []float64
	// only are the settings it is run in. Empty: all.
	only []string
	fit  func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error)
}

// Names of the rows that something else refers to.
const (
	Constant   = "constant weights"
	PrivateD   = "no privacy, uLSIF with centres of D"
	PrivateE   = "no privacy, uLSIF with centres of E"
	WrittenA   = "A as written"
	SoundA     = "A, sound"
	WrittenB   = "B as written"
	ExactB     = "B, exact sensitivity"
	WrittenC   = "C as written"
	Laplace12  = "Laplace, the median"
	LaplaceNN  = "Laplace, the median, nnls"
	Pure       = "RKHSPure, the median"
	PureE      = "RKHSPure, the median, centres of E, nnls"
	Gaussian   = "RKHSGaussian, the median, delta 1e-6"
	PureHalf   = "RKHSPure, half the median"
	PureJoint  = "RKHSPure, half and quarter jointly"
	PureFine   = "RKHSPure, fine to coarse"
	PureNo     = "no noise, the median"
	PureNoHalf = "no noise, half the median"
	Logistic   = "logistic (Ji and Elkan), Lambda .01"
)

var none = []float64{0}

// noNoise is an epsilon at which the noise does not show.
const noNoise = 1e5

func methods() []method {
	paper := []string{"S1"}
	return []method{
		{name: Constant, epsilons: none, fit: func(_ context.Context, t *trial, _ float64, _ uint64) (*fitted, error) {
			return &fitted{weights: ones(t.public.Rows), at: func(x *core.Points) ([]float64, error) { return ones(x.Rows), nil }}, nil
		}},
		{
			name: PrivateD, remark: "not private", epsilons: none, only: paper,
			fit: func(ctx context.Context, t *trial, _ float64, _ uint64) (*fitted, error) {
				c, err := t.privateChoice(ctx)
				if err != nil {
					return nil, err
				}
				return uLSIF(ctx, c, t.sample, nil, 0)
			},
		},
		{name: PrivateE, remark: "not private", epsilons: none, fit: func(ctx context.Context, t *trial, _ float64, _ uint64) (*fitted, error) {
			c, err := t.publicChoice(ctx)
			if err != nil {
				return nil, err
			}
			return uLSIF(ctx, c, t.sample, nil, 0)
		}},
		{
			name: WrittenA, remark: "costs 2 epsilon; sigma, lambda not paid for", epsilons: epsilons, only: paper,
			fit: func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
				c, err := t.privateChoice(ctx)
				if err != nil {
					return nil, err
				}
				return writtenA(ctx, c, t.sample, t.rng(stream), epsilon)
			},
		},
		{
			name: SoundA, remark: "sigma, lambda not paid for", epsilons: epsilons, only: paper,
			fit: func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
				c, err := t.privateChoice(ctx)
				if err != nil {
					return nil, err
				}
				return t.release(ctx, core.Options{
					Noise: core.NoisyCentres, Centres: c.centres.Rows, Sigmas: []float64{c.sigma}, Lambda: c.lambda, Post: core.Clip,
					Low: []float64{boxLow}, High: []float64{boxHigh},
				}, epsilon, stream)
			},
		},
		{name: WrittenB, remark: "sigma, lambda not paid for", epsilons: epsilons, fit: withB(core.Parametric)},
		{name: ExactB, remark: "sigma, lambda not paid for", epsilons: epsilons, only: paper, fit: withB(core.Laplace)},
		{
			name: WrittenC, remark: "publishes 100 records; sigma, lambda not paid for", epsilons: epsilons, only: paper,
			fit: func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
				c, err := t.privateChoice(ctx)
				if err != nil {
					return nil, err
				}
				return writtenC(ctx, c, t.sample, t.rng(stream), epsilon)
			},
		},
		{name: Laplace12, epsilons: epsilons, fit: ours(core.Options{Noise: core.Laplace}, 1)},
		{name: LaplaceNN, epsilons: epsilons, only: paper, fit: ours(core.Options{Noise: core.Laplace, Post: core.NonNegative}, 1)},
		{name: Pure, epsilons: epsilons, fit: ours(core.Options{}, 1)},
		{name: PureE, epsilons: epsilons, only: paper, fit: func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
			return t.release(ctx, core.Options{CentrePoints: t.public, Sigmas: []float64{core.MedianDistance(t.public)}, Post: core.NonNegative},
				epsilon, stream)
		}},
		{name: Gaussian, epsilons: epsilons, fit: ours(core.Options{Noise: core.RKHSGaussian}, 1)},
		{name: PureHalf, epsilons: epsilons, fit: ours(core.Options{}, 0.5)},
		{name: PureJoint, epsilons: epsilons, fit: ours(core.Options{}, 0.5, 0.25)},
		{name: PureFine, epsilons: epsilons, only: []string{"S1", "S2", "S4"}, fit: fineToCoarse},
		{name: PureNo, remark: "not private", epsilons: none, fit: ours(core.Options{}, 1)},
		{name: PureNoHalf, remark: "not private", epsilons: none, fit: ours(core.Options{}, 0.5)},
		{name: Logistic, remark: "features scaled by the public records", epsilons: epsilons, fit: logistic},
	}
}

// checked reports whether the rows of a method come with a fit check.
func (m *method) checked() bool {
	switch m.name {
	case Constant, PrivateD, PrivateE, WrittenA, WrittenC, PureFine, Logistic:
		return false
	}
	return true
}

// withB is method B as written but for the mechanism: public records as centres.
func withB(noise core.Noise) func(context.Context, *trial, float64, uint64) (*fitted, error) {
	return func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
		c, err := t.publicChoice(ctx)
		if err != nil {
			return nil, err
		}
		return t.release(ctx, core.Options{Noise: noise, CentrePoints: c.centres, Sigmas: []float64{c.sigma}, Lambda: c.lambda, Post: core.Clip},
			epsilon, stream)
	}
}

// ours takes public centres and shares of the median distance for bandwidths.
func ours(o core.Options, shares ...float64) func(context.Context, *trial, float64, uint64) (*fitted, error) {
	return func(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
		p := o
		p.Centres = t.setting.Centres
		median := core.MedianDistance(t.public)
		for _, s := range shares {
			p.Sigmas = append(p.Sigmas, s*median)
		}
		return t.release(ctx, p, epsilon, stream)
	}
}

// mechanism makes a mechanism of the package ratio for a trial.
func (t *trial) mechanism(ctx context.Context, o core.Options, epsilon float64) (*core.Mechanism, error) {
	if epsilon == 0 {
		epsilon = noNoise
	}
	o.Public, o.Raw = t.public, true
	o.Neighbours, o.Records = account.ReplaceOne, t.private.Rows
	o.Cost.Epsilon = int64(math.Round(epsilon * account.EpsilonUnits))
	if o.Noise == core.RKHSGaussian {
		o.Cost.Delta = account.DeltaUnits / 1_000_000
	}
	return core.New(ctx, o)
}

// release runs a mechanism with noise that repeats itself.
func (t *trial) release(ctx context.Context, o core.Options, epsilon float64, stream uint64) (*fitted, error) {
	m, err := t.mechanism(ctx, o, epsilon)
	if err != nil {
		return nil, err
	}
	r, err := m.Release(ctx, t.private, entropy.Seeded(t.rng(stream).Uint64()))
	if err != nil {
		return nil, err
	}
	w, err := m.Weights(ctx, r)
	if err != nil {
		return nil, err
	}
	return &fitted{weights: w.W, at: w.Ratio, sigma: w.Meta.Sigma, check: &w.Meta.Check}, nil
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
