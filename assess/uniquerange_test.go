package assess

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// classesOf draws classes of these sizes until there are n records.
func classesOf(n int, size func() float64) []uint32 {
	var of []uint32
	for c := uint32(0); len(of) < n; c++ {
		for range int(math.Ceil(size())) {
			of = append(of, c)
		}
	}
	return of[:n]
}

// uniquePopulations are populations of about 30,000 records, of which only the first three
// follow a model that is fitted.
var uniquePopulations = map[string]func(rng *rand.Rand) []uint32{
	"pitman":     func(rng *rand.Rand) []uint32 { return pitmanPopulation(rng, 30_000, 100, 0.5) },
	"ewens":      func(rng *rand.Rand) []uint32 { return pitmanPopulation(rng, 30_000, 800, 0) },
	"snb":        func(rng *rand.Rand) []uint32 { return snbPopulation(rng, 10_000, 2, 0.5) },
	"pairs":      func(*rand.Rand) []uint32 { return classesOf(30_000, func() float64 { return 2 }) },
	"households": func(*rand.Rand) []uint32 { return classesOf(30_000, func() float64 { return 5 }) },
	"log-normal": func(rng *rand.Rand) []uint32 {
		return classesOf(30_000, func() float64 { return math.Exp(2 * rng.NormFloat64()) })
	},
	"pareto": func(rng *rand.Rand) []uint32 {
		return classesOf(30_000, func() float64 { return 0.7 * math.Pow(rng.Float64(), -1.2) })
	},
	"few sizes": func(rng *rand.Rand) []uint32 {
		return classesOf(30_000, func() float64 { return []float64{1, 3, 40}[rng.IntN(3)] })
	},
	"two columns": func(rng *rand.Rand) []uint32 {
		of := make([]uint32, 30_000)
		for i := range of {
			of[i] = uint32(math.Abs(rng.NormFloat64())*40)*1000 + uint32(rng.ExpFloat64()*25)
		}
		return of
	},
	"unique or in hundreds": func(*rand.Rand) []uint32 {
		of := classesOf(30_000, func() float64 { return 100 })
		for i := range 3000 {
			of[i] = uint32(1000 + i)
		}
		return of
	},
}

// testUniqueness draws samples of each population: the bounds hold the truth, and so does the
// range of the models where it is not an order of magnitude only.
func testUniqueness(t *testing.T, runs int, fractions ...float64) {
	for name, make := range uniquePopulations {
		for _, f := range fractions {
			for run := range runs {
				rng := rand.New(rand.NewPCG(uint64(run), 21))
				population, drawn := draw(rng, make(rng), f)
				records := 0.0
				for _, size := range population {
					records += float64(size)
				}
				truth := uniquesOf(population) / records
				u, err := EstimateUniqueness(drawn, f)
				if err != nil {
					t.Fatal(err)
				}
				within := func(r ShareRange) bool { return r.Low <= truth+1e-6 && truth <= r.High+1e-6 }
				if !within(u.Bounds) {
					t.Errorf("%s at %g: %.4f is outside of the bounds %.4f", name, f, truth, u.Bounds)
				}
				switch {
				case u.Range == nil:
					if u.Result.Share != nil || u.Chosen != ModelUnfit {
						t.Errorf("%s at %g: %s without a model that fits", name, f, u.Chosen)
					}
				case !u.OrderOfMagnitude && !within(*u.Range):
					t.Errorf("%s at %g: %.4f is outside of the range %.4f, without a warning", name, f, truth, *u.Range)
				case u.Result.Share == nil || *u.Result.Share < u.Range.Low || *u.Result.Share > u.Range.High ||
					u.Range.Low < u.Bounds.Low || u.Range.High > u.Bounds.High:
					t.Errorf("%s at %g: %v, range %.4f, bounds %.4f", name, f, u.Result.Share, *u.Range, u.Bounds)
				}
			}
		}
	}
}

func TestUniquenessOverPopulations(t *testing.T) {
	randtest.SkipShort(t)
	testUniqueness(t, 1, 0.01, 0.1, 0.5)
}

func TestLongUniquenessOverPopulations(t *testing.T) {
	randtest.Long(t)
	testUniqueness(t, 10, 0.01, 0.1, 0.5)
}

// Half of a population decides where many records are seen.
func TestUniquenessIsDecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	_, drawn := draw(rng, pitmanPopulation(rng, 30_000, 50, 0.8), 0.5)
	u, err := EstimateUniqueness(drawn, 0.5)
	if err != nil || u.OrderOfMagnitude || u.Range == nil || u.Range.High > 1.5*u.Range.Low {
		t.Errorf("%v, %+v", err, u)
	}
	_, drawn = draw(rng, classesOf(20_000, func() float64 { return 5 }), 0.1)
	if true {
		if u, err = EstimateUniqueness(drawn, 0.1); err != nil || u.Range != nil && !u.OrderOfMagnitude || u.Bounds.Low > 0 {
			t.Errorf("households of equal people: %v, %+v", err, u)
		}
	}
	// All records of a small sample are unique: nothing says whether they have a twin.
	if u, err = EstimateUniqueness([]int{1, 1, 1, 1}, 0.05); err != nil || !u.OrderOfMagnitude && u.Range != nil || u.Bounds.Low > 1e-9 ||
		u.Bounds.High < 1-1e-9 {
		t.Errorf("%v, %+v", err, u)
	}
}
