package evaluate

import (
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// Schema names the form of a Result in JSON.
const Schema = "noren.ldp.evaluate/1"

// Result holds the accuracy of all models, and statistics of the raw table.
type Result struct {
	// Schema is the form, noren.ldp.evaluate/1.
	Schema string `json:"schema"`
	// Label is the column that the models predict.
	Label string `json:"label"`
	// Classes are the values of the label, in byte order.
	Classes []Class `json:"classes"`
	// Records is the number of records that were learned from.
	Records int `json:"records"`
	// WithClass is the number of records with a class.
	WithClass int `json:"records_with_class"`
	// NoClass is the number of records without a class, which are left out.
	NoClass int `json:"records_without_class"`
	// Sampled is true if the records were drawn as a sample from those with a class.
	Sampled bool `json:"sampled"`
	// Attributes are the attributes that were learned from.
	Attributes []AttributeInfo `json:"attributes"`
	// Left are the columns that were not learned from.
	Left []LeftOut `json:"left_out"`
	// Selected is how many attributes each model keeps, chosen from the records that it is
	// trained on; absent where all are kept. All attributes are randomised and reported.
	Selected int `json:"selected,omitempty"`
	// Unit is the column of the persons: all records of a person are in one part of the
	// cross-validation. Absent where each record is a person's.
	Unit string `json:"unit,omitempty"`
	// Persons is the number of persons; absent without a unit.
	Persons int `json:"persons,omitempty"`
	// MostOfPerson is the largest number of records of one person; absent without a unit.
	MostOfPerson int `json:"most_records_of_a_person,omitempty"`
	// Folds is the number of parts of the cross-validation.
	Folds int `json:"folds"`
	// Repeats is the number of repeats of the cross-validation.
	Repeats int `json:"repeats"`
	// Seed of the sample, folds and forests.
	Seed uint64 `json:"seed"`
	// PerRecord is true if the epsilons were for a whole record, divided over its attributes.
	PerRecord bool `json:"epsilon_divided"`
	// LabelRandomised is true if the class of training records was randomised too.
	LabelRandomised bool `json:"label_randomised"`
	// Models are the models that were trained.
	Models []Model `json:"models"`
	// Majority is the accuracy of always answering the largest class.
	Majority float64 `json:"majority"`
	// Cells are the accuracies, one element per model, kind of records and mechanism.
	Cells []Cell `json:"cells"`
	// Guarantee is what the privacy losses cover, in sentences.
	Guarantee noren.Texts `json:"guarantee"`
	// NotProtected is what the privacy losses do not cover, in sentences.
	NotProtected noren.Texts `json:"not_protected"`
}

// Class is a value of the label.
type Class struct {
	// Name is the value.
	Name string `json:"name"`
	// Records is the number of records of the class.
	Records int `json:"records"`
}

// Model is a learner with its parameters.
type Model struct {
	// Name of the learner: svm or forest.
	Name string `json:"name"`
	// Title is the name for people, with the parameters.
	Title string `json:"title"`
}

// AttributeInfo describes how an attribute was coded.
type AttributeInfo struct {
	// Name of the column.
	Name string `json:"name"`
	// Type of the column.
	Type string `json:"type"`
	// Labels is the number of labels, including the label for missing values.
	Labels int `json:"labels"`
	// Missing is the number of records without a value, which have a label of their own.
	Missing int `json:"missing"`
	// Origin of bins or categories: public or fitted.
	Origin string `json:"origin"`
	// Chosen is the share of the folds in which a model of raw records kept the attribute;
	// absent where all are kept.
	Chosen *float64 `json:"chosen,omitempty"`
}

// LeftOut is a column that was not learned from.
type LeftOut struct {
	// Name of the column.
	Name string `json:"name"`
	// Reason is the reason why the column was left out.
	Reason noren.Text `json:"reason"`
}

// Cell is one model, trained on one kind of records and tested on another.
type Cell struct {
	// Model is the name of the model.
	Model string `json:"model"`
	// Train is the kind of records that the model was trained on: raw, generalised or
	// randomised.
	Train string `json:"train"`
	// Test is the kind of records that the model was tested on.
	Test string `json:"test"`
	// Mechanism of the randomised records; absent without any.
	Mechanism string `json:"mechanism,omitempty"`
	// Epsilon of one attribute of the randomised records; absent without any.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Loss is the privacy loss of a person whose record is randomised in this way: for one
	// report of an attribute, of a record, and for all reports.
	Loss *ldp.Loss `json:"loss,omitempty"`
	// Accuracy is the share of right answers.
	Accuracy Spread `json:"accuracy"`
	// Balanced is the mean over classes of the share of right answers.
	Balanced Spread `json:"balanced_accuracy"`
}

// Spread summarises a share over repeats.
type Spread struct {
	// Mean over the repeats.
	Mean float64 `json:"mean"`
	// SD is the standard deviation over the repeats; null for one repeat.
	SD *float64 `json:"sd"`
	// Min is the smallest share.
	Min float64 `json:"min"`
	// Max is the largest share.
	Max float64 `json:"max"`
}

// newSpread summarises the repeats.
func newSpread(v []float64) Spread {
	s := Spread{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, x := range v {
		s.Mean += x / float64(len(v))
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	}
	if len(v) > 1 {
		sum := 0.0
		for _, x := range v {
			sum += (x - s.Mean) * (x - s.Mean)
		}
		sd := math.Sqrt(sum / float64(len(v)-1))
		s.SD = &sd
	}
	return s
}

// Find returns the cell of a model, or nil.
func (r *Result) Find(model, train, test, mechanism string, epsilon float64) *Cell {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Model == model && c.Train == train && c.Test == test && c.Mechanism == mechanism && c.Epsilon == epsilon {
			return c
		}
	}
	return nil
}

// state says what is guaranteed and what is not.
func (r *Result) state(o *Options) {
	d := len(r.Attributes)
	what := noren.Textf("%d {attribute|attributes}", d)
	if o.RandomiseLabel {
		what = noren.Textf("%d {attribute|attributes} and the class", d)
	}
	r.Guarantee = noren.Texts{
		noren.Textf("epsilon per report is of one attribute, epsilon per record of one report of %s together, against an adversary who sees "+
			"all reports of a person, as the collector does", what),
		noren.Textf("over a lifetime: a device that draws afresh for every report loses the record's epsilon again each time; one that keeps " +
			"its answers and repeats them (One-time RAPPOR) loses it once, as long as no value changes"),
		noren.Textf("the loss is of the reports as sent; a label decoded from the bits of sue or oue tells less than the bits"),
	}
	not := func(format noren.Format, args ...any) {
		r.NotProtected = append(r.NotProtected, noren.Textf(format, args...))
	}
	if !o.RandomiseLabel {
		not("the class %s, which is not randomised", r.Label)
	} else {
		not("the class %s of those on whom a model is tried: it is compared with the true one", r.Label)
	}
	var fitted, gaps []string
	for _, a := range r.Attributes {
		if a.Origin == ldp.Fitted.String() {
			fitted = append(fitted, a.Name)
		}
		if a.Missing > 0 {
			gaps = append(gaps, a.Name)
		}
	}
	if len(fitted) > 0 {
		not("bins and categories fitted on the raw data, of %s: in a collection they must be public or paid for", list(fitted))
	}
	not("the mean and deviation that numbers are scaled by, taken from the raw data")
	if len(gaps) > 0 {
		not("that values of %s can be missing (that a given one is missing is randomised like any label)", list(gaps))
	}
	if r.MostOfPerson > 1 {
		not("a person by the epsilon of one record: that of a person with n records is n times as large, and a person has up to %d",
			r.MostOfPerson)
	}
	not("who reports, and when")
	not("anything, by this output: it holds figures of the raw table and is for its steward")
}

// list joins names, the first few of many.
func list(names []string) noren.Text {
	if len(names) > 6 {
		return noren.Textf("%s and %d other {attribute|attributes}", strings.Join(names[:6], ", "), len(names)-6)
	}
	return noren.Textf("%s", strings.Join(names, ", "))
}
