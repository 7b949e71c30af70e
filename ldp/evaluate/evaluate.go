// Package evaluate measures classifiers on locally randomised records. It trains a
// linear support vector machine and a random forest on raw, generalised and
// randomised records and tests them on each, over mechanisms and epsilons.
//
//	r, err := evaluate.Run(ctx, evaluate.Options{Label: diagnosis, Attributes: attributes})
//	for _, c := range r.Cells {
//		fmt.Println(c.Model, c.Train, c.Test, c.Mechanism, c.Epsilon, c.Accuracy.Mean)
//	}
//
// Numbers are put into a few bins, categories are taken as they are, a missing
// value is a label of its own. Generalised records are the bins' midpoints;
// randomised ones are what comes back from the reports of one person each, every
// attribute randomised by itself, decoded to labels and those to midpoints.
//
// # The guarantee
//
// The figures are what a collector of such reports would get: the mechanisms are
// those of package ldp with their own randomness, and no model has seen the
// records it is tested on, nor with [Options.Unit] another record of the same persons. What is
// chosen for a model (Options.Select) is chosen from the records that it is trained on. The losses
// are the mechanisms' own, added up over the
// attributes of a record.
//
// A [Result] is no release. It holds statistics of the raw table (accuracies of
// models of raw data, classes, what is missing) and is for its steward. Result.NotProtected
// names what a real collection would take from public knowledge and this one takes from
// the table.
//
// The protocol is that of Nagao et al. (docs/local-privacy.md, section 6), for any table.
package evaluate

import (
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/table"
)

// Attribute is a column to learn from.
type Attribute struct {
	// Column holds the n records' values. Required.
	Column *table.Column
	// Bounds are the public ends of a number: its bins are then of one width
	// between them. Bins of a number without are fitted on the data.
	Bounds *[2]float64
	// Keys are the public values of a category; others count as missing. A
	// category without takes the values that occur.
	Keys []string
}

// Options are those of [Run].
type Options struct {
	// Attributes to learn from, each n records. Required.
	Attributes []Attribute
	// Label is the class of each record, a category. Required. Records without one are
	// left out.
	Label *table.Column
	// Bins of a number. Defaults to 5.
	Bins int
	// EqualWidth fits bins of one width, instead of bins that hold equally many.
	EqualWidth bool
	// Mechanisms are grr, oue and sue (which is Basic One-time RAPPOR). Defaults to
	// grr and sue.
	Mechanisms []string
	// Epsilons of one attribute, or with PerRecord of all together, each then
	// having an equal share. Defaults to 0.5, 1, 2, 3, 4 and 6.
	Epsilons  []float64
	PerRecord bool
	// RandomiseLabel randomises the class of training records too, by GRR at the
	// epsilon of an attribute. Tests are always against the true class.
	RandomiseLabel bool
	// Select keeps as many attributes for each model, those that go most strongly with the
	// class by their covariance. They are chosen anew in each fold, from the records that
	// the model is trained on: randomised ones for a model of randomised records.
	// Defaults to all.
	Select int
	// Unit holds the person of each record, as a text: all records of a person are in one
	// part of the cross-validation. A record without one is a person's of its own.
	// Optional: without it each record is a person's of its own.
	Unit *table.Column
	// MaxCategories: a category with more values is left out. Defaults to 64.
	MaxCategories int
	// Sample is the largest number of records used, drawn by Seed. Defaults to
	// 5,000; negative means all.
	Sample int
	// Folds defaults to 10, Repeats (each with fresh folds and fresh noise) to 3.
	Folds, Repeats int
	// Seed of the sample, folds and forests. Noise has no seed.
	Seed uint64
	// Models are svm and forest. Defaults to both.
	Models []string
	// SVM and Forest say how they are trained. Forest defaults to 20 trees of
	// depth 5.
	SVM    learn.SVM
	Forest learn.Forest
	// Workers train side by side. Defaults to one a processor.
	Workers  int
	Progress noren.Progress
}

// Kinds of records that a model is trained and tested on.
const (
	Raw         = "raw"
	Generalised = "generalised"
	Randomised  = "randomised"
)

// Mechanisms whose reports can be decoded to one label.
func Mechanisms() []string { return []string{"grr", "oue", "sue"} }

// maxClasses bounds what can be a class.
const maxClasses = 100

// withDefaults fills in and lists all faults at once.
func (o Options) withDefaults() (Options, error) {
	set := func(v *int, standard int) {
		if *v == 0 {
			*v = standard
		}
	}
	set(&o.Bins, 5)
	set(&o.MaxCategories, 64)
	set(&o.Sample, 5000)
	set(&o.Folds, 10)
	set(&o.Repeats, 3)
	set(&o.Workers, runtime.GOMAXPROCS(0))
	if o.Forest == (learn.Forest{}) {
		o.Forest = learn.Forest{Trees: 20, Depth: 5}
	}
	if len(o.Mechanisms) == 0 {
		o.Mechanisms = []string{"grr", "sue"}
	}
	if len(o.Epsilons) == 0 {
		o.Epsilons = []float64{0.5, 1, 2, 3, 4, 6}
	}
	if len(o.Models) == 0 {
		o.Models = []string{"svm", "forest"}
	}
	return o, o.check()
}

func (o *Options) check() error {
	var faults noren.Texts
	fault := func(bad bool, format noren.Format, args ...any) {
		if bad {
			faults = append(faults, noren.Textf(format, args...))
		}
	}
	fault(len(o.Attributes) == 0, "there is no attribute to learn from")
	fault(o.Label == nil || o.Label.Field.Type != table.Category, "the class must be a category")
	fault(o.Bins < 2 || o.Bins > 1024, "bins must be between 2 and 1,024")
	fault(o.MaxCategories < 2 || o.MaxCategories > 1<<14, "categories must be between 2 and 16,384")
	fault(o.Folds < 2, "folds must be 2 or more")
	fault(o.Repeats < 1 || o.Workers < 1 || o.Select < 0, "repeats and workers must be 1 or more, and the attributes to keep not negative")
	for _, m := range o.Mechanisms {
		fault(!slices.Contains(Mechanisms(), m), "mechanisms are %s", strings.Join(Mechanisms(), ", "))
	}
	for _, m := range o.Models {
		fault(m != "svm" && m != "forest", "models are svm and forest")
	}
	for i, e := range o.Epsilons {
		fault(math.IsNaN(e) || e < ldp.MinEpsilon || !o.PerRecord && e > ldp.MaxEpsilon || math.IsInf(e, 0),
			"an epsilon must lie between %g and %d", ldp.MinEpsilon, ldp.MaxEpsilon)
		fault(slices.Contains(o.Epsilons[:i], e), "epsilon %g is named twice", e)
	}
	fault(o.Unit != nil && o.Unit.Field.Type != table.Category, "the unit must be a category")
	fault(o.Unit != nil && o.Label != nil && o.Unit.Len() != o.Label.Len(), "the unit has another number of records than the class")
	for _, a := range o.Attributes {
		if b := a.Bounds; b != nil {
			fault(!(b[0] < b[1]) || math.IsInf(b[0], 0) || math.IsInf(b[1], 0), "the bounds of %s must be finite and ascend", a.Column.Field.Name)
			fault(!a.Column.Field.Type.IsNumber(), "bounds go with numbers, and %s is none", a.Column.Field.Name)
		}
		fault(len(a.Keys) > 0 && a.Column.Field.Type != table.Category, "keys go with categories, and %s is none", a.Column.Field.Name)
		fault(o.Label != nil && a.Column.Len() != o.Label.Len(), "column %s has another number of records than the class", a.Column.Field.Name)
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b noren.Text) int { return strings.Compare(a.String(), b.String()) })
		faults = slices.CompactFunc(faults, func(a, b noren.Text) bool { return a.String() == b.String() })
		return &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{faults}}
	}
	return nil
}
