package ratio

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

func milli(epsilon int64) account.Cost {
	return account.Cost{Epsilon: epsilon * account.EpsilonUnits / 1000}
}

// setting one of the paper: E ~ N(1,1), D ~ N(2,1/4).
func settingOne(seed uint64, n, public int) (x, e *Points, truth []float64) {
	x, e = gaussian(seed, n, 1, 2, 0.5), gaussian(seed+1000, public, 1, 1, 1)
	truth = make([]float64, public)
	for i, v := range e.Data {
		truth[i] = 2 * math.Exp((v-1)*(v-1)/2-2*(v-2)*(v-2))
	}
	return x, e, truth
}

func meanSquare(w, truth []float64) float64 {
	s := 0.0
	for i, v := range w {
		s += (v - truth[i]) * (v - truth[i]) / float64(len(w))
	}
	return s
}

// The figures of an independent program at the median distance (docs/density-ratio.md,
// section 12): RKHSPure .302 and Laplace .980 at epsilon .1, .265 and .314 at 1, standard
// errors of 2 to 15%.
func TestErrorOfSettingOne(t *testing.T) {
	randtest.SkipShort(t)
	testErrorOfSettingOne(t, []errorOfOne{{RKHSPure, 100, 0.2, 0.35}})
}

func TestLongErrorOfSettingOne(t *testing.T) {
	randtest.Long(t)
	testErrorOfSettingOne(t, []errorOfOne{{RKHSPure, 1000, 0.2, 0.32}, {Laplace, 1000, 0.2, 0.4}, {Laplace, 100, 0.4, 1.3}})
}

// errorOfOne is between which bounds the mean squared error of weights lies.
type errorOfOne struct {
	noise       Noise
	epsilon     int64 // in thousandths
	least, most float64
}

func testErrorOfSettingOne(t *testing.T, cases []errorOfOne) {
	ctx := context.Background()
	for _, c := range cases {
		sum := 0.0
		const repeats = 60
		for seed := range uint64(repeats) {
			x, e, truth := settingOne(seed, 2000, 50)
			m, err := New(ctx, Options{
				Public: e, Cost: milli(c.epsilon), Neighbours: account.ReplaceOne, Records: 2000, Noise: c.noise,
				Sigmas: []float64{MedianDistance(e)},
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Release(ctx, x, entropy.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			w, err := m.Weights(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			sum += meanSquare(w.W, truth) / repeats
		}
		t.Logf("%s, epsilon %g: %.3f", c.noise, float64(c.epsilon)/1000, sum)
		if sum < c.least || sum > c.most {
			t.Errorf("%s, epsilon %g: mean squared error %.3f", c.noise, float64(c.epsilon)/1000, sum)
		}
	}
}

// The noise has the covariance that its distribution states.
func TestNoiseCovariance(t *testing.T) {
	randtest.SkipShort(t)
	k, err := NewKernel(gaussian(1, 5, 2, 0, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	zero := make([]*big.Int, 5)
	for i := range zero {
		zero[i] = new(big.Int)
	}
	for _, c := range []struct {
		noise Noise
		cost  account.Cost
	}{
		{RKHSPure, milli(1000)},
		{RKHSGaussian, account.Cost{Epsilon: account.EpsilonUnits, Delta: account.DeltaUnits / 1_000_000}},
		{Laplace, milli(1000)},
	} {
		dist, err := newDistribution([]*Kernel{k}, c.noise, c.cost, account.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		got := mat.NewSymDense(5, nil)
		src := entropy.Seeded(9)
		const draws = 40_000
		for range draws {
			z, err := dist.draw(src, []*Kernel{k}, [][]*big.Int{zero})
			if err != nil {
				t.Fatal(err)
			}
			got.SymRankOne(got, 1.0/draws, mat.NewVecDense(5, z[0]))
		}
		want := dist.Covariance(k)
		for i := range 5 {
			for j := range 5 {
				scale := math.Sqrt(want.At(i, i) * want.At(j, j))
				if d := math.Abs(got.At(i, j)-want.At(i, j)) / scale; d > 0.05 {
					t.Errorf("%s: covariance %d,%d is %g, want %g", c.noise, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
		if c.noise == RKHSPure { // Cov = K (b+1) 2/eps^2
			near(t, "variance", want.At(0, 0), 12, 1e-6)
		}
	}
}

// Fixtures of the multiplier of Balle and Wang, and of amplification.
func TestMultipliers(t *testing.T) {
	g := readGolden(t)
	k, err := NewKernel(gaussian(1, 3, 1, 0, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Gauss {
		cost := account.Cost{Epsilon: int64(math.Round(c.Epsilon * 1e9)), Delta: int64(math.Round(c.Delta * 1e18))}
		dist, err := newDistribution([]*Kernel{k}, RKHSGaussian, cost, account.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "multiplier", dist.Scale, c.Sigma, 1e-6)
		if dist.Scale < c.Sigma*(1-1e-10) {
			t.Errorf("multiplier %g is below %g", dist.Scale, c.Sigma)
		}
	}
	for _, c := range g.Amplification {
		near(t, "amplification", amplified(c.Epsilon, c.B, c.N), c.Inner, 1e-12)
	}
}

// The sums do not depend on the order of the records, nor on how they are cut.
func TestOrderInvariance(t *testing.T) {
	ctx := context.Background()
	x := gaussian(1, 5000, 3, 0, 1)
	k, err := NewKernel(gaussian(2, 10, 3, 0, 1), 0.7)
	if err != nil {
		t.Fatal(err)
	}
	want, err := k.Sum(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	y := axis.NewPoints[float64](x.Rows, x.Dim)
	for i, j := range rand.New(rand.NewPCG(1, 1)).Perm(x.Rows) {
		copy(y.Row(i), x.Row(j))
	}
	got, err := k.Sum(ctx, y)
	if err != nil {
		t.Fatal(err)
	}
	exact := 0.0
	phi := make([]float64, 10)
	for l := range got {
		if got[l].Cmp(want[l]) != 0 {
			t.Errorf("sum %d depends on the order", l)
		}
	}
	for i := range x.Rows {
		k.Phi(phi, x.Row(i))
		exact += phi[0]
	}
	s, _ := new(big.Rat).SetFrac(want[0], big.NewInt(1<<52)).Float64()
	near(t, "sum", s, exact, 1e-12)
}

func TestRefusals(t *testing.T) {
	e := gaussian(1, 20, 2, 0, 1)
	good := Options{Public: e, Cost: milli(1000)}
	for _, c := range []struct {
		name string
		edit func(o *Options)
		says string
	}{
		{"method C", func(o *Options) { o.Noise = SampledCentres }, "published as they are"},
		{"no delta", func(o *Options) { o.Noise = RKHSGaussian }, "delta"},
		{"a delta for nothing", func(o *Options) { o.Cost.Delta = 1000 }, "needs no delta"},
		{"no records", func(o *Options) { o.Neighbours = account.ReplaceOne }, "number of private records"},
		{"no box", func(o *Options) {
			o.Noise, o.Neighbours, o.Records = NoisyCentres, account.ReplaceOne, 100
		}, "public box"},
		{"noisy centres in add-remove", func(o *Options) { o.Noise = NoisyCentres }, "replace-one only"},
		{"bandwidth", func(o *Options) { o.Sigmas = []float64{math.NaN()} }, "bandwidth"},
		{"post", func(o *Options) { o.Post = "x" }, "plain, nnls or clip"},
		{"cost", func(o *Options) { o.Cost = account.Cost{} }, "epsilon"},
		{"share", func(o *Options) { o.CountShare = 0.9 }, "share"},
	} {
		o := good
		c.edit(&o)
		_, err := New(context.Background(), o)
		if noren.KindOf(err) != noren.Usage || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	m, err := New(context.Background(), good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Cost(account.AddRemove, "person"); noren.KindOf(err) != noren.Usage {
		t.Errorf("a unit that is no record: %v", err)
	}
	o := good
	o.Neighbours, o.Records = account.ReplaceOne, 50
	if m, err = New(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Cost(account.AddRemove, account.Record); noren.KindOf(err) != noren.Usage {
		t.Errorf("replace-one in an add-remove budget: %v", err)
	}
	if _, err := m.Release(context.Background(), gaussian(1, 51, 2, 0, 1), entropy.Seeded(1)); noren.KindOf(err) != noren.BadData {
		t.Errorf("another number of records: %v", err)
	}
	if _, err := m.Release(context.Background(), gaussian(1, 50, 2, 0, 1), entropy.FromReader(broke{})); err == nil {
		t.Error("a source that fails gave an answer")
	}
}

type broke struct{}

func (broke) Read([]byte) (int, error) { return 0, errors.New("no randomness") }

// Every mechanism releases, fits and repeats from its payload; the budget of the noisy
// centres adds up.
func TestMechanisms(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	x, e, _ := settingOne(4, 2000, 60)
	for _, n := range []Noise{RKHSPure, RKHSGaussian, Laplace, Parametric, NoisyCentres} {
		for _, relation := range []account.Neighbours{account.ReplaceOne, account.AddRemove} {
			if n == NoisyCentres && relation == account.AddRemove {
				continue
			}
			for _, post := range []Post{Plain, NonNegative, Clip} {
				o := Options{
					Public: e, Cost: milli(5000), Noise: n, Neighbours: relation, Records: 2000, Post: post, Low: []float64{-3},
					High: []float64{5},
				}
				if n == RKHSGaussian {
					o.Cost.Delta = account.DeltaUnits / 1_000_000
				}
				m, err := New(ctx, o)
				if err != nil {
					t.Fatal(err)
				}
				r, err := m.Release(ctx, x, entropy.Seeded(3))
				if err != nil {
					t.Fatal(err)
				}
				payload, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				back, err := m.Decode(payload)
				if err != nil {
					t.Fatal(err)
				}
				w, err := m.Weights(ctx, back)
				if err != nil {
					t.Fatal(err)
				}
				if got := mean(w.W); math.Abs(got-1) > 1e-9 {
					t.Errorf("%s: mean weight %g", n, got)
				}
				if post != Clip && relation == account.AddRemove && math.Abs(w.Meta.Records/2000-1) > 0.5 {
					t.Errorf("%s %s: %g records were estimated of 2000", n, post, w.Meta.Records)
				}
				text, err := w.Meta.Encode()
				if err != nil {
					t.Fatal(err)
				}
				meta, err := DecodeMeta(text)
				if err != nil {
					t.Fatal(err)
				}
				again, err := Open(ctx, meta, e)
				if err != nil {
					t.Fatal(err)
				}
				if err := again.Same(w.W); err != nil {
					t.Errorf("%s %s: %v", n, post, err)
				}
				again.W[3] += 0.1
				if err := again.Same(w.W); noren.KindOf(err) != noren.BadData {
					t.Errorf("%s: a weight that was changed passes", n)
				}
			}
		}
	}
	m, err := New(ctx, Options{
		Public: e, Cost: milli(1001), Noise: NoisyCentres, Neighbours: account.ReplaceOne, Records: 2000,
		Low: []float64{-3}, High: []float64{5},
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewKernel(gaussian(1, 12, 1, 0, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	dist, err := m.noisyCentresNoise(k)
	if err != nil {
		t.Fatal(err)
	}
	sums := (12*(1<<30) + 12) / dist.Scale // its epsilon
	centres := math.Log1p(12.0 / 2000 * math.Expm1(m.inner))
	if total := sums + centres; total > 1.001*(1+1e-6) || total < 1.0009 {
		t.Errorf("the parts of epsilon come to %g of 1.001", total)
	}
}

// Twice as many centres as words, between 12 and 64, unless told.
func TestDefaultCentres(t *testing.T) {
	for _, c := range []struct{ words, told, want int }{{0, 0, 12}, {3, 0, 12}, {6, 0, 12}, {7, 0, 14}, {16, 0, 32}, {40, 0, 64}, {16, 5, 5}} {
		axes := []axis.Axis{{Field: table.Field{Name: "x", Type: table.Decimal}, Low: -5, High: 5, Scale: 1}}
		if c.words > 0 {
			a := axis.Axis{Field: table.Field{Name: "c", Type: table.Category}}
			for i := range c.words {
				a.Categories = append(a.Categories, string(rune('A'+i)))
			}
			axes = append(axes, a)
		}
		f, err := NewFrame(axes)
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(context.Background(), Options{
			Public: gaussian(1, 200, f.Dim(), 0, 1), Frame: f, Cost: milli(1000), Centres: c.told,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.options.Centres; got != c.want {
			t.Errorf("%d words, %d asked for: %d centres, expected %d", c.words, c.told, got, c.want)
		}
	}
}
