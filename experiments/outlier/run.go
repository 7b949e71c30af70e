package outlier

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/outlier/paper"
)

// Options say what to reproduce.
type Options struct {
	// Dir is the folder of the reference data sets. Required, unless Datasets
	// is empty and not nil.
	Dir string
	// Public is asked before a file is read; an error refuses the file, such as one that a
	// ledger has granted. Optional.
	Public func(ctx context.Context, path string) error
	// Datasets are names of [Names]. Defaults to all.
	Datasets []string
	// Progress is called as the work advances. Optional.
	Progress noren.Progress
}

// Result is everything that [Run] makes.
type Result struct {
	Accuracy        []AccuracyRow    `json:"accuracy"`
	Curves          []*Curve         `json:"curves"`
	Noise           []NoiseRow       `json:"noise"`
	Counterexamples []Counterexample `json:"counterexamples"`
	NotSmooth       *Unsmooth        `json:"not_smooth"`
	Failure         *Failure         `json:"failure"`
	Scalings        []ScalingRow     `json:"scalings"`
	Timings         []TimingRow      `json:"timings"`
	// Verdict says in sentences what came out.
	Verdict []string `json:"verdict"`
}

// Run reproduces the paper's experiment on its data sets, in a few seconds.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Datasets == nil {
		o.Datasets = Names()
	}
	r := &Result{}
	for i, name := range o.Datasets {
		o.Progress.Report("data sets", int64(i), int64(len(o.Datasets)))
		if o.Public != nil {
			if err := o.Public(ctx, filepath.Join(o.Dir, sources[name].file)); err != nil {
				return nil, err
			}
		}
		if err := r.dataset(ctx, o.Dir, name); err != nil {
			return nil, err
		}
	}
	o.Progress.Report("counterexamples", 0, 0)
	var err error
	if r.Counterexamples, err = Counterexamples(ctx); err != nil {
		return nil, err
	}
	if r.NotSmooth, err = NotSmooth(ctx); err != nil {
		return nil, err
	}
	if r.Failure, err = FailingPair(ctx); err != nil {
		return nil, err
	}
	r.Verdict = append(r.Verdict, scalingVerdict(r.Scalings)...)
	r.Verdict = append(r.Verdict, r.bounds()...)
	return r, nil
}

// dataset adds one set's rows and what they say.
func (r *Result) dataset(ctx context.Context, dir, name string) error {
	s, err := Load(ctx, dir, name)
	if err != nil {
		return err
	}
	accuracy := Accuracies(s, K)
	curve, err := Sensitivity(ctx, s, s.Radius)
	if err != nil {
		return err
	}
	var noise []NoiseRow
	for _, e := range Epsilons {
		rows, err := Noises(curve, e)
		if err != nil {
			return err
		}
		noise = append(noise, rows...)
	}
	timings, err := Timings(ctx, s)
	if err != nil {
		return err
	}
	r.Scalings = append(r.Scalings, Scalings(s)...)
	r.Timings = append(r.Timings, timings...)
	r.Accuracy = append(r.Accuracy, accuracy...)
	r.Curves = append(r.Curves, curve)
	r.Noise = append(r.Noise, noise...)
	r.Verdict = append(r.Verdict, reading(s, accuracy, noise)...)
	r.Verdict = append(r.Verdict, timingVerdict(s, timings)...)
	return nil
}

// find returns the row of a mechanism.
func find(rows []NoiseRow, epsilon, delta float64, mechanism string) NoiseRow {
	for _, n := range rows {
		if n.Epsilon == epsilon && n.Mechanism == mechanism && (n.Delta == delta || n.Delta == 0) {
			return n
		}
	}
	return NoiseRow{SD: math.NaN()}
}

// reading says what a set's rows say about the paper's experiment.
func reading(s *Set, accuracy []AccuracyRow, noise []NoiseRow) []string {
	at := At(accuracy, s.PaperRadius)
	best := Best(accuracy)
	first := best[0]
	const epsilon, delta = 0.5, 1e-3
	smooth, global := find(noise, epsilon, delta, PaperSmooth), find(noise, epsilon, delta, PaperGlobal)
	ours := find(noise, epsilon, delta, LomaxDefault)
	return []string{
		fmt.Sprintf("%s: at the paper's r = %g the query calls %d of %d records outliers (accuracy %.1f%%). The best accuracy is %.1f%%, for "+
			"r in [%.2f, %.2f), with %d outliers.",
			s.Name, s.PaperRadius, at.Outliers, s.Len(), 100*at.Accuracy, 100*first.Accuracy, first.From, first.To, first.Outliers),
		fmt.Sprintf("%s: at epsilon = 0.5, delta = 0.001, the paper's smooth Gaussian, even with its own bound, which is not private, has a "+
			"standard deviation of %.0f; its global Gaussian has %.0f. Our default, without a delta, has %.1f, for a count of 10.",
			s.Name, smooth.SD, global.SD, ours.SD),
	}
}

// bounds says why the paper's figures 4 and 5 cannot be right, and that its bound
// is none.
func (r *Result) bounds() []string {
	f := r.Failure
	lowest := 1 / paper.Alpha(0.2, 0.1)
	return []string{
		fmt.Sprintf("Figures 4 and 5 show little noise at epsilon = 0.2 and 0.3. By the paper's own equation (9) the standard deviation is "+
			"S/alpha, and S is at least 1: at epsilon = 0.2 and a delta as large as 0.1 that is %.0f, %.0f times the count of 10, whatever the "+
			"data. The figures cannot have been made so.", lowest, math.Round(lowest/10)),
		fmt.Sprintf("The paper's bound is no bound: three records on a line, k = 1, change the query by %d, and it says %d. It is not smooth "+
			"either: S differs by a factor of %.3f between neighbours where e^beta = %.3f is allowed.",
			r.Counterexamples[0].Sensitivity, r.Counterexamples[0].Paper, r.NotSmooth.Paper, r.NotSmooth.Allowed),
		fmt.Sprintf("So its mechanism is not private: on a pair of neighbours with n = %d in %d dimensions, epsilon = %g, delta = %g, its S "+
			"are %.2f and %.2f, and the event that the answer is more than %.0f from 0 has probabilities of %.4f and %.4f: an excess of %.3f "+
			"over e^epsilon times the other, where delta allows %g. The corrected S are %.2f and %.2f.",
			f.N, f.D, f.Epsilon, f.Delta, f.PaperS, f.PaperSp, f.Threshold, f.P, f.Pp, f.Excess, f.Delta, f.OursS, f.OursSp),
	}
}
