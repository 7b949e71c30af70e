package assess

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Uniqueness estimates, from a sample, how many records are unique in the
// population that it was drawn from. The sample is taken to be simple random
// without replacement; each model says more (see the method that the field
// names). All figures are estimates: none is a bound.
type Uniqueness struct {
	// Fraction is the sampling fraction.
	Fraction float64 `json:"sampling_fraction"`
	// PopulationRecords is the size of the population that follows from the sampling fraction.
	PopulationRecords int64 `json:"population_records"`
	// SampleUniques is the number of records that are unique in the sample, whether or not
	// they are unique in the population.
	SampleUniques int64 `json:"sample_uniques"`
	// Zayatz is the estimate by Zayatz's model.
	Zayatz Estimate `json:"zayatz"`
	// Pitman is the estimate by Pitman's model.
	Pitman Estimate `json:"pitman"`
	// SNB is the estimate by the shifted negative binomial model.
	SNB Estimate `json:"snb"`
	// Chosen is the model that the decision rule of Dankar, El Emam, Neisa and Roffey (BMC
	// Medical Informatics and Decision Making 12:66, 2012) takes: `pitman` for fractions up to
	// 0.1, otherwise the smaller of `zayatz` and `snb`; `zayatz` replaces a model that does
	// not fit, any other that fits replaces `zayatz`, and `unfit` stands where none fits. `exact` stands where the sample
	// is the population, `none` where it has no unique record.
	Chosen string `json:"chosen"`
	// Result is the estimate of the chosen model.
	Result Estimate `json:"result"`
	// Fitting are the models that fit the sample and at least half of its resamples.
	Fitting []string `json:"fitting_models,omitempty"`
	// Range are the shares from the lowest to the highest end of the bootstrap intervals at 95 %
	// of the models that fit. Absent where no model fits, or nothing was estimated.
	Range *ShareRange `json:"range,omitempty"`
	// Bounds are the shares of all populations that agree with the sample at 95 %, whatever the
	// sizes of their classes: no model is in them.
	Bounds ShareRange `json:"bounds"`
	// OrderOfMagnitude is true if populations that agree with the sample have shares far outside of
	// Range (more than 1.5 times as much, or less): the sample does not decide, and Range is an
	// order of magnitude only.
	OrderOfMagnitude bool `json:"order_of_magnitude_only"`
}

// Estimate is an estimated number of population uniques.
type Estimate struct {
	// Uniques is the number of unique records of the population; null where the model
	// does not fit.
	Uniques *float64 `json:"uniques"`
	// Share is the share of unique records in the population, which is also the probability
	// that a record of the sample, drawn at random, is unique in the population.
	Share *float64 `json:"share"`
	// Reason is the reason why there is no estimate.
	Reason noren.Text `json:"reason,omitzero"`
}

// Names of the models, as in Uniqueness.Chosen.
const (
	ModelZayatz = "zayatz"
	ModelPitman = "pitman"
	ModelSNB    = "snb"
	// ModelExact stands where nothing had to be estimated, as the sample is the
	// population.
	ModelExact = "exact"
	// ModelNone stands where the sample has no unique record: the estimate is
	// 0, as every unique of the population would be one of the sample if it
	// were drawn. It does not prove that the population has none.
	ModelNone = "none"
	// ModelUnfit stands where no model fits: there is no estimate.
	ModelUnfit = "unfit"
)

// EstimateUniqueness estimates population uniqueness from the class sizes of a
// sample and the sampling fraction, in (0,1]. Errors are of kind Usage or, for
// a sample without records, BadData.
func EstimateUniqueness[C Count](sizes []C, fraction float64) (*Uniqueness, error) {
	if !(fraction > 0 && fraction <= 1) {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("sampling fraction"),
			What: "the table's share of the population lies above 0 and at most at 1",
		}
	}
	counts, err := histogram(sizes)
	if err != nil {
		return nil, err
	}
	s := newSample(counts, fraction)
	if s.population > 1<<52 {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("sampling fraction"),
			What: "the population would be larger than can be counted exactly",
		}
	}
	u := &Uniqueness{Fraction: fraction, PopulationRecords: int64(s.population), SampleUniques: int64(s.uniques)}
	if fraction == 1 || s.uniques == 0 {
		e := s.estimate(s.uniques)
		u.Zayatz, u.Pitman, u.SNB, u.Result, u.Chosen = e, e, e, e, ModelNone
		u.Bounds = s.bounds()
		if fraction == 1 {
			u.Chosen, u.Bounds = ModelExact, ShareRange{*e.Share, *e.Share}
		}
		return u, nil
	}
	u.Bounds = s.bounds()
	for _, m := range u.models() {
		*m.e = u.Bounds.judged(m.fit(s))
	}
	u.choose()
	u.describe(s)
	return u, nil
}

// choose applies the decision rule.
func (u *Uniqueness) choose() {
	u.Chosen, u.Result = ModelZayatz, u.Zayatz
	switch {
	case u.Fraction <= 0.1 && u.Pitman.Uniques != nil:
		u.Chosen, u.Result = ModelPitman, u.Pitman
	case u.Fraction > 0.1 && u.SNB.Uniques != nil && (u.Zayatz.Uniques == nil || *u.SNB.Uniques <= *u.Zayatz.Uniques):
		u.Chosen, u.Result = ModelSNB, u.SNB
	case u.Zayatz.Uniques == nil && u.Pitman.Uniques != nil:
		u.Chosen, u.Result = ModelPitman, u.Pitman
	case u.Zayatz.Uniques == nil && u.SNB.Uniques != nil:
		u.Chosen, u.Result = ModelSNB, u.SNB
	case u.Zayatz.Uniques == nil:
		u.Chosen, u.Result = ModelUnfit, absent(noren.Textf("no model fits the sample"))
	}
}

// sample is what the models know: n records in u classes, of which s_j have j
// records, drawn from a population of N records.
type sample struct {
	counts     []sizeCount
	records    float64 // n
	classes    float64 // u
	uniques    float64 // s_1
	pairs      float64 // s_2
	fraction   float64 // n/N
	population float64 // N
}

func newSample(counts []sizeCount, fraction float64) *sample {
	s := &sample{counts: counts, fraction: fraction}
	for _, c := range counts {
		s.records += float64(c.size * c.classes)
		s.classes += float64(c.classes)
		switch c.size {
		case 1:
			s.uniques = float64(c.classes)
		case 2:
			s.pairs = float64(c.classes)
		}
	}
	s.population = math.Max(s.records, math.Round(s.records/fraction))
	return s
}

func (s *sample) estimate(uniques float64) Estimate {
	share := uniques / s.population
	return Estimate{Uniques: &uniques, Share: &share}
}

func absent(reason noren.Text) Estimate { return Estimate{Reason: reason} }

// zayatz is the equivalence class model of Zayatz (Estimation of the number
// of unique population elements using a sample, 1991). A class of j records
// in the population shows one record in the sample with the hypergeometric
// probability p_j. Taking the sample's distribution of class sizes for the
// population's, Bayes gives the chance that a sample unique is a population
// unique:
//
//	q = s_1 p_1 / sum_j s_j p_j,    uniques = s_1 q N/n.
//
// It always has an answer. The sample's classes are smaller than the
// population's, so that it overestimates at small fractions, up to all sample uniques;
// see zayatzThatFits.
func (s *sample) zayatz() Estimate {
	sum := s.zayatzSum()
	n, total := s.records, s.population
	q := s.uniques * (n / total) / sum
	return s.estimate(s.uniques * q * total / n)
}

// zayatzThatFits is zayatz where the population that it assumes, N/n classes for each of
// the sample's, would show as many unique records in a sample as this one has.
func (s *sample) zayatzThatFits() Estimate {
	if !s.fits(s.population / s.records * s.zayatzSum()) {
		return absent(
			noren.Textf("a population with classes of the sample's sizes would not give the number of unique records that the sample has"))
	}
	return s.zayatz()
}

// zayatzSum is sum_j s_j p_j.
func (s *sample) zayatzSum() float64 {
	n, total := s.records, s.population
	// p_j = j n/N prod_{i=1}^{j-1} (N-n-i+1)/(N-i), built up over j.
	product, j, sum := n/total, int64(1), 0.0
	for _, c := range s.counts {
		for ; j < c.size && product > 0; j++ {
			product *= math.Max(0, total-n-float64(j)+1) / (total - float64(j))
			if product < 1e-300 {
				product = 0
			}
		}
		if product == 0 {
			break
		}
		sum += float64(c.classes) * float64(c.size) * product
	}
	return sum
}

// fits reports whether a model that expects so many unique records in the
// sample is believable, given those that were seen: within a tenth and four
// Poisson standard deviations. A model that cannot tell the sample's own
// uniques cannot tell the population's.
func (s *sample) fits(expected float64) bool {
	return math.Abs(expected-s.uniques) <= 0.1*s.uniques+4*math.Sqrt(s.uniques)
}
