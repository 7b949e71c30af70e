// Package ldp reproduces the paper on local differential privacy with data
// generalisation (docs/local-privacy.md, sections 7 and 8): Tables 1-10 and Figures
// 2-6, its values beside ours, on the breast-cancer table.
//
// Everything is seeded and deterministic. Nothing here is private: edges,
// scaler, components and the choice of attributes are fitted on raw data, and the
// diagnosis is not randomised, as in the paper.
package ldp

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
)

// Row is one figure of the paper and ours.
type Row struct {
	// Table is "1" to "10", "figure 2" to "figure 6", or "improvement".
	Table string `json:"table"`
	// Model is svm or forest, empty in Tables 1 and 2.
	Model string `json:"model"`
	// Train and Test are raw, gen (generalised) or ldp data.
	Train string `json:"train"`
	Test  string `json:"test"`
	// Parameters tell the mechanism, and in Table 1 the attribute.
	Parameters Parameters `json:"parameters"`
	// Paper is what the paper prints, nil where it prints nothing or a curve.
	Paper *float64 `json:"paper"`
	// PaperMin and PaperMax are its extremes, where it prints them.
	PaperMin *float64 `json:"paper_min,omitempty"`
	PaperMax *float64 `json:"paper_max,omitempty"`
	// Mean is ours: of accuracies in %, over repeats of the mean over folds. SD is
	// over repeats. Min and Max are over repeats for the SVM and over single folds
	// for the forest, as in the paper.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Loss is what the randomised data cost a person, of all attributes together
	// as Record, nil where nothing was randomised.
	Loss *ldp.Loss `json:"loss,omitempty"`
	// Note names the paper's slip, or what else is to be known.
	Note string `json:"note,omitempty"`
}

// Parameters are what a row was made with.
type Parameters struct {
	Mechanism  string  `json:"mechanism,omitempty"` // basic, one-time or grr
	F          float64 `json:"f,omitempty"`
	P          float64 `json:"p,omitempty"`
	Q          float64 `json:"q,omitempty"`
	Epsilon    float64 `json:"epsilon,omitempty"`        // of one attribute
	Record     float64 `json:"epsilon_record,omitempty"` // of all attributes: the figures' axis
	Attributes string  `json:"attributes,omitempty"`     // all, cov5 or pca5
	Attribute  int     `json:"attribute,omitempty"`      // Table 1, from 1
	Figure     string  `json:"figure,omitempty"`         // Tables 1 and 2: what is given
}

// Options say what to reproduce.
type Options struct {
	// Dir is the folder of wdbc.csv. Required.
	Dir string
	// Public is asked before a file is read; an error refuses the file, such as one that a
	// ledger has granted. Optional.
	Public func(ctx context.Context, path string) error
	// Repeats of each cross-validation. Defaults to 30.
	Repeats int
	// Seed of folds, noise and forests. Every seed gives figures as good.
	Seed uint64
	// Workers defaults to one a processor. The figures do not depend on it.
	Workers int
	// Tables leaves out the figures' curves and the improvement, which take most
	// of the time.
	Tables bool
	// Progress is called as the work advances. Optional.
	Progress noren.Progress
}

// Statement says what the figures guarantee and what they do not.
func Statement() []string {
	return []string{
		"epsilon is stated for one report of one attribute, for one report of all attributes of a record, and for all reports ever made of a " +
			"record that does not change",
		"Table 2 states all three for the paper's settings; a device that draws afresh for every report (GRR, and One-time RAPPOR where its " +
			"answers are not kept) has no bound over a lifetime",
		"not protected: the diagnosis, which is not randomised",
		"not protected: edges, scaler, components and the choice of attributes, which are fitted on raw data as in the paper",
	}
}

// cell is a cross-validation to be made: one training set, some test sets.
type cell struct {
	model int // 0 SVM, 1 forest
	s     *space
	train variant
	tests []variant
	rates [][][]float64 // repeats x tests x folds
}

// variant is raw, generalised or randomised data.
type variant struct {
	name string // raw, gen or ldp
	m    mechanism
	unit uint64 // of the noise: the same unit in one repeat is the same data
}

var (
	raw         = variant{name: "raw"}
	generalised = variant{name: "gen"}
)

// Reproduce makes the rows and calls emit with them in the paper's order.
func Reproduce(ctx context.Context, o Options, emit func(Row) error) error {
	if o.Repeats == 0 {
		o.Repeats = 30
	}
	if o.Repeats < 2 || o.Workers < 0 {
		return &noren.Error{Kind: noren.Usage, Where: "repeats", What: "expected 2 or more, for a standard deviation"}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Public != nil {
		if err := o.Public(ctx, pathIn(o.Dir)); err != nil {
			return err
		}
	}
	t, err := load(o.Dir)
	if err != nil {
		return err
	}
	p := newPlan(t, o)
	if err := p.run(ctx, o.Progress); err != nil {
		return err
	}
	for _, row := range p.rows {
		r, err := row()
		if err != nil {
			return err
		}
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}

// plan is what is to be computed, and the rows that come of it.
type plan struct {
	t     *data
	o     Options
	cells []*cell
	rows  []func() (Row, error)
}

// run makes every repeat of every cell; a free worker takes the next.
func (p *plan) run(ctx context.Context, progress noren.Progress) error {
	folds := make([][]learn.Fold, p.o.Repeats)
	for r := range folds {
		var err error
		if folds[r], err = learn.KFold(len(p.t.y), 10, p.seed(r, 0)); err != nil {
			return err
		}
	}
	for _, c := range p.cells {
		c.rates = make([][][]float64, p.o.Repeats)
	}
	units := p.o.Repeats * len(p.cells)
	errs := make([]error, p.o.Workers)
	var next, done atomic.Int64
	var failed atomic.Bool
	var told sync.Mutex
	var wg sync.WaitGroup
	for w := range p.o.Workers {
		wg.Go(func() {
			for !failed.Load() {
				unit := int(next.Add(1) - 1)
				if unit >= units {
					return
				}
				c, repeat := p.cells[unit%len(p.cells)], unit/len(p.cells)
				errs[w] = c.run(ctx, p, repeat, folds[repeat])
				if errs[w] != nil {
					failed.Store(true)
					return
				}
				if n := done.Add(1); n%16 == 0 {
					told.Lock()
					progress.Report("cross-validating", n, int64(units))
					told.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// seed of a unit of one repeat.
func (p *plan) seed(repeat int, unit uint64) uint64 {
	return p.o.Seed<<40 ^ uint64(repeat)<<20 ^ unit
}

// matrix makes a variant's records.
func (p *plan) matrix(s *space, v variant, repeat int) (*learn.Matrix, error) {
	switch v.name {
	case "raw":
		return s.raw, nil
	case "gen":
		return s.gen, nil
	}
	return s.randomised(v.m, p.seed(repeat, v.unit))
}

// learners of the paper.
var learners = [2]learn.Learner{learn.SVM{C: 1}, learn.Forest{Trees: 20, Depth: 5}}

var modelNames = [2]string{"svm", "forest"}

// run makes one repeat.
func (c *cell) run(ctx context.Context, p *plan, repeat int, folds []learn.Fold) error {
	train, err := p.matrix(c.s, c.train, repeat)
	if err != nil {
		return err
	}
	cv := learn.CV{Folds: folds, Seed: p.seed(repeat, 1)}
	for _, v := range c.tests {
		m := train // the same records where it is the same data
		if v.name != c.train.name || v.unit != c.train.unit {
			if m, err = p.matrix(c.s, v, repeat); err != nil {
				return err
			}
		}
		cv.Tests = append(cv.Tests, m)
	}
	c.rates[repeat], err = learn.CrossValidate(ctx, learners[c.model], train, p.t.y, cv)
	return err
}

// summary fills in the figures of one test set.
func (c *cell) summary(r *Row, test int) {
	r.Min, r.Max = math.Inf(1), math.Inf(-1)
	var means []float64
	for _, repeat := range c.rates {
		mean := 0.0
		for _, v := range repeat[test] {
			mean += 100 * v / float64(len(repeat[test]))
			if c.model == 1 {
				r.Min, r.Max = min(r.Min, 100*v), max(r.Max, 100*v)
			}
		}
		if c.model == 0 {
			r.Min, r.Max = min(r.Min, mean), max(r.Max, mean)
		}
		means = append(means, mean)
		r.Mean += mean / float64(len(c.rates))
	}
	for _, m := range means {
		r.SD += (m - r.Mean) * (m - r.Mean)
	}
	r.SD = math.Sqrt(r.SD / float64(len(means)-1))
}
