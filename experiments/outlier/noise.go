package outlier

import (
	"math"

	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/outlier/paper"
)

// NoiseRow is the noise of one mechanism on one set.
type NoiseRow struct {
	Dataset   string  `json:"dataset"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	Mechanism string  `json:"mechanism"`
	Beta      float64 `json:"beta,omitempty"`
	// S is the bound that the noise is scaled by: smooth, or global.
	S  float64 `json:"S"`
	SD float64 `json:"sd"`
	// Private is false where the guarantee does not hold: noise scaled by the
	// paper's bound, or by a lower bound of the global sensitivity. The rows of
	// Nissim, Raskhodnikova and Smith, with their printed constants, hold with
	// delta (1 + e^{epsilon/2})/2, which is what their proof composes to.
	Private bool `json:"private"`
	// Chosen on the data: the row shows what could be had, not what may be
	// released.
	Chosen bool `json:"chosen_on_the_data,omitempty"`
}

// Mechanisms, in the order in which they are listed.
const (
	LomaxDefault = "Lomax, beta = epsilon/5, p = 6"
	LomaxBest    = "Lomax, best beta and p"
	StudentBest  = "Student t, best beta"
	Quartic      = "density 1/(1+z^4)"
	LaplaceNRS   = "Laplace (NRS 2007)"
	GaussianNRS  = "Gaussian (NRS 2007)"
	LaplaceGS    = "Laplace on the global sensitivity"
	PaperSmooth  = "the paper's smooth Gaussian"
	PaperGlobal  = "the paper's global Gaussian"
	GaussianGS   = "Gaussian on the global sensitivity"
)

// Epsilons of the table.
var Epsilons = []float64{0.1, 0.2, 0.3, 0.5, 1}

// Noises returns the rows of a set for one epsilon, with delta = 1e-3 and
// 1/N^2 where a mechanism needs one.
func Noises(c *Curve, epsilon float64) ([]NoiseRow, error) {
	lomax, err := outlier.DefaultLomax(epsilon)
	if err != nil {
		return nil, err
	}
	var rows []NoiseRow
	add := func(mechanism string, delta, beta, s, sd float64, private, chosen bool) {
		rows = append(rows, NoiseRow{c.Dataset, epsilon, delta, mechanism, beta, s, sd, private, chosen})
	}
	s := Smooth(c.U, lomax.Beta)
	add(LomaxDefault, 0, lomax.Beta, s, lomax.SD(s), true, false)
	best := bestNoise(c, epsilon, func(beta float64) []outlier.Calibrated {
		var all []outlier.Calibrated
		for _, p := range []float64{3.25, 3.5, 3.75, 4, 4.25, 4.5, 5, 5.5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50, 65} {
			if n, err := outlier.LomaxNoise(epsilon, beta, p); err == nil {
				all = append(all, n)
			}
		}
		return all
	})
	s = Smooth(c.U, best.Beta)
	add(LomaxBest, 0, best.Beta, s, best.SD(s), true, true)
	best = bestNoise(c, epsilon, func(beta float64) []outlier.Calibrated {
		var all []outlier.Calibrated
		for nu := 3; nu <= 10; nu++ {
			if n, err := outlier.StudentNoise(epsilon, beta, nu); err == nil {
				all = append(all, n)
			}
		}
		return all
	})
	s = Smooth(c.U, best.Beta)
	add(StudentBest, 0, best.Beta, s, best.SD(s), true, true)
	s = Smooth(c.U, epsilon/10)
	add(Quartic, 0, epsilon/10, s, s*10/epsilon, true, false)
	n := float64(c.N)
	g := float64(outlier.GlobalSensitivity(1, c.N, c.D, c.K))
	add(LaplaceGS, 0, 0, g, math.Sqrt2*g/epsilon, true, false)
	lower := paper.GlobalLower(c.N, c.D, c.K)
	for _, delta := range []float64{1e-3, 1 / (n * n)} {
		// With the constants as Nissim, Raskhodnikova and Smith print them.
		beta := epsilon / (2 * math.Log(2/delta))
		s = Smooth(c.U, beta)
		add(LaplaceNRS, delta, beta, s, math.Sqrt2*s*2/epsilon, true, false)
		alpha, beta := paper.Alpha(epsilon, delta), paper.Beta(epsilon, delta)
		s = Smooth(c.U, beta)
		add(GaussianNRS, delta, beta, s, s/alpha, true, false)
		s = Smooth(c.Paper, beta)
		add(PaperSmooth, delta, beta, s, s/alpha, false, false)
		add(GaussianGS, delta, 0, g, paper.GlobalSD(int(g), epsilon, delta), true, false)
		// The paper takes its lower bound of the global sensitivity for it.
		add(PaperGlobal, delta, 0, float64(lower), paper.GlobalSD(lower, epsilon, delta), float64(lower) >= g, false)
	}
	return rows, nil
}

// bestNoise is the noise with the smallest standard deviation on these data,
// over shares of epsilon for beta.
func bestNoise(c *Curve, epsilon float64, make func(beta float64) []outlier.Calibrated) outlier.Calibrated {
	var best outlier.Calibrated
	least := math.Inf(1)
	for share := 0.005; share < 0.45; share *= 1.02 {
		s := Smooth(c.U, epsilon*share)
		for _, n := range make(epsilon * share) {
			if sd := n.SD(s); sd < least {
				best, least = n, sd
			}
		}
	}
	return best
}
