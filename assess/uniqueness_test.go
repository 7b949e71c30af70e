package assess

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pitmanPopulation draws a partition of n records from Pitman's process
// (the two-parameter Chinese restaurant).
func pitmanPopulation(rng *rand.Rand, n int, theta, alpha float64) []uint32 {
	of := make([]uint32, n)
	// A record picked at random belongs to class c with weight size; a new
	// class has weight theta + alpha*classes. Joining "the class of an
	// earlier record" has weight size, of which alpha per class is refused.
	var size []float64
	for i := range of {
		if i == 0 || rng.Float64()*(float64(i)+theta) < theta+alpha*float64(len(size)) {
			of[i] = uint32(len(size))
			size = append(size, 1)
			continue
		}
		for {
			c := of[rng.IntN(i)]
			if rng.Float64() < (size[c]-alpha)/size[c] {
				of[i] = c
				size[c]++
				break
			}
		}
	}
	return of
}

// snbPopulation draws k classes of 1 + negative binomial size; alpha is whole,
// so that X is a sum of geometric variables.
func snbPopulation(rng *rand.Rand, k, alpha int, beta float64) []uint32 {
	var of []uint32
	for c := range k {
		size := 1
		for range alpha {
			size += int(math.Log(1-rng.Float64()) / math.Log(1-beta))
		}
		for range size {
			of = append(of, uint32(c))
		}
	}
	return of
}

// draw takes a simple random sample and returns the class sizes of population
// and sample.
func draw(rng *rand.Rand, of []uint32, fraction float64) (population, sample []uint32) {
	classes := uint32(0)
	for _, c := range of {
		classes = max(classes, c+1)
	}
	population, sample = make([]uint32, classes), make([]uint32, classes)
	for _, c := range of {
		population[c]++
	}
	n := int(math.Round(fraction * float64(len(of))))
	for i := range n {
		j := i + rng.IntN(len(of)-i)
		of[i], of[j] = of[j], of[i]
		sample[of[i]]++
	}
	return population, sample
}

func uniquesOf(sizes []uint32) (n float64) {
	for _, s := range sizes {
		if s == 1 {
			n++
		}
	}
	return n
}

// check holds the mean error of an estimator over repetitions against its own
// standard error: a consistent estimator stays within 4 of them plus a hundredth
// of the truth for the curvature of the estimator.
func checkUnbiased(t *testing.T, name string, errors []float64, truth float64) {
	t.Helper()
	n := float64(len(errors))
	var mean, ss float64
	for _, e := range errors {
		mean += e / n
	}
	for _, e := range errors {
		ss += (e - mean) * (e - mean)
	}
	se := math.Sqrt(ss / (n - 1) / n)
	t.Logf("%s: truth %.0f, mean error %.1f, standard error %.1f", name, truth, mean, se)
	if se > 0.1*truth {
		t.Errorf("%s: standard error %.1f is too wide for the test to mean anything (truth %.0f)", name, se, truth)
	}
	if math.Abs(mean) > 4*se+0.01*truth {
		t.Errorf("%s: mean error %.1f, more than 4 standard errors of %.1f", name, mean, se)
	}
}

func TestPitmanRecoversItsOwnPopulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ theta, alpha, fraction float64 }{
		{100, 0.5, 0.05}, {500, 0.2, 0.1}, {50, 0.8, 0.02}, {1000, 0, 0.05}, {-0.2, 0.6, 0.05},
	} {
		var errs []float64
		truth := 0.0
		const runs = 12
		for range runs {
			population, drawn := draw(rng, pitmanPopulation(rng, 60000, c.theta, c.alpha), c.fraction)
			u, err := EstimateUniqueness(drawn, c.fraction)
			if err != nil {
				t.Fatal(err)
			}
			if u.Pitman.Uniques == nil {
				t.Fatalf("%+v: %s", c, u.Pitman.Reason)
			}
			if u.Chosen != ModelPitman {
				t.Fatalf("%+v: chose %s", c, u.Chosen)
			}
			errs = append(errs, *u.Pitman.Uniques-uniquesOf(population))
			truth += uniquesOf(population) / runs
		}
		checkUnbiased(t, "pitman", errs, truth)
	}
}

func TestSNBRecoversItsOwnPopulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		alpha          int
		beta, fraction float64
	}{{1, 0.3, 0.3}, {2, 0.5, 0.4}, {3, 0.4, 0.6}, {1, 0.6, 0.2}} {
		var errs []float64
		truth := 0.0
		const runs = 12
		for range runs {
			population, drawn := draw(rng, snbPopulation(rng, 20000, c.alpha, c.beta), c.fraction)
			u, err := EstimateUniqueness(drawn, c.fraction)
			if err != nil {
				t.Fatal(err)
			}
			if u.SNB.Uniques == nil {
				t.Fatalf("%+v: %s", c, u.SNB.Reason)
			}
			errs = append(errs, *u.SNB.Uniques-uniquesOf(population))
			truth += uniquesOf(population) / runs
		}
		checkUnbiased(t, "snb", errs, truth)
	}
}
