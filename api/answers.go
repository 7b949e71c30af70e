package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
)

// AskQuote is what questions would cost, how accurate their answers are expected to be,
// and what would remain, from public facts. Nothing is charged for it and no private file
// is opened.
type AskQuote struct {
	// Schema is noren.ask/1.
	Schema string `json:"schema"`
	// DryRun is always true; an answer has no such field.
	DryRun bool `json:"dry_run"`
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Version is the version of the data set that the quote is for.
	Version int `json:"version"`
	// Definition is the hash of its schema, in hexadecimal.
	Definition string `json:"definition"`
	// Request is the hash of the questions, by which the ledger knows them, in hexadecimal.
	Request string `json:"request"`
	// Accounting is epsilon or zcdp.
	Accounting string `json:"accounting"`
	// Neighbours is the relation of the guarantee: add-remove or replace-one.
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: record, or a column.
	Unit string `json:"unit"`
	// Cost is what all questions together cost.
	Cost Amount `json:"cost"`
	// Fits says that every account covers the cost.
	Fits bool `json:"fits"`
	// Short is what the account that has least left lacks; absent where the cost fits.
	Short *Amount `json:"short,omitempty"`
	// Accounts are the data set's account and, where there is one, the analyst's.
	Accounts []AccountQuote `json:"accounts"`
	// Questions are the questions, each with its price.
	Questions []QuestionQuote `json:"questions"`
	// FitsWith are changes by which the cost would fit; empty where it fits.
	FitsWith []Change `json:"fits_with,omitempty"`
	// Guarantee is the guarantee of all answers together, with its assumptions.
	Guarantee noren.Guarantee `json:"guarantee"`
	// Statement says what one person changes of the answers.
	Statement []Message `json:"statement"`
	// NotCovered says what is not promised.
	NotCovered []Message `json:"not_covered"`
	// Work is what answering takes, by public parameters alone.
	Work Work `json:"work"`
	// Specification is the request as a file for noren ask.
	Specification string `json:"specification"`
}

// AccountQuote is what one account holds before and after a charge.
type AccountQuote struct {
	// Kind is dataset or analyst.
	Kind string `json:"kind"`
	// Name is that of the data set or of the analyst.
	Name string `json:"name"`
	// Left is what the account holds now.
	Left Amount `json:"left"`
	// After is what it would hold after the charge; absent where it does not cover it.
	After *Amount `json:"after,omitempty"`
}

// QuestionQuote is the price of one question.
type QuestionQuote struct {
	// Question is the question with its price: Pay and Noise are set, and Margin is not. Asked
	// so, it costs exactly that.
	Question Question `json:"question"`
	// Asked says the question in words.
	Asked []Message `json:"asked"`
	// Cost is what the question costs.
	Cost Amount `json:"cost"`
	// Accuracy is what the noise is expected to move the answer by.
	Accuracy Promise `json:"accuracy"`
	// Sampling is the error that no price lowers: who happened to be in the table. Absent
	// where nothing can be said from public facts.
	Sampling *Sampling `json:"sampling,omitempty"`
	// Columns are the columns that the question reads, with their bounds.
	Columns []ColumnUse `json:"columns"`
	// Groups is the number of groups; 1 without any.
	Groups int `json:"groups"`
	// Cells is the number of values in the answer: groups, or bins of all groups.
	Cells int `json:"cells"`
	// Composition says how the groups and bins are paid.
	Composition Message `json:"composition"`
	// UnitLabel is the unit of the answer: records, the name of a column, or empty.
	UnitLabel string `json:"unit_label,omitempty"`
}

// Promise is a bound on the error that noise adds, from public facts.
type Promise struct {
	// Within is the largest error of one value with confidence At; null where no bound holds.
	Within *float64 `json:"within"`
	// At is the confidence.
	At string `json:"at"`
	// About is the number of records of a group that Within holds for, and for more; 0 where
	// it does not depend on it.
	About int64 `json:"about,omitempty"`
	// Rank says that Within is about the rank of the value, in records.
	Rank bool `json:"rank,omitempty"`
	// Guess says that Within holds only if the guess of the question is right.
	Guess bool `json:"guess,omitempty"`
	// Simultaneous says that Within holds for all values of the answer at once.
	Simultaneous bool `json:"simultaneous"`
	// AllAt is a confidence with which it holds for all of them at once.
	AllAt float64 `json:"all_at"`
	// Words says all of this.
	Words Message `json:"words"`
}

// Sampling is the error of a figure as an estimate for more people than those in the table.
type Sampling struct {
	// Within is half the width of the usual interval, at the confidence of the noise.
	Within float64 `json:"within"`
	// Basis says from what it was computed.
	Basis Message `json:"basis"`
}

// ColumnUse is a column that a question reads.
type ColumnUse struct {
	// Name is the name of the column.
	Name string `json:"name"`
	// TableBounds are the bounds of the schema.
	TableBounds []string `json:"table_bounds,omitempty"`
	// Used are the bounds of the question.
	Used []string `json:"used,omitempty"`
	// Outside says what becomes of values outside, or of other values.
	Outside Message `json:"outside"`
}

// Change is a change of a request by which it would fit.
type Change struct {
	// Change says it.
	Change Message `json:"change"`
	// Questions are the changed questions, each with its margin or pay.
	Questions []Question `json:"questions"`
	// Cost is what they cost together.
	Cost Amount `json:"cost"`
}

// Answers are the answers to an [AskRequest].
type Answers struct {
	// Schema is noren.ask/1.
	Schema string `json:"schema"`
	// Answers are the answers, in the order of the questions.
	Answers []QuestionAnswer `json:"answers"`
	// Cost is what was charged for all of them.
	Cost Amount `json:"cost"`
	// Statement says what one person changes of the answers.
	Statement []Message `json:"statement"`
	// NotCovered says what is not promised.
	NotCovered []Message `json:"not_covered"`
	Receipt
}

// QuestionAnswer is the answer to one question.
type QuestionAnswer struct {
	// Question is the question with its price.
	Question Question `json:"question"`
	// Asked says the question in words.
	Asked []Message `json:"asked"`
	// Rows are the values of the answer.
	Rows []AnswerRow `json:"rows"`
	// Accuracy is what the noise was expected to move the answer by.
	Accuracy Promise `json:"accuracy"`
	// UnitLabel is the unit of the answer: records, the name of a column, or empty.
	UnitLabel string `json:"unit_label,omitempty"`
	// Notes say which values were counted as others.
	Notes []Message `json:"notes"`
	// ReadWithCare says what to keep in mind about these values.
	ReadWithCare []Message `json:"read_with_care"`
}

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
	// High is its upper end.
	High *query.Number `json:"high,omitempty"`
	// Noise is half the width of that interval, or the largest error of the rank.
	Noise *float64 `json:"noise,omitempty"`
	// Sampling is half the width of the usual interval, at the confidence of the noise, for
	// more people than those in the table.
	Sampling *float64 `json:"sampling,omitempty"`
	// Records is about how many records the value is of, with noise.
	Records *float64 `json:"records,omitempty"`
}

// RehearseRequest asks for a rehearsal of questions on made-up rows.
type RehearseRequest struct {
	AskRequest
	// Seed chooses the made-up rows. Defaults to the hash of the request.
	Seed string `json:"seed,omitempty"`
}

// Rehearsal is what questions answer about made-up rows. No private file is opened: the
// rows are drawn from the schema and the bounds alone.
type Rehearsal struct {
	// Rows is the number of made-up rows, of the question with most.
	Rows int `json:"rows"`
	// Runs is how often each question was answered.
	Runs int `json:"runs"`
	// Questions are the rehearsals of the questions.
	Questions []QuestionRehearsal `json:"questions"`
	// Within is how many values of all runs lay within their margins.
	Within int `json:"within"`
	// Of is the number of values of all runs that have a margin.
	Of int `json:"of"`
}

// QuestionRehearsal is the rehearsal of one question.
type QuestionRehearsal struct {
	// Rows are the values of one run.
	Rows []AnswerRow `json:"rows"`
	// Made is the number of made-up rows of the question.
	Made int `json:"made"`
	// Within is how many values of all runs lay within the margin.
	Within int `json:"within"`
	// Of is the number of values of all runs that have a margin.
	Of int `json:"of"`
}

// Refusal is why a budget does not cover a request.
type Refusal struct {
	// Accounts are the accounts that do not cover it.
	Accounts []AccountShort `json:"accounts"`
}

// AccountShort is an account that does not cover a request.
type AccountShort struct {
	// Kind is dataset or analyst.
	Kind string `json:"kind"`
	// Name is that of the data set or of the analyst.
	Name string `json:"name"`
	// Asked is what the request costs.
	Asked Amount `json:"asked"`
	// Left is what the account holds.
	Left Amount `json:"left"`
	// Short is what it lacks.
	Short Amount `json:"short"`
}
