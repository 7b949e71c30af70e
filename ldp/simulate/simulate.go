// Package simulate simulates collections of locally private reports. A population
// whose truth is known reports by a mechanism; the result compares estimates with the
// truth, and gives the error over epsilon and over the number of people, for one
// mechanism or several.
//
// The population is made up, or drawn from values that the caller gives. All draws,
// those of the reports too, follow from a seed, so that a run can be repeated: they
// protect nothing. What is simulated on private values is private.
package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// DefaultTrials is how many collections each point of a curve is the mean of, by default.
const DefaultTrials = 20

// Options are those of [Run].
type Options struct {
	// Spec is what is asked. Required.
	Spec survey.Spec
	// N is how many people report. Required, 1 or more.
	N int
	// Values are records to draw people from, the text of one value for each
	// attribute. Defaults to a population that is made up, by Shape.
	Values [][]string
	// Shape of the made-up population: zipf, uniform or geometric for labels and
	// words (default zipf), normal, uniform or bimodal for numbers (default normal).
	Shape string
	// Shares are those of the labels, instead of a shape.
	Shares []float64
	// Words is how many different words people have, for RAPPOR. Defaults to 20.
	Words int
	// Trials is how many simulated collections each point of a curve is the mean of.
	// Defaults to [DefaultTrials].
	Trials int
	// Epsilons and Ns are where the curves are. They default to the halves and
	// doubles around the survey's own.
	Epsilons []float64
	Ns       []int
	// Compare names mechanisms to draw beside the survey's. Defaults to none.
	Compare []string
	// Level of the intervals. Defaults to 0.95.
	Level float64
	// Seed of all draws.
	Seed uint64
	// Workers run points side by side; 0 is one a processor. The result does not
	// depend on it.
	Workers int
	// Progress is called as points are done, where it is not nil.
	Progress noren.Progress
}

// Result holds a simulated collection and the curves of the error.
type Result struct {
	Survey   *survey.Survey
	Sample   *Sample
	Estimate *survey.Estimate
	Error    float64 // of the estimate, as in the curves
	Curves   []Curve
}

// Curve is the error of a mechanism over epsilon or over people.
type Curve struct {
	Mechanism string  `json:"mechanism"`
	Over      string  `json:"over"` // "epsilon" or "n"
	Points    []Point `json:"points"`
}

// Point is the root mean square error over the trials and labels: of a share, of a
// mean in the units of its range, or the Wasserstein distance of a distribution.
// Expected is what the formulas say for a sample of these shares; NaN where there
// is no formula.
type Point struct {
	X        float64
	Error    float64
	Expected float64
}

// Run simulates a collection.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	s, err := survey.New(o.Spec)
	if err != nil {
		return nil, err
	}
	p, err := newPopulation(s, &o)
	if err != nil {
		return nil, err
	}
	sample, err := p.draw(o.N, rand.New(rand.NewPCG(o.Seed, 1)))
	if err != nil {
		return nil, err
	}
	r := &Result{Survey: s, Sample: sample}
	if r.Estimate, err = p.collect(ctx, s, sample, entropy.Seeded(o.Seed), o.Level); err != nil {
		return nil, err
	}
	r.Error = math.Sqrt(sample.squaredError(r.Estimate))
	r.Curves, err = curves(ctx, &o, s, p)
	return r, err
}

func (o *Options) defaults() error {
	if o.N < 1 || o.N > 1<<28 {
		return &noren.Error{Kind: noren.Usage, Where: "n", What: "say how many people report, 1 or more"}
	}
	if o.Trials == 0 {
		o.Trials = DefaultTrials
	}
	if o.Words == 0 {
		o.Words = 20
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Trials < 0 || o.Words < 1 || o.Words > 1<<16 {
		return &noren.Error{Kind: noren.Usage, What: "trials must be 1 or more, words between 1 and 65,536"}
	}
	for _, n := range o.Ns {
		if n < 1 || n > 1<<28 {
			return &noren.Error{Kind: noren.Usage, Where: "ns", What: "numbers of people are 1 or more"}
		}
	}
	if len(o.Ns) == 0 {
		for _, f := range []float64{0.1, 0.3, 1, 3} {
			o.Ns = append(o.Ns, max(10, int(f*float64(o.N))))
		}
		o.Ns = slices.Compact(o.Ns)
	}
	return nil
}

// job is a point of a curve.
type job struct {
	survey *survey.Survey
	n      int
	into   *Point
}

// curves runs all points side by side, each with draws of its own.
func curves(ctx context.Context, o *Options, s *survey.Survey, p *population) ([]Curve, error) {
	base := s.Loss().Record
	if len(o.Epsilons) == 0 {
		for _, f := range []float64{0.25, 0.5, 1, 2, 4} {
			o.Epsilons = append(o.Epsilons, f*base)
		}
	}
	names := []string{s.Mechanism()}
	for _, name := range o.Compare {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out := make([]Curve, 0, 2*len(names))
	var jobs []job
	for _, name := range names {
		over := Curve{Mechanism: name, Over: "epsilon", Points: make([]Point, 0, len(o.Epsilons))}
		for _, e := range o.Epsilons {
			if v, err := at(s, name, e); err == nil { // some mechanisms do not reach every epsilon
				over.Points = append(over.Points, Point{X: e})
				jobs = append(jobs, job{v, o.N, &over.Points[len(over.Points)-1]})
			}
		}
		people := Curve{Mechanism: name, Over: "n", Points: make([]Point, len(o.Ns))}
		v, err := at(s, name, base)
		if err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: name, Err: err}
		}
		for i, n := range o.Ns {
			people.Points[i].X = float64(n)
			jobs = append(jobs, job{v, n, &people.Points[i]})
		}
		out = append(out, over, people)
	}
	return out, run(ctx, o, p, jobs)
}

// run runs the points by some workers. Each has a seed by its place, so that the
// figures do not depend on who runs it.
func run(ctx context.Context, o *Options, p *population, jobs []job) error {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, int64(0)
	errs := make([]error, len(jobs))
	for range min(workers, len(jobs)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(jobs) || ctx.Err() != nil {
					return
				}
				errs[i] = p.point(ctx, o, jobs[i], uint64(i)+2)
				if errs[i] != nil {
					stop()
					return
				}
				mu.Lock()
				done++
				if o.Progress != nil {
					o.Progress("simulating", done, int64(len(jobs)))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return ctx.Err()
}

// point fills in a point of a curve from o.Trials samples.
func (p *population) point(ctx context.Context, o *Options, j job, stream uint64) error {
	mix := rand.New(rand.NewPCG(o.Seed, stream))
	total, expected := 0.0, 0.0
	for range o.Trials {
		sample, err := p.draw(j.n, mix)
		if err != nil {
			return err
		}
		e, err := p.collect(ctx, j.survey, sample, entropy.Seeded(mix.Uint64()), o.Level)
		if err != nil {
			return err
		}
		total += sample.squaredError(e)
		expected += sample.expected(j.survey)
	}
	j.into.Error = math.Sqrt(total / float64(o.Trials))
	j.into.Expected = math.Sqrt(expected / float64(o.Trials))
	return nil
}

// at is the survey by another mechanism or epsilon: a record's for several
// attributes. RAPPOR keeps p and q, and f follows from epsilon; longitudinal
// mechanisms keep the ratio of lifetime to report.
func at(s *survey.Survey, mechanism string, epsilon float64) (*survey.Survey, error) {
	spec := s.Spec()
	loss := s.Loss()
	if epsilon == loss.Record && mechanism == spec.Mechanism {
		return s, nil
	}
	spec.Epsilon = epsilon
	if spec.Mechanism == mechanism {
		if spec.Lifetime != 0 {
			spec.Lifetime = min(epsilon*spec.Lifetime/loss.Record, ldp.MaxEpsilon)
		}
		spec.F = nil
		return survey.New(spec)
	}
	if len(spec.Attributes) > 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "compare", What: "the mechanisms of several attributes are chosen by their domains"}
	}
	spec.Mechanism, spec.Lifetime, spec.F, spec.P, spec.Q = mechanism, 0, nil, nil, nil
	spec.K, spec.H, spec.M = 0, 0, 0
	other, err := survey.New(spec)
	if err == nil && other.Kind() != s.Kind() {
		err = &noren.Error{
			Kind: noren.Usage, Where: "compare", What: "%s estimates something else than %s",
			Args: []any{mechanism, s.Mechanism()},
		}
	}
	return other, err
}
