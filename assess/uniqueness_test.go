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

func sampleOf(t *testing.T, sizes []uint32, fraction float64) *sample {
	t.Helper()
	counts, err := histogram(sizes)
	if err != nil {
		t.Fatal(err)
	}
	return newSample(counts, fraction)
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
			e := sampleOf(t, drawn, c.fraction).pitman()
			if e.Uniques == nil {
				t.Fatalf("%+v: %s", c, e.Reason)
			}
			errs = append(errs, *e.Uniques-uniquesOf(population))
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
			e := sampleOf(t, drawn, c.fraction).snb()
			if e.Uniques == nil {
				t.Fatalf("%+v: %s", c, e.Reason)
			}
			errs = append(errs, *e.Uniques-uniquesOf(population))
			truth += uniquesOf(population) / runs
		}
		checkUnbiased(t, "snb", errs, truth)
	}
}

// Zayatz's formula by hand: 3 of 6 records, sizes 1 and 2. p_1 = 1/2; p_2 =
// C(2,1)C(4,2)/C(6,3) = 12/20. q = (1/2)/(1/2 + 12/20) = 5/11; 1 unique * q * 2.
func TestZayatzByHand(t *testing.T) {
	u, err := EstimateUniqueness([]int{1, 2}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if got := *u.Zayatz.Uniques; math.Abs(got-10.0/11) > 1e-12 {
		t.Errorf("%v, want 10/11", got)
	}
	if got := *u.Zayatz.Share; math.Abs(got-10.0/66) > 1e-12 {
		t.Errorf("share %v", got)
	}
}

// At nine tenths the sample's class sizes are nearly the population's, which
// is what Zayatz assumes. At one tenth it must be far too high for a population
// of equal classes: if it were not, it would not be Zayatz's.
func TestZayatzBiasIsAsKnown(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	population, drawn := draw(rng, snbPopulation(rng, 20000, 2, 0.6), 0.97)
	u, err := EstimateUniqueness(drawn, 0.97)
	if err != nil {
		t.Fatal(err)
	}
	truth := uniquesOf(population)
	if got := *u.Zayatz.Uniques; math.Abs(got-truth) > 0.03*truth {
		t.Errorf("%.0f of %.0f at 0.97", got, truth)
	}
	of := make([]uint32, 30000)
	for i := range of {
		of[i] = uint32(i / 5)
	}
	_, drawn = draw(rng, of, 0.1)
	if got := *sampleOf(t, drawn, 0.1).zayatz().Uniques; got < 1000 {
		t.Errorf("%.0f uniques in a population without any: less than Zayatz's formula can give", got)
	}
	if u, err = EstimateUniqueness(drawn, 0.1); err != nil || u.Zayatz.Uniques != nil {
		t.Errorf("%v, %v: taken as one that fits", u.Zayatz, err)
	}
}

// A population in which every class has five records has no uniques and is
// not Pitman's nor the slide negative binomial's: a model may be absent, but
// what it says must not be many uniques with a good conscience.
func TestModelsOnEqualClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	of := make([]uint32, 50000)
	for i := range of {
		of[i] = uint32(i / 5)
	}
	_, drawn := draw(rng, of, 0.3)
	u, err := EstimateUniqueness(drawn, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("zayatz %v, pitman %v %s, snb %v %s", u.Zayatz.Uniques, u.Pitman.Uniques, u.Pitman.Reason, u.SNB.Uniques, u.SNB.Reason)
	if u.SNB.Uniques != nil && *u.SNB.Share > 0.05 {
		t.Errorf("SNB says %v", *u.SNB.Uniques)
	}
	if u.Pitman.Uniques != nil {
		t.Errorf("Pitman fits: %v", *u.Pitman.Uniques)
	}
}

func TestDecisionRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	_, small := draw(rng, pitmanPopulation(rng, 50000, 200, 0.5), 0.05)
	u, err := EstimateUniqueness(small, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if u.Chosen != ModelPitman || *u.Result.Uniques != *u.Pitman.Uniques {
		t.Errorf("chose %s at 0.05", u.Chosen)
	}
	_, large := draw(rng, snbPopulation(rng, 20000, 2, 0.5), 0.4)
	if u, err = EstimateUniqueness(large, 0.4); err != nil {
		t.Fatal(err)
	}
	if u.SNB.Uniques == nil {
		t.Fatal(u.SNB.Reason)
	}
	if u.Chosen != ModelSNB || *u.Result.Uniques != *u.SNB.Uniques || u.Zayatz.Uniques != nil && *u.Zayatz.Uniques < *u.SNB.Uniques {
		t.Errorf("chose %s of %v and %v", u.Chosen, *u.SNB.Uniques, u.Zayatz.Uniques)
	}
	if u, err = EstimateUniqueness([]int{1, 1, 1, 1}, 0.05); err != nil {
		t.Fatal(err)
	}
	if u.Chosen != ModelZayatz || u.Pitman.Reason.IsZero() {
		t.Errorf("chose %s where Pitman cannot be fitted", u.Chosen)
	}
	for _, c := range []struct {
		sizes    []int
		fraction float64
		chosen   string
		want     float64
	}{{[]int{1, 1, 3}, 1, ModelExact, 2}, {[]int{4, 3}, 0.1, ModelNone, 0}} {
		if u, err = EstimateUniqueness(c.sizes, c.fraction); err != nil {
			t.Fatal(err)
		}
		if u.Chosen != c.chosen || *u.Result.Uniques != c.want {
			t.Errorf("%v: %s, %v", c.sizes, u.Chosen, *u.Result.Uniques)
		}
	}
	for _, f := range []float64{0, -1, 1.1, math.NaN()} {
		if _, err := EstimateUniqueness([]int{1}, f); err == nil {
			t.Errorf("fraction %v passed", f)
		}
	}
}

// The maximum likelihood fit is a maximum: the likelihood, summed term by
// term, is lower on every side.
func TestPitmanFitIsAMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	_, drawn := draw(rng, pitmanPopulation(rng, 20000, 30, 0.4), 0.1)
	counts, err := histogram(drawn)
	if err != nil {
		t.Fatal(err)
	}
	s := newSample(counts, 0.1)
	likelihood := func(theta, alpha float64) float64 {
		l := 0.0
		for i := 1.0; i < s.classes; i++ {
			l += math.Log(theta + i*alpha)
		}
		for i := 1.0; i < s.records; i++ {
			l -= math.Log(theta + i)
		}
		for _, c := range counts {
			for i := int64(1); i < c.size; i++ {
				l += float64(c.classes) * math.Log(float64(i)-alpha)
			}
		}
		return l
	}
	theta, alpha, ok := s.fitPitman()
	if !ok {
		t.Fatal("no fit")
	}
	top := likelihood(theta, alpha)
	for _, dt := range []float64{-0.02, 0, 0.02} {
		for _, da := range []float64{-0.002, 0, 0.002} {
			if (dt != 0 || da != 0) && likelihood(theta*(1+dt), alpha+da) >= top {
				t.Errorf("likelihood at theta %+.0f%%, alpha %+.3f is no lower", 100*dt, da)
			}
		}
	}
}

func TestLogGammaRatio(t *testing.T) {
	// Gamma(x+1)/Gamma(x) = x, on both sides of the change of method.
	for _, x := range []float64{0.1, 1, 50, 9999, 10001, 1e7, 1e12} {
		if got := logGammaRatio(x+1, x); math.Abs(got-math.Log(x)) > 1e-9*math.Max(1, math.Log(x)) {
			t.Errorf("x = %g: %v, want %v", x, got, math.Log(x))
		}
	}
}
