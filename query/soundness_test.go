package query

import (
	"math"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// numbers is a table of one decimal column.
func numbers(t testing.TB, values ...float64) *table.Table {
	t.Helper()
	rows := make([][]string, len(values))
	for i, v := range values {
		rows[i] = []string{strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return makeTable(t, []table.Field{{Name: "x", Type: table.Decimal}}, rows...)
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestNoQueryLosesMoreThanItClaims attacks every kind of query on the neighbours that
// are thought to be its worst. The same attack must find out a query whose noise is
// half of what it should be.
func TestNoQueryLosesMoreThanItClaims(t *testing.T) {
	randtest.SkipShort(t)
	testSoundness(t, 20_000)
}

func TestLongNoQueryLosesMoreThanItClaims(t *testing.T) {
	randtest.Long(t)
	testSoundness(t, 100_000)
}

func testSoundness(t *testing.T, runs int) {
	j := 0
	fields := []table.Field{{Name: "x", Type: table.Decimal}}
	for _, test := range []struct {
		name        string
		o           Options
		left, right []float64
		of          func(r *Result) float64
		catches     bool // half the noise
	}{
		{"count", Options{Kind: Count}, repeat(1, 3), repeat(1, 2), nil, true},
		{
			"count, gaussian",
			Options{Kind: Count, Noise: Gaussian, Cost: account.Cost{Epsilon: one, Delta: 1e15}},
			repeat(1, 3), repeat(1, 2), nil,
			true,
		},
		{"sum", Options{Kind: Sum, Column: "x", Bounds: &Bounds{-3, 7}, GridBits: &j}, []float64{1, 2, 7}, []float64{1, 2}, nil, true},
		{
			"sum, replace-one",
			Options{Kind: Sum, Column: "x", Bounds: &Bounds{-3, 7}, GridBits: &j, Neighbours: account.ReplaceOne},
			[]float64{1, 2, 9},
			[]float64{1, 2, -9},
			nil, true,
		},
		{
			"histogram, replace-one",
			Options{Kind: Histogram, Column: "x", Bins: []float64{0, 1, 2}, Neighbours: account.ReplaceOne},
			[]float64{0, 0, 1},
			[]float64{0, 1, 1},
			func(r *Result) float64 { return float64(*r.Groups[0].Value - *r.Groups[1].Value) },
			true,
		},
		{"mean", Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 10}, GridBits: &j}, []float64{10, 10, 10}, []float64{10, 10}, nil, false},
		{
			"mean, replace-one",
			Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 10}, GridBits: &j, Neighbours: account.ReplaceOne},
			[]float64{0, 10},
			[]float64{10, 10},
			nil, false,
		},
		{
			"variance",
			Options{Kind: Variance, Column: "x", Bounds: &Bounds{0, 10}, GridBits: &j},
			[]float64{0, 0, 10},
			[]float64{0, 0},
			nil,
			false,
		},
		{
			"quantile",
			Options{Kind: Quantile, Column: "x", Bounds: &Bounds{0, 1000}, GridBits: &j, Cost: account.Cost{Epsilon: 2 * one}},
			[]float64{300, 300, 300, 301},
			[]float64{300, 300, 300, 301, 1000},
			nil, true,
		},
		{
			"smooth median",
			Options{Kind: Quantile, Column: "x", Bounds: &Bounds{0, 100}, GridBits: &j, Noise: Smooth},
			append(repeat(0, 5), repeat(100, 5)...),
			append(repeat(0, 4), repeat(100, 5)...),
			nil, true,
		},
		{
			"smooth median, replace-one",
			Options{Kind: Quantile, Column: "x", Bounds: &Bounds{0, 100}, GridBits: &j, Noise: Smooth, Neighbours: account.ReplaceOne},
			append(repeat(0, 5), repeat(100, 5)...),
			append(repeat(0, 4), repeat(100, 6)...),
			nil, true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.o.Fields = fields
			if test.o.Cost == (account.Cost{}) {
				test.o.Cost.Epsilon = one
			}
			claim := test.o.Cost
			left, right := numbers(t, test.left...), numbers(t, test.right...)
			for _, halved := range []bool{false, true} {
				if halved && !test.catches {
					continue
				}
				o := test.o
				if halved {
					o.Cost.Epsilon *= 2
				}
				q := mustNew(t, o)
				if halved && o.Noise == Gaussian {
					s := q.kernel.(*sums)
					whole := mustNew(t, test.o).kernel.(*sums).noise.(*noise.Gaussian).Sigma2()
					var err error
					if s.noise, err = noise.NewGaussian(whole.Quo(whole, ratOf(4))); err != nil {
						t.Fatal(err)
					}
				}
				on := func(tab *table.Table) randtest.Mechanism {
					return func(src *noise.Source) (int64, error) {
						r, err := q.answer(t.Context(), tab, src)
						switch {
						case err != nil:
							return 0, err
						case test.of != nil:
							return int64(test.of(r)), nil
						case r.Value == nil:
							return -1 << 40, nil
						}
						return int64(math.Round(float64(*r.Value) * 8)), nil
					}
				}
				epsilon, delta := claim.Float()
				of := runs
				if o.Noise == Smooth { // an answer takes some 20 us
					of /= 2
				}
				b, err := randtest.EpsilonLowerBound(t.Context(), randtest.Audit{Runs: of, Delta: delta, Seed: 11}, on(left), on(right))
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("halved %v: epsilon is at least %.3f of %.3f (%v)", halved, b.Epsilon, epsilon, b.Event)
				if !halved && b.Epsilon > epsilon {
					t.Errorf("epsilon is at least %.3f, and %.3f is claimed: %v", b.Epsilon, epsilon, b.Event)
				}
				if halved && b.Epsilon <= epsilon {
					t.Errorf("half the noise was not found out: epsilon at least %.3f", b.Epsilon)
				}
			}
		})
	}
}

// The noise of a released integer has exactly the claimed distribution, and the test
// would notice another scale.
func TestCountHasItsNoise(t *testing.T) {
	randtest.SkipShort(t)
	tab := numbers(t, repeat(1, 100)...)
	for _, m := range []Noise{Laplace, Gaussian} {
		o := Options{Kind: Count, Fields: []table.Field{{Name: "x", Type: table.Decimal}}, Noise: m, Cost: account.Cost{Epsilon: one / 4}}
		if m == Gaussian {
			o.Cost.Delta = 1e12
		}
		q := mustNew(t, o)
		logP := q.kernel.(*sums).noise.(interface{ LogP(int64) float64 }).LogP
		cdf, err := randtest.CDFOf(func(x int64) float64 { return logP(x - 100) }, -2000, 2200)
		if err != nil {
			t.Fatal(err)
		}
		src := randtest.Source(3)
		draws, err := randtest.Draws(10_000, func() (int64, error) {
			r, err := q.answer(t.Context(), tab, src)
			if err != nil {
				return 0, err
			}
			return int64(*r.Value), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if fit, err := randtest.GoodnessOfFit(draws, cdf, 60); err != nil || fit.P < randtest.FitLevel {
			t.Errorf("%s: %+v, %v", m, fit, err)
		}
		for _, factor := range []float64{0.9, 1.1} {
			wrong := make([]int64, len(draws))
			for i, d := range draws {
				wrong[i] = 100 + int64(math.Round(float64(d-100)*factor))
			}
			if fit, err := randtest.GoodnessOfFit(wrong, cdf, 60); err != nil || fit.P > randtest.RejectLevel {
				t.Errorf("%s at %g of its scale was not noticed: %+v, %v", m, factor, fit, err)
			}
		}
	}
}

// Intervals hold the exact answer as often as they say, and what [Query.Accuracy]
// guarantees beforehand holds too.
func TestIntervalsCover(t *testing.T) {
	values := make([]float64, 400)
	for i := range values {
		values[i] = float64(i*i%101) / 101 * 90
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / 400
		square += v * v / 400
	}
	tab := numbers(t, values...)
	const runs, level = 2000, 0.9
	for _, test := range []struct {
		o    Options
		want float64
	}{
		{Options{Kind: Count}, 400},
		{Options{Kind: Sum, Column: "x", Bounds: &Bounds{0, 100}}, 400 * mean},
		{Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 100}}, mean},
		{Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 100}, Noise: Gaussian, Cost: account.Cost{Epsilon: one / 5, Delta: 1e12}}, mean},
		{Options{Kind: Variance, Column: "x", Bounds: &Bounds{0, 100}}, square - mean*mean},
	} {
		test.o.Fields = []table.Field{{Name: "x", Type: table.Decimal}}
		test.o.Level = level
		if test.o.Noise == "" {
			test.o.Cost.Epsilon = one / 5
		}
		q := mustNew(t, test.o)
		accuracy, err := q.Accuracy(level, 400)
		if err != nil || accuracy.HalfWidth == nil {
			t.Fatalf("%s: %+v, %v", test.o.Kind, accuracy, err)
		}
		covered, within := 0, 0
		src := randtest.Source(8)
		for range runs {
			r, err := q.answer(t.Context(), tab, src)
			if err != nil {
				t.Fatal(err)
			}
			// A sum is of rounded values.
			slack := 0.0
			if test.o.Kind == Sum {
				slack = 400 * q.kernel.(*sums).grid.half()
			}
			if float64(r.Interval[0])-slack <= test.want && test.want <= float64(r.Interval[1])+slack {
				covered++
			}
			if r.Value != nil && math.Abs(float64(*r.Value)-test.want) <= *accuracy.HalfWidth+slack {
				within++
			}
		}
		// Five deviations below.
		least := int(runs*level - 5*math.Sqrt(runs*level*(1-level)))
		if covered < least || within < least {
			t.Errorf("%s %s: %d of %d intervals hold the answer, %d of the answers keep the accuracy", test.o.Kind, test.o.Noise, covered, runs,
				within)
		}
		if test.o.Kind == Count && covered > runs*95/100 {
			t.Errorf("count: intervals are too wide: %d of %d", covered, runs)
		}
	}
}
