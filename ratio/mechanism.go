package ratio

import (
	"context"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// Post is how alpha and the weights are made of the released means.
type Post string

const (
	// Entropy calibrates the public records to the released means: weights nearest to
	// equal ones, all above 0, that match them as far as noise lets.
	Entropy Post = "entropy"
	// Plain takes alpha as it is and the positive part of each weight.
	Plain Post = "plain"
	// NonNegative minimises over alpha >= 0 ([Features.NNLS]).
	NonNegative Post = "nnls"
	// Clip is the paper's positive part of alpha. It is offered for fidelity: for
	// small lambda alpha has large signs of both kinds that cancel, and clipping
	// destroys that.
	Clip Post = "clip"
)

// Options make a [Mechanism]. All of them are public: none may be taken from the
// private records.
type Options struct {
	// Public are the public records, N x d. Required.
	Public *Points
	// PublicTable says which table they are from. Optional.
	PublicTable PublicTable
	// Frame brought them there; it is needed where the private records come as a
	// table, through package release. Optional otherwise.
	Frame *Frame
	// Cost is what the release may cost: epsilon, and delta for RKHSGaussian.
	// Required.
	Cost account.Cost
	// Neighbours is the relation. Defaults to AddRemove, where the number of private
	// records is not released.
	Neighbours account.Neighbours
	// Records is n, the number of private records. Required for ReplaceOne, where it
	// is public; not used for AddRemove.
	Records int
	// Features are what is released. Defaults to KernelFeatures.
	Features Feature
	// Noise is the noise of kernels. Defaults to RKHSPure, and to DiscreteLaplace, which is
	// the only one, for MarginalFeatures.
	Noise Noise
	// Centres is how many are chosen from the public records ([ChooseCentres]).
	// Defaults to 24, to 12 where fewer than two columns are numbers or where the number of private records (2,000, or as
	// many as there are public ones, where it is not declared) times epsilon is below
	// 1,000, or to twice
	// the number of categories in Frame where that is more, up to 64: a category without a
	// centre near it cannot be told from the others.
	Centres int
	// CentrePoints are centres of one's own, b x d. Optional.
	CentrePoints *Points
	// Sigmas are the bandwidths that may be used. Several are released together,
	// which costs noise (sensitivities add up in the square, sqrt(m) for m of them),
	// and the one of the best score is taken, which is free. Defaults to
	// half of [MedianDistance] alone.
	Sigmas []float64
	// Lambda fixes lambda. Defaults to 0: it is chosen on the released means, which
	// is free ([Lambdas]).
	Lambda float64
	// Post defaults to Plain for kernels, and to Entropy with marginals, where it is Plain
	// (of kernels) or Entropy.
	Post Post
	// Raw leaves the weights as they are. Otherwise they are divided by their mean.
	Raw bool
	// CountShare, in [0, 0.5], of epsilon is spent on the number of private records,
	// in AddRemove: for counts, and for a check of the weights that needs
	// it. Defaults to 0.
	CountShare float64
	// OutsideShare, in [0, 0.5], of epsilon is spent on the number of private records that
	// are outside of the public ones (axis.Points.Outside): nothing can be said of them.
	// Defaults to 0.
	OutsideShare float64
	// Low and High are the public box of the points that NoisyCentres needs. They
	// default to the frame's.
	Low, High []float64
}

// Mechanism releases the noisy sums of kernels of the private records. It is made of
// public parameters and fits package release by its methods; its guarantee is that of
// its [Noise].
type Mechanism struct {
	options      Options
	kernels      []*Kernel
	distribution *Distribution
	main         account.Cost // for the sums
	cells        account.Cost // for the histograms
	scale        *big.Rat     // of the noise in their cells
	marginals    []Histogram
	count        int64     // units of epsilon for the number of records
	beyond       int64     // and for the number of those outside
	low          []float64 // the range of the public points
	high         []float64
	inner        float64 // NoisyCentres: the eps' of the centres
	points       string  // identity of the public points
}

// New checks the options and does what can be done before any private record is read:
// centres, bandwidths, sensitivities, the distribution of the noise. SampledCentres, the paper's
// method C, is refused: its "(eps, b/n)" is true and void, as publishing b private
// records verbatim is (0, b/n)-private as well, and its weights show where the centres
// are. Errors: [noren.Usage], or the context's.
func New(ctx context.Context, o Options) (*Mechanism, error) {
	m := &Mechanism{options: o}
	p := &m.options
	if p.Features == "" {
		p.Features = KernelFeatures
	}
	if p.Noise == "" {
		p.Noise = RKHSPure
		if p.Features == MarginalFeatures {
			p.Noise = DiscreteLaplace
		}
	}
	if p.Post == "" {
		p.Post = Plain
		if p.Features != KernelFeatures {
			p.Post = Entropy
		}
	}
	if p.Centres == 0 {
		p.Centres = p.defaultCentres()
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	m.count = int64(p.CountShare * float64(p.Cost.Epsilon))
	m.beyond = int64(p.OutsideShare * float64(p.Cost.Epsilon))
	m.main = account.Cost{Epsilon: p.Cost.Epsilon - m.count - m.beyond, Delta: p.Cost.Delta}
	m.low, m.high = ranges(p.Public)
	m.points = pointsIdentity(p.Public)
	if err := m.takeMarginals(); err != nil || p.Features == MarginalFeatures {
		return m, err
	}
	if len(p.Sigmas) == 0 {
		s := MedianDistance(p.Public) / 2
		if s == 0 {
			return nil, noren.Usagef(noren.Phrase("public records"), "there are no two different public records").Hinted("give the bandwidth")
		}
		p.Sigmas = []float64{s}
	}
	if p.Noise == NoisyCentres {
		return m, m.prepareNoisyCentres()
	}
	if p.CentrePoints == nil {
		c, err := ChooseCentres(ctx, p.Public, p.Centres)
		if err != nil {
			return nil, err
		}
		p.CentrePoints = c
	}
	p.Centres = p.CentrePoints.Rows
	for _, s := range p.Sigmas {
		k, err := NewKernel(p.CentrePoints, s)
		if err != nil {
			return nil, err
		}
		m.kernels = append(m.kernels, k)
	}
	var err error
	m.distribution, err = newDistribution(m.kernels, p.Noise, m.main, p.Neighbours)
	return m, err
}

func (o *Options) defaultCentres() int {
	const line, space, most = 12, 24, 64
	least, categories := space, 0
	if o.Public == nil || o.numbers() < 2 || o.guess()*float64(o.Cost.Epsilon)/account.EpsilonUnits < 1000 {
		least = line
	}
	if o.Frame != nil {
		for _, a := range o.Frame.Axes() {
			categories += len(a.Categories)
		}
	}
	return min(max(least, 2*categories), most)
}

// numbers is how many coordinates are not categories.
func (o *Options) numbers() int {
	out := o.Public.Dim
	if o.Frame != nil {
		for _, a := range o.Frame.Axes() {
			out -= len(a.Categories)
		}
	}
	return out
}

// guess is how many private records public facts let one expect: as declared, else as
// many as there are public ones, and 2,000 at least.
func (o *Options) guess() float64 {
	if o.Neighbours == account.ReplaceOne && o.Records > 0 {
		return float64(o.Records)
	}
	return float64(max(2000, o.Public.Rows))
}

// ranges are the least and greatest coordinates of points that have all of them.
func ranges(p *Points) (low, high []float64) {
	low, high = make([]float64, p.Dim), make([]float64, p.Dim)
	for j := range p.Dim {
		low[j], high[j] = math.Inf(1), math.Inf(-1)
	}
	for i := range p.Rows {
		if row := p.Row(i); isWhole(row) {
			for j, v := range row {
				low[j], high[j] = min(low[j], v), max(high[j], v)
			}
		}
	}
	return low, high
}

// validate finds all faults at once.
func (o *Options) validate() error {
	var bad faults
	if o.Public == nil || o.Public.Rows < 2 || o.Public.Dim < 1 || len(o.Public.Data) != o.Public.Rows*o.Public.Dim {
		bad.add("public records", "at least two public records with one coordinate are needed")
		return bad.err()
	}
	d := o.Public.Dim
	if o.Frame != nil && o.Frame.Dim() != d {
		bad.add("frame", "frame and public records have another number of coordinates")
	}
	if o.CentrePoints != nil && o.CentrePoints.Dim != d {
		bad.add("centres", "centres and public records have another number of coordinates")
	}
	if o.Centres < 1 || o.Centres > maxCentres {
		bad.add("centres", "between 1 and 4096 centres are possible")
	}
	if err := o.Cost.Validate(); err != nil {
		bad = append(bad, noren.TextOf(err))
	}
	if o.Cost.Epsilon == 0 {
		bad.add("epsilon", "the fit needs an epsilon above 0")
	}
	if o.Neighbours == account.ReplaceOne && (o.Records < 1 || o.Records > 1<<40) {
		bad.add("records", "replace-one takes the number of private records as public: give it")
	}
	switch o.Noise {
	case RKHSPure, Laplace, Parametric, NoisyCentres:
		if o.Cost.Delta > 0 {
			bad.add("delta", "this mechanism needs no delta: leave it out, or ask for %s", RKHSGaussian)
		}
	case DiscreteLaplace:
		if o.Features != MarginalFeatures {
			bad.add("mechanism", "discrete-laplace is the noise of marginals alone")
		}
	case RKHSGaussian:
		if o.Cost.Delta == 0 {
			bad.add("delta", "Gaussian noise needs a delta above 0, far below 1/n")
		}
	case SampledCentres:
		bad.add("mechanism", "the paper's method C is refused: with private records for centres its (epsilon, b/n) holds, and so it would if "+
			"b private records were published as they are; delta must be far below 1/n to mean anything. Use %s with public centres, or %s",
			RKHSPure, NoisyCentres)
	default:
		bad.add("mechanism", "unknown mechanism: rkhs-pure, rkhs-gaussian, laplace, parametric or noisy-centres")
	}
	switch o.Features {
	case KernelFeatures:
	case MarginalFeatures, BothFeatures:
		if o.Noise == NoisyCentres {
			bad.add("features", "noisy centres are for kernels alone")
		}
		if o.Post != Entropy && (o.Post != Plain || o.Features == MarginalFeatures) {
			bad.add("post", "with marginals weights are made by entropy, or, of kernels, plain")
		}
		if o.Features == MarginalFeatures && o.Noise != DiscreteLaplace && o.Noise != NoisyCentres {
			bad.add("mechanism", "marginals alone have discrete Laplace noise: leave the mechanism out")
		}
		if o.Features == MarginalFeatures && o.Cost.Delta > 0 {
			bad.add("delta", "marginals need no delta: leave it out")
		}
	default:
		bad.add("features", "expected kernels, marginals or both")
	}
	switch o.Post {
	case Entropy, Plain, NonNegative, Clip:
	default:
		bad.add("post", "unknown post-processing: entropy, plain, nnls or clip")
	}
	if len(o.Sigmas) > 16 {
		bad.add("sigma", "more than 16 bandwidths")
	}
	for _, s := range o.Sigmas {
		if !(s > 0) || math.IsInf(s, 1) {
			bad.add("sigma", "a bandwidth must be a number above 0")
		}
	}
	if o.Lambda != 0 && (!(o.Lambda > 0) || math.IsInf(o.Lambda, 1)) {
		bad.add("lambda", "lambda must be a number above 0, or 0 to have it chosen")
	}
	if !(o.CountShare >= 0 && o.CountShare <= 0.5) {
		bad.add(noren.Phrase("count share"), "the share of epsilon for the number of records must lie between 0 and 0.5")
	}
	if !(o.OutsideShare >= 0 && o.OutsideShare <= 0.5) || o.CountShare+o.OutsideShare > 0.5 {
		bad.add(noren.Phrase("outside share"),
			"the share of epsilon for the number of records outside must lie between 0 and 0.5, together with that for the number of records")
	}
	if o.CountShare > 0 && o.Neighbours == account.ReplaceOne {
		bad.add(noren.Phrase("count share"), "the number of records is public in replace-one: nothing need be spent on it")
	}
	if o.Noise == NoisyCentres {
		o.validateBox(&bad)
	}
	return bad.err()
}

// Name is "ratio.weights".
func (m *Mechanism) Name() string { return "ratio.weights" }

// Kernels are the candidates, one for each bandwidth; none for NoisyCentres, whose
// centres are released.
func (m *Mechanism) Kernels() []*Kernel { return m.kernels }

// Distribution is the distribution of the noise on the sums of kernels; nil for NoisyCentres.
func (m *Mechanism) Distribution() *Distribution { return m.distribution }

// Checks are the epsilons that the number of records and the number of those outside
// take of the cost.
func (m *Mechanism) Checks() (count, outside float64) {
	return float64(m.count) / account.EpsilonUnits, float64(m.beyond) / account.EpsilonUnits
}

// Columns describes the columns that are read; none without a frame.
func (m *Mechanism) Columns() []table.Field {
	if m.options.Frame == nil {
		return nil
	}
	return m.options.Frame.Columns()
}

// Parameters are all public parameters, for the certificate: what is released depends on
// nothing else but the private table. How weights are made of it (Lambda, Post, Raw) is none
// of them.
func (m *Mechanism) Parameters() any {
	o := &m.options
	p := struct {
		Mechanism     Noise            `json:"mechanism"`
		Epsilon       string           `json:"epsilon"` // decimal, exact
		Delta         string           `json:"delta"`
		Neighbours    string           `json:"neighbours"`
		Records       int              `json:"records,omitempty"`
		PublicRecords int              `json:"public_records"`
		PublicTable   publicParameters `json:"public_table"`
		Axes          []axisMeta       `json:"axes,omitempty"`
		Centres       [][]float64      `json:"centres,omitempty"`
		CentreCount   int              `json:"centre_count"`
		Sigmas        []float64        `json:"sigmas"`
		Distribution  *Distribution    `json:"distribution,omitempty"`
		Features      Feature          `json:"features"`
		Histograms    []Histogram      `json:"histograms,omitempty"`
		CellScale     string           `json:"scale_of_cells,omitempty"`
		CountEpsilon  string           `json:"epsilon_for_records,omitempty"`
		BeyondEpsilon string           `json:"epsilon_for_outside,omitempty"`
		InnerEpsilon  float64          `json:"epsilon_of_centres,omitempty"`
		Low           []float64        `json:"low,omitempty"`
		High          []float64        `json:"high,omitempty"`
	}{
		Mechanism: o.Noise, Epsilon: account.Decimal(o.Cost.Epsilon, 9), Delta: account.Decimal(o.Cost.Delta, 18),
		Neighbours: o.Neighbours.String(), PublicRecords: o.Public.Rows, PublicTable: publicParameters{o.PublicTable, m.points},
		CentreCount: o.Centres, Sigmas: o.Sigmas, Distribution: m.distribution, InnerEpsilon: m.inner, Low: o.Low, High: o.High,
	}
	if o.Neighbours == account.ReplaceOne {
		p.Records = o.Records
	}
	p.Features, p.Histograms = o.Features, m.marginals
	if m.scale != nil {
		p.CellScale = m.scale.RatString()
	}
	if o.Frame != nil {
		p.Axes = axesMeta(o.Frame)
	}
	if m.kernels != nil {
		p.Centres = rowsOf(o.CentrePoints)
	}
	if m.count > 0 {
		p.CountEpsilon = account.Decimal(m.count, 9)
	}
	if m.beyond > 0 {
		p.BeyondEpsilon = account.Decimal(m.beyond, 9)
	}
	return p
}

// Cost is the privacy cost for a relation of neighbours and a privacy unit. The theorems are
// about single records: another unit is refused. A replaced record moves sums of kernels
// by sqrt(2) times what an added one does in the norm of their noise, and not by twice as
// much (docs/density-ratio.md, theorem 2): an add-remove mechanism of that noise costs a
// replace-one budget accordingly ([replaced]).
func (m *Mechanism) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	o := &m.options
	if unit == account.Record && o.Neighbours == account.AddRemove && n == account.ReplaceOne {
		if cost, ok := m.replaced(); ok {
			return cost, nil
		}
	}
	return recordCost(m.options.Cost, m.options.Neighbours, n, unit)
}

func recordCost(c account.Cost, own, n account.Neighbours, unit string) (account.Cost, error) {
	if unit != account.Record {
		return account.Cost{}, noren.Usagef("unit", "density-ratio weights are private for single records").
			Hinted("use a budget whose unit is the record, or a table with one record for each %s", unit)
	}
	return account.Charge(c, own, n)
}

// Guarantee states the guarantee that Cost is charged for.
func (m *Mechanism) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := m.Cost(n, unit)
	if err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	o := &m.options
	g.Assumptions = noren.Sentences(
		"The public records, columns, bounds, scales and bandwidths are public and were not chosen by looking at the private records.",
		"A record without a value in one of the columns counts with kernels of 0.",
	)
	if o.Neighbours == account.ReplaceOne {
		g.Assumptions = append(g.Assumptions, noren.Textf("The number of private records is public."))
	}
	if len(m.marginals) > 0 {
		g.Assumptions = append(g.Assumptions, noren.Textf("Bins, categories and which columns are paired are public. Noise in cells is "+
			"discrete and exact; a record is in one cell of each histogram at most."))
	}
	switch o.Noise {
	case DiscreteLaplace:
	case RKHSPure, RKHSGaussian:
		g.Assumptions = append(g.Assumptions, noren.Sentences(continuous,
			"What one record can change is at most sqrt(2) (replaced) or 1 (added) in the norm of the kernel's space, whatever the record "+
				"(docs/density-ratio.md, theorem 2).")...)
	case NoisyCentres:
		g.Assumptions = append(g.Assumptions, noren.Textf("The box of the records is public; records outside count as on its border."),
			noren.Textf("%d private {record was|records were} drawn without replacement for centres, and which {record it is|records they are} "+
				"stays secret (docs/density-ratio.md, audit of method A).", o.Centres))
	default:
		g.Assumptions = append(g.Assumptions, noren.Textf("Noise is discrete and exact on a grid of step 2^-30; what one record can change "+
			"was bounded with certainty (docs/density-ratio.md, theorem 1)."))
	}
	return g, nil
}

// continuous is what floating point does to the continuous samplers.
const continuous = "The noise is continuous and was drawn in floating point: the theorem is about real numbers. The sums it is added to " +
	"are exact whole numbers, and the result was rounded to a public grid of about 2^-20 of the noise, so that the lowest bits of the " +
	"noise were not released; that rounding makes the known attacks on such bits harder and is no proof (use laplace for noise that is exact)."
