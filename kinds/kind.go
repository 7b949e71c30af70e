package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// Kind is what a question asks: a struct of this package, which is named after its kind. It is a value:
// a change makes another one. Its fields have the names of the JSON form of a question.
type Kind interface {
	// Facts are those of the kind, the same for all its values.
	Facts() *Facts
	// Said is the question in words, as in "Mean stay_days by ward, where age >= 65".
	Said() lang.Message
	// Rows are the values of an answer. level is the confidence of an interval that the answer has a
	// standard error for.
	Rows(answer json.RawMessage, level float64) ([]AnswerRow, error)
}

// all are the kinds, in the order in which they are offered. Each is the zero value of its struct.
var all = []Kind{Count{}, Sum{}, Mean{}, Variance{}, Histogram{}, Quantile{}, Outliers{}, Correlated{}, Ratio{}}

// All returns the facts of all kinds, in the order in which they are offered.
func All() []*Facts {
	out := make([]*Facts, len(all))
	for i, k := range all {
		out[i] = k.Facts()
	}
	return out
}

// Facts are the public facts about a kind. They hold for every data set.
type Facts struct {
	// Name is the name of the kind in the JSON of a question.
	Name string
	// Text says what the answer is.
	Text noren.Phrase
	// Fields are the fields of a question of the kind, without noise, pay and margin.
	Fields []Field
	// Noises are the mechanisms that a question may name.
	Noises []string
	// Delta are those of Noises that are paid with a delta in a budget of epsilon.
	Delta []string
	// Unit is what the answer is counted in.
	Unit Unit
	// Margin is what a margin bounds.
	Margin Error
	// Size says what the number of records of a group changes.
	Size Size
	// Grouped says that the question can be asked by groups.
	Grouped bool
	// Persons says that the question can be asked where the privacy unit is a person.
	Persons bool
	// Query is the kind of the mechanism in package query; empty for those of other packages.
	Query query.Kind
}

// Unit is what an answer is counted in.
type Unit string

// The units of answers.
const (
	Records     Unit = "records"
	OfColumn    Unit = "column"
	Squared     Unit = "column^2" // the unit of the column, squared
	Share       Unit = "share"    // a share of records or the unit of the column, as the question has it
	Unspecified Unit = ""
)

// Error is what a margin bounds.
type Error string

// The errors of answers.
const (
	OfValue Error = "value"
	OfRank  Error = "rank" // in records
	Unknown Error = "none" // it is not known before the answer: what is paid is chosen
)

// Size says what the number of records of a group changes.
type Size string

// What the number of records of a group changes.
const (
	ChangesPrice    Size = "price"    // of a margin
	ChangesSampling Size = "sampling" // the error of sampling alone
	ChangesNothing  Size = ""
)

// Field is a field of the questions of a kind.
type Field struct {
	// Name is its name in JSON.
	Name string
	// Text says what it is.
	Text noren.Phrase
	// Form is what it holds.
	Form Form
	// Required says that a question lacks something without it.
	Required bool
	// Default is the value that an absent field has; empty where none has a name.
	Default string
	// Filled names the part of a column's definition that is taken where the field is absent: bounds or keys.
	Filled string
	// Columns are the types of columns that the field may name.
	Columns []table.Type
	// Choices are the texts that it may hold; nil for all.
	Choices []string
}

// Form is what a field holds.
type Form string

// The forms of fields.
const (
	AColumn     Form = "column"
	Several     Form = "columns"
	Groups      Form = "groups"    // columns whose values are public
	Condition   Form = "condition" // a text such as age >= 65
	Interval    Form = "bounds"    // the smallest and the largest value
	List        Form = "values"    // texts
	Lists       Form = "lists"     // a list of texts for each column of the groups
	Decimal     Form = "decimal"   // a text
	Whole       Form = "integer"
	Number      Form = "number"
	Numbers     Form = "numbers"
	Choice      Form = "choice"
	PublicTable Form = "public_table"
	Model       Form = "query"       // a query to the records of a model
	Others      Form = "adversaries" // under a model
)

// AnswerRow is one value of an answer.
type AnswerRow struct {
	// Keys are the group, a value for each column, and the bin of a histogram last.
	Keys []string `json:"keys"`
	// Value is the answer; null where there is none.
	Value *query.Number `json:"value"`
	// Text is Value as the column writes it, for dates.
	Text string `json:"text,omitempty"`
	// Low is the lower end of the interval for the value without noise.
	Low *query.Number `json:"low,omitempty"`
	// High is the upper end of the interval for the value without noise.
	High *query.Number `json:"high,omitempty"`
	// Noise is half the width of the interval from Low to High, or the largest error of the
	// rank.
	Noise *float64 `json:"noise,omitempty"`
	// Sampling is half the width of the usual confidence interval for the population of which
	// the table is a sample, at the confidence of the noise.
	Sampling *float64 `json:"sampling,omitempty"`
	// Records is the approximate number of records that the value is computed from, with
	// noise.
	Records *float64 `json:"records,omitempty"`
}

// unreadable is the error about an answer that is not of its kind.
func unreadable(err error) error {
	return &noren.Error{What: "the stored answer cannot be read", Err: err}
}
