package api

import (
	"github.com/noren-privacy/noren"
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
	// Definition is the hash of the data set's schema, in hexadecimal.
	Definition string `json:"definition"`
	// Request is the hash of the questions, which identifies them in the ledger, in
	// hexadecimal.
	Request string `json:"request"`
	// Accounting is how losses add up: epsilon or zcdp.
	Accounting string `json:"accounting"`
	// Neighbours is the relation of the guarantee: add-remove or replace-one.
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: record, or a column.
	Unit string `json:"unit"`
	// Cost is the privacy cost of all questions together.
	Cost Amount `json:"cost"`
	// Fits is true if every account covers the cost.
	Fits bool `json:"fits"`
	// Short is the amount that the account with the smallest remaining budget lacks; absent
	// where the cost fits.
	Short *Amount `json:"short,omitempty"`
	// Accounts are the data set's account and, where there is one, the analyst's.
	Accounts []AccountQuote `json:"accounts"`
	// Questions are the questions, each with its privacy cost.
	Questions []QuestionQuote `json:"questions"`
	// FitsWith are changes of the request with which the cost would fit; empty where it fits
	// already.
	FitsWith []Change `json:"fits_with,omitempty"`
	// Guarantee is the guarantee of all answers together, with its assumptions.
	Guarantee noren.Guarantee `json:"guarantee"`
	// Statement is how much the data of one person can change the answers, as sentences.
	Statement []Message `json:"statement"`
	// NotCovered is what the guarantee does not cover, as sentences.
	NotCovered []Message `json:"not_covered"`
	// Work is the size of the computation of the answers, from public parameters alone.
	Work Work `json:"work"`
	// Specification is the request as a file for noren ask, where a command shows it.
	Specification string `json:"specification,omitempty"`
}

// AccountQuote is what one account holds before and after a charge.
type AccountQuote struct {
	// Kind of the account: dataset or analyst.
	Kind string `json:"kind"`
	// Name of the data set or of the analyst.
	Name string `json:"name"`
	// Left is the budget that the account has now.
	Left Amount `json:"left"`
	// After is the budget that would remain after the charge; absent where the account does
	// not cover the charge.
	After *Amount `json:"after,omitempty"`
}

// QuestionQuote is the privacy cost and the expected accuracy of one question.
type QuestionQuote struct {
	// Question is the question with its privacy cost: `pay` and `noise` are set, and `margin`
	// is not. Sent in this form, it costs exactly that.
	Question Question `json:"question"`
	// Asked is the question in words.
	Asked []Message `json:"asked"`
	// Cost is the privacy cost of the question.
	Cost Amount `json:"cost"`
	// Accuracy is the error that is expected from the noise.
	Accuracy Promise `json:"accuracy"`
	// Reach says for which groups the expected accuracy holds, where it depends on their number of
	// records.
	Reach *Message `json:"reach,omitempty"`
	// Warnings say, from public facts, what the answer will probably miss, and whether the time
	// of its reply may depend on the data.
	Warnings []Message `json:"warnings,omitempty"`
	// Sampling is the sampling error of the table, which a higher privacy cost does not lower.
	// Absent where nothing can be said from public facts.
	Sampling *Sampling `json:"sampling,omitempty"`
	// Columns are the columns that the question reads, with their bounds.
	Columns []ColumnUse `json:"columns"`
	// Groups is the number of groups; 1 without any.
	Groups int `json:"groups"`
	// Cells is the number of values in the answer: groups, or bins of all groups.
	Cells int `json:"cells"`
	// Composition is how the privacy cost is composed over the groups and bins, as a sentence.
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
	// About is the smallest number of records of a group for which Within holds; 0 where
	// Within does not depend on the number of records.
	About int64 `json:"about,omitempty"`
	// Rank is true if Within is about the rank of the value, in records.
	Rank bool `json:"rank,omitempty"`
	// Guess is true if Within holds only if the guess of the question is right.
	Guess bool `json:"guess,omitempty"`
	// Simultaneous is true if Within holds for all values of the answer at once.
	Simultaneous bool `json:"simultaneous"`
	// AllAt is a confidence with which Within holds for all values of the answer at once.
	AllAt float64 `json:"all_at"`
	// Words is the expected accuracy as a sentence.
	Words Message `json:"words"`
}

// Sampling is the error of a figure as an estimate for more people than those in the table.
type Sampling struct {
	// Within is half the width of the usual confidence interval, at the confidence of the
	// noise.
	Within float64 `json:"within"`
	// Basis is what the interval was computed from, as a sentence.
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
	// Outside is how values outside the bounds, or values that are not listed, are treated, as
	// a sentence.
	Outside Message `json:"outside"`
}

// Change is a change of a request by which it would fit.
type Change struct {
	// Change is the change, as a sentence.
	Change Message `json:"change"`
	// Questions are the changed questions, each with its `margin` or its cost (`pay`).
	Questions []Question `json:"questions"`
	// Cost is the privacy cost of the changed questions together.
	Cost Amount `json:"cost"`
}

// Answers are the answers to the questions of a request.
type Answers struct {
	// Schema is noren.ask/1.
	Schema string `json:"schema"`
	// Answers are the answers, in the order of the questions.
	Answers []QuestionAnswer `json:"answers"`
	// Cost is what was charged for all answers together.
	Cost Amount `json:"cost"`
	// Statement is how much the data of one person can change the answers, as sentences.
	Statement []Message `json:"statement"`
	// NotCovered is what the guarantee does not cover, as sentences.
	NotCovered []Message `json:"not_covered"`
	Receipt
}

// QuestionAnswer is the answer to one question.
type QuestionAnswer struct {
	// Question is the question with its privacy cost.
	Question Question `json:"question"`
	// Asked is the question in words.
	Asked []Message `json:"asked"`
	// Rows are the values of the answer.
	Rows []AnswerRow `json:"rows"`
	// Accuracy is the error that was expected from the noise.
	Accuracy Promise `json:"accuracy"`
	// UnitLabel is the unit of the answer: records, the name of a column, or empty.
	UnitLabel string `json:"unit_label,omitempty"`
	// Notes on the values that were counted as others.
	Notes []Message `json:"notes"`
	// ReadWithCare are remarks on how to read these values.
	ReadWithCare []Message `json:"read_with_care"`
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
