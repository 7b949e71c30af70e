package outlier

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Facts are what is public before any data are read.
type Facts struct {
	// Neighbours is the relation. Defaults to AddRemove.
	Neighbours account.Neighbours `json:"-"`
	// Records is the number of records. Required for replace-one; for add-remove it is not
	// used, as it is private.
	Records int `json:"records,omitempty"`
	// Dimensions is the number of columns. Required.
	Dimensions int `json:"dimensions"`
	// K is the smallest number of others within the radius that makes a record
	// no outlier. Required.
	K int `json:"k"`
	// Epsilon is the privacy cost. Required.
	Epsilon float64 `json:"epsilon"`
	// Guess is a public guess of the local sensitivity on typical data: the plan expects U_t =
	// min(G, t + Guess), where G is the global sensitivity. It decides how good the plan is,
	// and never the guarantee. Defaults to 3.
	Guess int `json:"guess"`
}

// validate fills in defaults and returns all faults at once.
func (f *Facts) validate() error {
	var bad faults
	if f.Neighbours > account.ReplaceOne {
		bad.add("neighbours", "neighbours are add-remove or replace-one")
	}
	switch most := MaxRecords(f.Dimensions); {
	case f.Dimensions < 1:
		bad.add("dimensions", "there must be at least one column")
	case f.Neighbours == account.ReplaceOne && (f.Records < 1 || f.Records > most):
		bad.add("records", "for replace-one neighbours the number of records is public and must be given, 1 to %d in that number of dimensions",
			most)
	}
	if f.K < 1 || f.K > maxK {
		bad.add("k", "k must lie between 1 and %d", maxK)
	}
	if err := checkEpsilon(f.Epsilon); err != nil {
		bad = append(bad, noren.TextOf(err))
	}
	if f.Guess == 0 {
		f.Guess = 3
	}
	if f.Guess < 1 {
		bad.add("guess", "the guess must be 1 or more")
	}
	return bad.err()
}

// Plan is the noise to choose and its expected error, from public facts
// (docs/outliers.md).
type Plan struct {
	Facts
	// Relation is the relation of neighbours: add-remove or replace-one.
	Relation string `json:"neighbours"`
	// G is the global sensitivity.
	G int64 `json:"global_sensitivity"`
	// Smooth is the best Lomax noise for the guess, with the bound of the sensitivity, the
	// standard deviation and the half-width of the 95% interval that are expected with it.
	Smooth Expectation `json:"smooth"`
	// Global is Laplace noise on the global sensitivity. The figures hold whatever the data.
	Global Expectation `json:"global"`
	// Noise is the recommended noise: the one with the smaller standard deviation.
	Noise Calibrated `json:"noise"`
	// Advice on k, the radius and epsilon.
	Advice noren.Texts `json:"advice"`
}

// Expectation is what a noise is expected to come to.
type Expectation struct {
	// Noise is the noise with its parameters.
	Noise Calibrated `json:"noise"`
	// S is the expected bound of the sensitivity.
	S float64 `json:"S"`
	// SD is the expected standard deviation.
	SD float64 `json:"sd"`
	// HalfWidth is the expected half-width of a 95% interval.
	HalfWidth float64 `json:"half_width_95"`
}

func expectation(n Calibrated, s float64) Expectation {
	return Expectation{Noise: n, S: s, SD: n.SD(s), HalfWidth: n.Interval(s, 0.95)}
}

// The grid of the plan: shares of epsilon for beta, and powers.
var (
	planShares = []float64{
		0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.28, 0.32, 0.36,
		0.4, 0.44,
	}
	planPowers = []float64{3.25, 3.5, 4, 4.5, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 65}
)

// NewPlan chooses noise from public facts alone: over a grid of (beta, p) the
// Lomax noise with the smallest sd(epsilon, beta, p) max_t e^{-beta t} min(G,
// t+Guess), or, where that is not below sqrt 2 G/epsilon, Laplace noise on the
// global sensitivity. The choice never looks at data, and the noise that was not
// chosen is never drawn.
func NewPlan(f Facts) (*Plan, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	p := &Plan{Facts: f, Relation: f.Neighbours.String(), G: GlobalSensitivity(f.Neighbours, f.Records, f.Dimensions, f.K)}
	global, err := GlobalNoise(f.Epsilon)
	if err != nil {
		return nil, err
	}
	p.Global = expectation(global, float64(p.G))
	smooth, err := bestLomax(f.Epsilon, p.G, f.Guess)
	if err != nil {
		return nil, err
	}
	p.Smooth = expectation(smooth, guessedS(smooth.Beta, p.G, f.Guess))
	p.Noise = global
	if p.Smooth.SD < p.Global.SD {
		p.Noise = smooth
	}
	p.Advice = p.advise()
	return p, nil
}

// bestLomax minimises the expected standard deviation over the grid.
func bestLomax(epsilon float64, g int64, guess int) (Calibrated, error) {
	best, err := DefaultLomax(epsilon)
	if err != nil {
		return Calibrated{}, err
	}
	sd := best.SD(guessedS(best.Beta, g, guess))
	for _, share := range planShares {
		beta := epsilon * share
		if beta < minBeta {
			continue
		}
		s := guessedS(beta, g, guess)
		for _, p := range planPowers {
			if !lomaxAllows(epsilon, beta, p) {
				break
			}
			n, err := LomaxNoise(epsilon, beta, p)
			if err != nil {
				return Calibrated{}, err
			}
			if v := n.SD(s); v < sd*(1-1e-9) {
				best, sd = n, v
			}
		}
	}
	return best, nil
}

// guessedS is max_t e^{-beta t} min(G, t + guess) over integers t >= 0: the
// product has one top, at 1/beta - guess or where the minimum becomes G.
func guessedS(beta float64, g int64, guess int) float64 {
	u := float64(guess)
	value := func(t float64) float64 {
		t = max(0, t)
		return math.Exp(-beta*t) * min(float64(g), t+u)
	}
	best := value(0)
	for _, t := range []float64{math.Floor(1/beta - u), float64(g) - u} {
		best = max(best, value(t), value(t+1))
	}
	return best
}

// advise says in sentences what the figures mean.
func (p *Plan) advise() noren.Texts {
	if p.G == 0 {
		return noren.Sentences("With no more than k records every record is an outlier: the count is the number of records and needs no noise.")
	}
	var out noren.Texts
	if p.Noise.Family == GlobalLaplace {
		out = append(out, noren.Textf("Noise on the global sensitivity %d is the smaller at this epsilon, whatever the data: its standard "+
			"deviation is %.4g.", p.G, p.Global.SD))
		if e := p.crossing(); e > 0 {
			out = append(out, noren.Textf("From about epsilon = %.2g on, smooth noise is expected to be smaller.", e))
		}
	} else {
		out = append(out, noren.Textf("Smooth noise is expected to have a standard deviation of %.4g; noise on the global sensitivity %d "+
			"would have %.4g.", p.Smooth.SD, p.G, p.Global.SD))
		out = append(out, noren.Textf("The expectation rests on the guess that about %d {record|records} can change sides at once. The "+
			"guarantee does not. The guess is no bound: on three clouds in the plane with 10^3, 10^4, 10^5 and 10^6 records, k = 5, epsilon = 1, "+
			"half-widths of 19, 29, 35 and 38 were measured where a guess of 3 expects 17.", p.Guess))
	}
	if beta := p.Smooth.Noise.Beta; p.Noise.Family == Lomax {
		out = append(out, noren.Textf("Choose the radius, from public knowledge, so that nearly all records that are no outliers have well "+
			"over %d others within it: what lies near k = %d makes the noise.", p.K+int(math.Ceil(1/beta)), p.K))
	}
	if p.K > 1 {
		g := GlobalSensitivity(p.Neighbours, p.Records, p.Dimensions, (p.K+1)/2)
		if g < p.G {
			out = append(out, noren.Textf("With k = %d the global sensitivity would be %d.", (p.K+1)/2, g))
		}
	}
	if e := p.epsilonFor(10); e > 0 {
		out = append(out, noren.Textf("A standard deviation of 10 takes about epsilon = %.2g.", e))
	}
	return out
}

// crossing is the smallest epsilon of a grid from which on smooth noise is
// expected to be the smaller; 0 if none is.
func (p *Plan) crossing() float64 {
	return p.firstEpsilon(func(smooth, global float64) bool { return smooth < global })
}

// epsilonFor is the smallest epsilon of a grid at which the expected standard
// deviation is at most sd; 0 if there is none.
func (p *Plan) epsilonFor(sd float64) float64 {
	return p.firstEpsilon(func(smooth, global float64) bool { return min(smooth, global) <= sd })
}

func (p *Plan) firstEpsilon(enough func(smooth, global float64) bool) float64 {
	for e := 0.01; e <= 20; e *= 1.1 {
		n, err := bestLomax(e, p.G, p.Guess)
		if err != nil {
			return 0
		}
		if enough(n.SD(guessedS(n.Beta, p.G, p.Guess)), math.Sqrt2*float64(p.G)/e) {
			return e
		}
	}
	return 0
}

// err is one error of all faults, or nil.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{noren.Texts(f)}}
}

// bestStudent minimises the expected standard deviation of Student's t over
// shares of epsilon and degrees of freedom.
func bestStudent(epsilon float64, g int64, guess int) (Calibrated, error) {
	best, sd := Calibrated{}, math.Inf(1)
	for _, nu := range []int{3, 4, 5, 6, 8, 10} {
		for _, share := range planShares {
			beta := epsilon * share
			if beta < minBeta || float64(nu)*share >= 0.99 {
				continue
			}
			n, err := StudentNoise(epsilon, beta, nu)
			if err != nil {
				return Calibrated{}, err
			}
			if v := n.SD(guessedS(beta, g, guess)); v < sd {
				best, sd = n, v
			}
		}
	}
	if math.IsInf(sd, 1) {
		return best, noren.Usagef("epsilon", "is too small for Student's t noise").Hinted("use Lomax noise")
	}
	return best, nil
}
