package ratio

import (
	"context"
	"encoding/json"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// Released is what leaves: the sums of kernels with noise, and nothing else that was
// computed from private records.
type Released struct {
	// Sums are the noisy sums over the private records of phi(x), one row of b for
	// each bandwidth.
	Sums [][]float64 `json:"sums"`
	// Records is the number of private records with noise, where it was paid for.
	Records *int64 `json:"records,omitempty"`
	// Outside is the number of private records outside of the public ones with noise,
	// where it was paid for.
	Outside *int64 `json:"outside,omitempty"`
	// Cells are the counts of the cells of all histograms with noise, where there are any.
	Cells []int64 `json:"cells,omitempty"`
	// Centres are those of NoisyCentres, with noise, b x d.
	Centres [][]float64 `json:"centres,omitempty"`
}

// Answer computes on a private table, which has the columns of Columns, and adds noise
// from src.
func (m *Mechanism) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	if m.options.Frame == nil {
		return nil, noren.Usagef("frame", "the mechanism was made without a frame for tables")
	}
	x, err := m.options.Frame.Points(t)
	if err != nil {
		return nil, err
	}
	return m.Release(ctx, x, src)
}

// Release is Answer on private points, n x d. It is the mechanism: what it returns is
// private as Guarantee says, if src is. Errors: of kind BadData where there is another
// number of records than was declared, else those of the source or the context.
func (m *Mechanism) Release(ctx context.Context, x *Points, src *noise.Source) (*Released, error) {
	o := &m.options
	if o.Neighbours == account.ReplaceOne && x.Rows != o.Records {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has another number of records than was declared"}
	}
	if x.Dim != o.Public.Dim {
		return nil, noren.Usagef("records", "private and public records have another number of coordinates")
	}
	out, err := m.releaseSums(ctx, x, src)
	if err != nil {
		return nil, err
	}
	if m.count > 0 {
		n, err := noisyCount(x.Rows, m.count, src)
		if err != nil {
			return nil, err
		}
		out.Records = &n
	}
	if m.beyond > 0 {
		n := 0
		for _, is := range m.outside(x) {
			if is {
				n++
			}
		}
		noisy, err := noisyCount(n, m.beyond, src)
		if err != nil {
			return nil, err
		}
		out.Outside = &noisy
	}
	return out, nil
}

// releaseSums releases the sums of kernels alone.
func (m *Mechanism) releaseSums(ctx context.Context, x *Points, src *noise.Source) (*Released, error) {
	if m.options.Noise == NoisyCentres {
		return m.releaseNoisyCentres(ctx, x, src)
	}
	sums := make([][]*big.Int, len(m.kernels))
	for i, k := range m.kernels {
		var err error
		if sums[i], err = k.Sum(ctx, x); err != nil {
			return nil, err
		}
	}
	out := &Released{}
	var err error
	if len(m.kernels) > 0 {
		if out.Sums, err = m.distribution.draw(src, m.kernels, sums); err != nil {
			return nil, err
		}
	}
	if len(m.marginals) > 0 {
		out.Cells, err = countCells(ctx, m.marginals, m.scale, x, src)
	}
	return out, err
}

// noisyCount adds discrete Laplace noise to a number of records: one record more or
// less, or another in its place, changes it by 1 at most.
func noisyCount(n int, units int64, src *noise.Source) (int64, error) {
	d, err := countNoise(units)
	if err != nil {
		return 0, err
	}
	z, err := d.Draw(src)
	return publishableCount(noise.AddSaturating(int64(n), z)), err
}

// countNoise is the noise of a count for units of epsilon.
func countNoise(units int64) (*noise.Laplace, error) {
	scale, err := noise.ScaleFor(big.NewRat(1, 1), units)
	if err != nil {
		return nil, err
	}
	return noise.NewLaplace(scale)
}

// Decode reads what Release returned from its JSON. Error: [noren.BadData].
func (m *Mechanism) Decode(payload []byte) (*Released, error) {
	var r Released
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, badMeta("the released sums are not JSON of their form")
	}
	return &r, m.check(&r)
}

// check holds a release against the mechanism that it is said to come from.
func (m *Mechanism) check(r *Released) error {
	candidates, b := len(m.kernels), m.options.Centres
	if m.options.Noise == NoisyCentres {
		candidates = 1
		if len(r.Centres) != b {
			return badMeta("the released centres are not as many as were asked for")
		}
		for _, c := range r.Centres {
			if len(c) != m.options.Public.Dim || !isWhole(c) {
				return badMeta("a released centre is no point")
			}
		}
	}
	if len(r.Sums) != candidates {
		return badMeta("the released sums are not those of these bandwidths")
	}
	for _, s := range r.Sums {
		if len(s) != b || !isWhole(s) {
			return badMeta("the released sums are not those of these centres")
		}
	}
	if len(r.Cells) != cells(m.marginals) {
		return badMeta("the released counts are not those of these histograms")
	}
	if (r.Records != nil) != (m.count > 0) {
		return badMeta("the release and the mechanism differ about the number of records")
	}
	if (r.Outside != nil) != (m.beyond > 0) {
		return badMeta("the release and the mechanism differ about the number of records outside")
	}
	return nil
}

func badMeta(what noren.Format, args ...any) error {
	return &noren.Error{Kind: noren.BadData, What: what, Args: args}
}

// validateBox checks the box of NoisyCentres, and takes the frame's where none is given.
func (o *Options) validateBox(bad *faults) {
	if o.Neighbours != account.ReplaceOne {
		bad.add("neighbours",
			"noisy centres are private for replace-one only: a sample of a size that is fixed says nothing of a table with one record more")
	}
	if o.Low == nil && o.High == nil && o.Frame != nil {
		o.Low, o.High = o.Frame.box()
	}
	if len(o.Low) != o.Public.Dim || len(o.High) != o.Public.Dim {
		bad.add("box", "noisy centres need a public box with two bounds for each coordinate")
		return
	}
	for j, low := range o.Low {
		if !(low < o.High[j]) || math.IsInf(low, 0) || math.IsInf(o.High[j], 0) || math.Abs(low) > 1<<20 || math.Abs(o.High[j]) > 1<<20 {
			bad.add("box", "a bound of the box is no number, or beyond 2^20")
		}
	}
	if o.Centres > o.Records {
		bad.add("centres", "more centres than private records")
	}
	if len(o.Sigmas) > 1 {
		bad.add("sigma", "noisy centres take one bandwidth")
	}
	if o.CentrePoints != nil {
		bad.add("centres", "noisy centres are taken from the private records: give how many")
	}
}

// prepareNoisyCentres finds eps' by amplification: a mechanism that is eps'-private on a
// sample of b of n records without replacement is ln(1 + (b/n)(e^eps' - 1))-private for
// replace-one. It is taken a little below, for rounding.
func (m *Mechanism) prepareNoisyCentres() error {
	half, _ := account.Cost{Epsilon: m.main.Epsilon / 2}.Float()
	if half == 0 {
		return noren.Usagef("epsilon", "the epsilon is too small to split")
	}
	m.inner = amplified(half, m.options.Centres, m.options.Records) * (1 - 0x1p-40)
	// What depends on public parameters alone is refused here, and not after a charge.
	if _, err := m.centreNoise(); err != nil {
		return err
	}
	k, err := NewKernel(axis.NewPoints[float64](m.options.Centres, m.options.Public.Dim), m.options.Sigmas[0])
	if err != nil {
		return err
	}
	_, err = m.noisyCentresNoise(k)
	return err
}

func amplified(epsilon float64, b, n int) float64 {
	return math.Log1p(float64(n) / float64(b) * math.Expm1(epsilon))
}

// centreBits: noisy centres lie on a grid of step 2^-30.
const centreBits = 30

// releaseNoisyCentres is the paper's method A with a sound split: see [NoisyCentres].
func (m *Mechanism) releaseNoisyCentres(ctx context.Context, x *Points, src *noise.Source) (*Released, error) {
	o := &m.options
	inside := axis.NewPoints[float64](x.Rows, x.Dim)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !(v >= o.Low[j]) { // also where there is no value
				v = o.Low[j]
			}
			inside.Row(i)[j] = min(v, o.High[j])
		}
	}
	d, err := m.centreNoise()
	if err != nil {
		return nil, err
	}
	chosen, err := sample(src, x.Rows, o.Centres)
	if err != nil {
		return nil, err
	}
	c := axis.NewPoints[float64](o.Centres, x.Dim)
	for l, i := range chosen {
		for j, v := range inside.Row(i) {
			z, err := d.Draw(src)
			if err != nil {
				return nil, err
			}
			c.Row(l)[j] = math.Ldexp(float64(noise.AddSaturating(int64(math.Round(math.Ldexp(v, centreBits))), z)), -centreBits)
		}
	}
	k, err := NewKernel(c, o.Sigmas[0])
	if err != nil {
		return nil, err
	}
	dist, err := m.noisyCentresNoise(k)
	if err != nil {
		return nil, err
	}
	s, err := k.Sum(ctx, inside)
	if err != nil {
		return nil, err
	}
	noisy, err := dist.draw(src, []*Kernel{k}, [][]*big.Int{s})
	if err != nil {
		return nil, err
	}
	return &Released{Sums: noisy, Centres: rowsOf(c)}, nil
}

// noisyCentresNoise is Laplace with the other half of epsilon. The centres are released
// by now, so that the noise may depend on them.
func (m *Mechanism) noisyCentresNoise(k *Kernel) (*Distribution, error) {
	rest := account.Cost{Epsilon: m.main.Epsilon - m.main.Epsilon/2}
	return newDistribution([]*Kernel{k}, Parametric, rest, account.ReplaceOne)
}

// sample draws b of n without replacement, in random order (the first steps of Fisher
// and Yates), with the randomness that protects data.
func sample(src *noise.Source, n, b int) ([]int, error) {
	moved := map[int]int{}
	at := func(i int) int {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	out := make([]int, b)
	for l := range b {
		r, err := src.Uint64n(uint64(n - l))
		if err != nil {
			return nil, err
		}
		i := l + int(r)
		out[l] = at(i)
		moved[i] = at(l)
	}
	return out, nil
}

func rowsOf(p *Points) [][]float64 {
	out := make([][]float64, p.Rows)
	for i := range out {
		out[i] = append([]float64(nil), p.Row(i)...)
	}
	return out
}
