package evaluate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/noise"
)

// repeat makes one cross-validation of everything: models of raw and of
// generalised records first, which are then tried on every variant.
func (e *evaluation) repeat(ctx context.Context, repeat int) error {
	seed := e.o.Seed<<20 ^ uint64(repeat)
	folds, err := e.folds(seed)
	if err != nil {
		return err
	}
	// Answers are by model, for all records: every one is tried once.
	fromRaw := e.grid(len(folds))
	tests := []test{{Raw, e.raw}, {Generalised, e.gen}}
	for _, t := range []struct {
		name string
		x    *learn.Matrix
		keep [][]learn.Classifier
	}{{Raw, e.raw, fromRaw}, {Generalised, e.gen, nil}} {
		j := job{e: e, folds: folds, seed: seed, x: t.x, y: e.y, tests: tests, keep: t.keep, train: t.name, variant: -1}
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	src := noise.NewSource()
	for v := range e.variants {
		x, y, err := e.randomised(ctx, src, &e.variants[v])
		if err != nil {
			return err
		}
		j := job{
			e: e, folds: folds, seed: seed, x: x, y: y, train: Randomised, variant: v, tests: append(tests, test{Randomised, x}),
			raw: fromRaw,
		}
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// grid is a classifier each model and fold.
func (e *evaluation) grid(folds int) [][]learn.Classifier {
	g := make([][]learn.Classifier, len(e.models))
	for m := range g {
		g[m] = make([]learn.Classifier, folds)
	}
	return g
}

// test is records to be tried on.
type test struct {
	name string
	x    *learn.Matrix
}

// job trains every model on one kind of records in every fold, and tries it on
// some.
type job struct {
	e       *evaluation
	folds   []learn.Fold
	seed    uint64
	train   string
	x       *learn.Matrix
	y       []int // what is trained by
	tests   []test
	variant int
	keep    [][]learn.Classifier // where models are kept, nil otherwise
	raw     [][]learn.Classifier // models of raw data, to be tried on the last test
}

// run does all models and folds by parallel workers, and counts answers.
func (j *job) run(ctx context.Context) error {
	e := j.e
	n := len(e.y)
	columns := len(j.tests)
	if j.raw != nil {
		columns++
	}
	answers := make([][][]int, len(e.models))
	for m := range answers {
		answers[m] = make([][]int, columns)
		for t := range answers[m] {
			answers[m][t] = make([]int, n)
		}
	}
	units := len(e.models) * len(j.folds)
	total := int64(e.o.Repeats) * int64(2+len(e.variants)) * int64(units)
	errs := make([]error, min(e.o.Workers, units))
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for !failed.Load() {
				unit := int(next.Add(1) - 1)
				if unit >= units {
					return
				}
				errs[w] = j.fold(ctx, unit%len(e.models), unit/len(e.models), answers)
				if errs[w] != nil {
					failed.Store(true)
					return
				}
				e.told.Lock()
				e.o.Progress.Report("learning", e.done.Add(1), total)
				e.told.Unlock()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for m := range e.models {
		for t := range answers[m] {
			p := place{e.models[m].name, j.train, "", -1}
			if t < len(j.tests) {
				p.test = j.tests[t].name
			} else {
				p.train, p.test = Raw, Randomised
			}
			p.variant = j.variant
			accuracy, balanced := e.score(answers[m][t])
			figures := e.rates[p]
			figures[0], figures[1] = append(figures[0], accuracy), append(figures[1], balanced)
			e.rates[p] = figures
		}
	}
	return nil
}

// fold trains one model on one fold and answers its test records.
func (j *job) fold(ctx context.Context, m, k int, answers [][][]int) error {
	f := j.folds[k]
	y := make([]int, len(f.Train))
	for i, r := range f.Train {
		y[i] = j.y[r]
	}
	var c learn.Classifier = always(y[0])
	if slices.ContainsFunc(y, func(class int) bool { return class != y[0] }) {
		x := j.x.Select(f.Train)
		columns, err := j.e.choose(x, y, m == 0 && j.train == Raw)
		if err != nil {
			return err
		}
		if columns != nil {
			x = x.SelectColumns(columns)
		}
		if c, err = j.e.models[m].learner.Train(ctx, x, y, j.seed+uint64(k)<<32); err != nil {
			return err
		}
		if columns != nil {
			c = &chosen{of: c, columns: columns}
		}
	}
	if j.keep != nil {
		j.keep[m][k] = c
	}
	for t, test := range j.tests {
		for _, r := range f.Test {
			answers[m][t][r] = c.Predict(test.x.Row(r))
		}
	}
	if j.raw != nil {
		for _, r := range f.Test {
			answers[m][len(j.tests)][r] = j.raw[m][k].Predict(j.x.Row(r))
		}
	}
	return nil
}

// chosen is a classifier of some columns of a record.
type chosen struct {
	of      learn.Classifier
	columns []int
}

// Predict implements learn.Classifier.
func (c *chosen) Predict(x []float64) int {
	some := make([]float64, len(c.columns))
	for i, column := range c.columns {
		some[i] = x[column]
	}
	return c.of.Predict(some)
}

// always is the answer where a fold's training records are of one class.
type always int

// Predict implements learn.Classifier.
func (a always) Predict([]float64) int { return int(a) }

// score is the share of right answers, and its mean over classes.
func (e *evaluation) score(answers []int) (accuracy, balanced float64) {
	right := make([]int, len(e.r.Classes))
	for i, a := range answers {
		if a == e.y[i] {
			right[a]++
		}
	}
	all := 0
	for c, n := range right {
		all += n
		balanced += float64(n) / float64(e.r.Classes[c].Records) / float64(len(right))
	}
	return float64(all) / float64(len(answers)), balanced
}
