package ratio

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// CoverageSetting is a pair of populations for the study of coverage: 2,000 private
// records and 400 public ones, whose columns are brought to the range of the public
// records, as noren ratio fit does.
type CoverageSetting struct {
	Name    string
	Centres int // 0: the default
	dim     int
	// draw fills a record (dim numbers, private or public) and returns its y, whose
	// distribution given the record is the same on both sides.
	draw func(rng *rand.Rand, private bool, x []float64) (y float64)
	// words says that the coordinates are words of one category.
	words bool
	// frame is that of the category where histograms are released, as noren ratio fit does
	// by default; else kernels are.
	frame *core.Frame
}

// normals is the setting of d normal columns: public N(0, I), private N(.5, .64 I).
func normals(d int) *CoverageSetting {
	return &CoverageSetting{Name: fmt.Sprintf("normal d=%d", d), dim: d, draw: func(rng *rand.Rand, private bool, x []float64) float64 {
		sum := 0.0
		for j := range x {
			x[j] = rng.NormFloat64()
			if private {
				x[j] = 0.5 + 0.8*x[j]
			}
			sum += x[j]
		}
		return sum/math.Sqrt(float64(d)) + 0.5*rng.NormFloat64()
	}}
}

// categories is the setting of one column of k words.
func categories(k int) *CoverageSetting {
	fixed := rand.New(rand.NewPCG(uint64(k), 7))
	effect, shares := make([]float64, k), [2][]float64{make([]float64, k), make([]float64, k)}
	for side := range shares {
		sum := 0.0
		for j := range k {
			shares[side][j] = math.Exp(0.5 * fixed.NormFloat64())
			sum += shares[side][j]
		}
		for j := range k {
			shares[side][j] /= sum
		}
	}
	for j := range k {
		effect[j] = math.Log(shares[1][j]/shares[0][j]) + 0.5*fixed.NormFloat64()
	}
	return &CoverageSetting{
		Name: fmt.Sprintf("%d categories", k), Centres: min(64, max(12, 2*k)), dim: k, words: true,
		draw: func(rng *rand.Rand, private bool, x []float64) float64 {
			side := 0
			if private {
				side = 1
			}
			u, word := rng.Float64(), k-1
			for j, p := range shares[side] {
				u -= p
				if u < 0 {
					word = j
					break
				}
			}
			clear(x)
			x[word] = 1 / math.Sqrt2
			return effect[word] + 0.5*rng.NormFloat64()
		},
	}
}

// inHistograms is a setting of one column of k words whose histogram is released.
func inHistograms(k int) *CoverageSetting {
	s := categories(k)
	s.Name, s.Centres = s.Name+" by histogram", 0
	a := axis.Axis{Field: table.Field{Name: "word", Type: table.Category}}
	for j := range k {
		a.Categories = append(a.Categories, fmt.Sprint(j))
	}
	s.frame, _ = core.NewFrame([]axis.Axis{a}) // the axis is whole
	return s
}

// studentT2 is a number of Student's distribution with 2 degrees of freedom.
func studentT2(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) }

// line is a setting of one column.
func line(name string, draw func(rng *rand.Rand, private bool) float64) *CoverageSetting {
	return &CoverageSetting{Name: name, dim: 1, draw: func(rng *rand.Rand, private bool, x []float64) float64 {
		x[0] = draw(rng, private)
		return x[0] + 0.5*rng.NormFloat64()
	}}
}

// CoverageSettings are those of docs/density-ratio.md, section 15.
func CoverageSettings() []*CoverageSetting {
	return append([]*CoverageSetting{
		normals(1), normals(2), normals(3), normals(5), normals(8),
		line("two clouds", func(rng *rand.Rand, private bool) float64 {
			switch {
			case !private:
				return 1 + 1.5*rng.NormFloat64()
			case rng.IntN(2) == 0:
				return 0.3 * rng.NormFloat64()
			}
			return 2 + 0.4*rng.NormFloat64()
		}),
		line("t2 tails private", func(rng *rand.Rand, private bool) float64 {
			if private {
				return 0.5 + studentT2(rng)
			}
			return rng.NormFloat64()
		}),
		line("t2 tails both", func(rng *rand.Rand, private bool) float64 {
			if private {
				return 0.5 + 0.8*studentT2(rng)
			}
			return studentT2(rng)
		}),
		line("shifted support", func(rng *rand.Rand, private bool) float64 {
			if private {
				return 0.9 + 0.3*rng.NormFloat64()
			}
			return rng.Float64()
		}),
		line("wider support", func(rng *rand.Rand, private bool) float64 {
			if private {
				return rng.Float64()
			}
			return 0.9 + 0.3*rng.NormFloat64()
		}),
		categories(10), categories(30), categories(60), inHistograms(10), inHistograms(30), inHistograms(60),
		interaction(2), interaction(3),
	}, append(skewed(), product(false), product(true))...)
}

// tables are one repeat of a setting.
type tables struct {
	private, public   *core.Points
	privateY, publicY []float64
	raw               *core.Points // the private records, not clamped
	low, width        []float64
}

func (s *CoverageSetting) tables(seed, repeat uint64, n, big int) *tables {
	rng := rand.New(rand.NewPCG(seed, repeat))
	fill := func(rows int, private bool) (*core.Points, []float64) {
		p, y := axis.NewPoints[float64](rows, s.dim), make([]float64, rows)
		for i := range rows {
			y[i] = s.draw(rng, private, p.Row(i))
		}
		return p, y
	}
	t := &tables{low: make([]float64, s.dim), width: make([]float64, s.dim)}
	t.private, t.privateY = fill(n, true)
	t.public, t.publicY = fill(big, false)
	t.raw = axis.NewPoints[float64](n, s.dim)
	copy(t.raw.Data, t.private.Data)
	for j := range s.dim {
		t.width[j] = 1
		if s.words {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for i := range big {
			low, high = min(low, t.public.Row(i)[j]), max(high, t.public.Row(i)[j])
		}
		t.low[j], t.width[j] = low, high-low
		for i := range big {
			t.public.Row(i)[j] = (t.public.Row(i)[j] - low) / (high - low)
		}
	}
	t.clamp(s)
	return t
}

func (t *tables) clamp(s *CoverageSetting) {
	t.private.Outside = make([]bool, t.private.Rows)
	if s.words {
		t.unseen(s)
		return
	}
	for i := range t.private.Rows {
		for j := range s.dim {
			u := (t.private.Row(i)[j] - t.low[j]) / t.width[j]
			t.private.Outside[i] = t.private.Outside[i] || u < -0.1 || u > 1.1
			t.private.Row(i)[j] = min(max(u, 0), 1)
		}
	}
}

// unseen marks the private records with a word that no public record has.
func (t *tables) unseen(s *CoverageSetting) {
	seen := make([]bool, s.dim)
	for i := range t.public.Rows {
		for j, v := range t.public.Row(i) {
			seen[j] = seen[j] || v > 0
		}
	}
	for i := range t.private.Rows {
		for j, v := range t.private.Row(i) {
			t.private.Outside[i] = t.private.Outside[i] || v > 0 && !seen[j]
		}
	}
}

// Coverage is what one question had in one setting at one epsilon.
type Coverage struct {
	Setting  string  `json:"setting"`
	Question string  `json:"question"`
	Epsilon  float64 `json:"epsilon"`
	Repeats  int     `json:"repeats"`
	Covered  float64 `json:"covered"` // of intervals of 1.96 standard errors
	Warned   float64 `json:"warned"`
	Silent   float64 `json:"silent"` // misses without a warning
	Width    float64 `json:"width"`  // mean half-width
	Bias     float64 `json:"bias"`
	// Unweighted is the mean absolute error of the unweighted answer, Error that of ours.
	Unweighted float64 `json:"unweighted"`
	Error      float64 `json:"error"`
}

// CoverageOptions say what to run.
type CoverageOptions struct {
	Repeats  int
	Epsilons []float64
	Settings []string
	// AddRemove says that the number of private records is not public; a tenth of epsilon
	// is then spent on it.
	AddRemove bool
	Seed      uint64
	Progress  noren.Progress
	// plant spoils the answers, for a test of the test.
	plant func(*core.Answer)
}

type outcome struct {
	covered, warned bool
	half, own, raw  float64
}

// asked is what is asked of a repeat: values of public and of private records.
type asked struct {
	name            string
	public, private []float64
	rank            float64 // of a quantile; 0 for means
}

func (t *tables) questions(s *CoverageSetting) []asked {
	out := []asked{{name: "mean of y", public: t.publicY, private: t.privateY}}
	column := asked{name: "share of y > 1"}
	for _, y := range t.publicY {
		column.public = append(column.public, share(y > 1))
	}
	for _, y := range t.privateY {
		column.private = append(column.private, share(y > 1))
	}
	out = append(out, column)
	if !s.words {
		first := asked{name: "mean of column 1"}
		whole := asked{name: "q90 of integer y", rank: 0.9}
		for i := range t.public.Rows {
			first.public = append(first.public, t.low[0]+t.width[0]*t.public.Row(i)[0])
			whole.public = append(whole.public, math.Round(3*t.publicY[i]))
		}
		for i := range t.raw.Rows {
			first.private = append(first.private, t.raw.Row(i)[0])
			whole.private = append(whole.private, math.Round(3*t.privateY[i]))
		}
		out = append(out, first, whole)
	}
	return out
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// silentRate is the rate of misses without a warning that no setting may have.
const silentRate = 0.07

// SilentP is how likely at least as many silent misses are if their rate is 7 %: the exact
// one-sided test, which rejects a setting below 10^-4.
func (c *Coverage) SilentP() float64 {
	n, k := c.Repeats, int(math.Round(c.Silent*float64(c.Repeats)))
	at := func(i int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		d, _ := math.Lgamma(float64(n - i + 1))
		return math.Exp(a - b - d + float64(i)*math.Log(silentRate) + float64(n-i)*math.Log1p(-silentRate))
	}
	p := 0.0
	for i := k; i <= n; i++ {
		p += at(i)
	}
	return min(1, p)
}

// RunCoverage measures, over repeats with fresh tables and fresh noise, how often the
// intervals of answers hold what the private table would say, and how often an answer that
// they do not hold comes without a warning. Errors: [noren.Usage], or the context's.
func RunCoverage(ctx context.Context, o CoverageOptions) ([]Coverage, error) {
	if o.Repeats < 2 || o.Repeats > 10_000 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "repeats", What: "between 2 and 10,000 repeats are possible"}
	}
	for _, name := range o.Settings {
		if !slices.ContainsFunc(CoverageSettings(), func(s *CoverageSetting) bool { return s.Name == name }) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "settings", What: "there is no such setting of coverage",
				Hint: "normal d=1; two clouds; 10 categories",
			}
		}
	}
	var out []Coverage
	for at, s := range CoverageSettings() {
		if len(o.Settings) > 0 && !slices.Contains(o.Settings, s.Name) {
			continue
		}
		rows, err := s.coverage(ctx, o, uint64(at))
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (s *CoverageSetting) coverage(ctx context.Context, o CoverageOptions, at uint64) ([]Coverage, error) {
	all := make([][][]outcome, o.Repeats) // repeats x epsilons x questions
	var names []string
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(runtime.GOMAXPROCS(0), o.Repeats) {
		wg.Go(func() {
			for {
				repeat := int(next.Add(1)) - 1
				mu.Lock()
				stop := failed != nil
				mu.Unlock()
				if repeat >= o.Repeats || stop || ctx.Err() != nil {
					return
				}
				t := s.tables(o.Seed<<32+at, uint64(repeat), 2000, 400)
				qs := t.questions(s)
				for i, epsilon := range o.Epsilons {
					got, err := s.answers(ctx, t, qs, o, epsilon, o.Seed<<40+at<<32+uint64(repeat)<<8+uint64(i))
					if err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
						return
					}
					all[repeat] = append(all[repeat], got)
				}
				mu.Lock()
				if names == nil {
					for _, q := range qs {
						names = append(names, q.name)
					}
				}
				o.Progress.Report("coverage, "+s.Name, done.Add(1), int64(o.Repeats))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rows []Coverage
	for i, epsilon := range o.Epsilons {
		for j, name := range names {
			c := Coverage{Setting: s.Name, Question: name, Epsilon: epsilon, Repeats: o.Repeats}
			for _, r := range all {
				v := r[i][j]
				n := float64(o.Repeats)
				c.Covered += share(v.covered) / n
				c.Warned += share(v.warned) / n
				c.Silent += share(!v.covered && !v.warned) / n
				c.Width += v.half / n
				c.Bias += v.own / n
				c.Error += math.Abs(v.own) / n
				c.Unweighted += math.Abs(v.raw) / n
			}
			rows = append(rows, c)
		}
	}
	return rows, nil
}

func (s *CoverageSetting) answers(ctx context.Context, t *tables, qs []asked, o CoverageOptions, epsilon float64, seed uint64) ([]outcome,
	error,
) {
	p := core.Options{Public: t.public, Centres: s.Centres, Neighbours: account.ReplaceOne, Records: t.private.Rows}
	if s.frame != nil {
		p.Frame, p.Features = s.frame, core.MarginalFeatures
	}
	if o.AddRemove {
		p.Neighbours, p.Records, p.CountShare = account.AddRemove, 0, 0.1
	}
	p.OutsideShare = 0.1
	p.Cost.Epsilon = int64(math.Round(epsilon * account.EpsilonUnits))
	m, err := core.New(ctx, p)
	if err != nil {
		return nil, err
	}
	r, err := m.Release(ctx, t.private, entropy.Seeded(seed))
	if err != nil {
		return nil, err
	}
	w, err := m.Weights(ctx, r)
	if err != nil {
		return nil, err
	}
	var out []outcome
	for _, q := range qs {
		var a *core.Answer
		truth, plain := meanOf(q.private), meanOf(q.public)
		if q.rank > 0 {
			a, err = w.Quantile(q.public, q.rank)
			truth, plain = quantileOf(q.private, q.rank), quantileOf(q.public, q.rank)
		} else {
			a, err = w.Mean(q.public)
		}
		if err != nil {
			return nil, err
		}
		if o.plant != nil {
			o.plant(a)
		}
		half := 1.96 * a.SE
		d := a.Value - truth
		out = append(out, outcome{covered: math.Abs(d) <= half, warned: len(a.Warnings) > 0, half: half, own: d, raw: plain - truth})
	}
	return out, nil
}

func quantileOf(v []float64, p float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[max(0, int(math.Ceil(p*float64(len(s))))-1)]
}
