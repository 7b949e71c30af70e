// Package gate refuses to release columns that may identify persons without a decision.
//
// k-anonymity does not cover the columns that a release keeps unchanged. [Check] looks at these
// columns before any group is made and refuses
// those without a decision of the steward:
//
//   - columns that look like personal identifiers or like keys of persons or
//     records, by their name or their values (table/personal, table/infer);
//   - columns that look like what others know of a person, such as an age, a
//     place or a date (table/infer);
//   - columns of words of which neither the name nor the values tell what they are;
//   - columns whose value tells the value of a quasi-identifier for 99 % of the
//     records, such as a full postcode beside a shortened one: with such a column
//     the classes are finer than the release states ([Predictor]).
//
// A column passes where its role is identifier or quasi-identifier, or where it
// is named in [Request.Kept]: the steward has decided, and the report says so.
// Check also counts the records that are unique on the kept columns ([Unique]).
//
// It reads the private table. The columns that it names, with the reasons, may
// be published with the release; the figures are private.
// The guarantee is that a column that a detector reports, and a column of words
// that none knows, is never kept without a decision. It is no proof that all others
// (numbers that nothing tells of, and what a person would not want known) are harmless.
package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/personal"
)

// Code is the code of the error by which a release is refused.
const Code = "column-undecided"

// Request says what is to be looked at.
type Request struct {
	// Source is the table, Schema its roles, a field for each column. Required.
	Source table.Source
	Schema *table.Schema
	// Missing are the texts that stand for no value, beside the empty one.
	Missing []string
	// Kept names the columns that the steward has decided to keep as they are
	// whatever they look like.
	Kept []string
	// Open names the columns of which nothing was decided although something was asked: a specification
	// names them without a role. They are refused whatever they hold.
	Open []string
	// Looked is what is known of the columns already. Optional; columns that it
	// lacks are looked at.
	Looked *infer.Report

	rows int64 // of the table when it was looked at, where it was
	// Progress receives the stages "looking" and "checking". Optional.
	Progress noren.Progress
}

// The fates of a column in a release.
const (
	Dropped     = "dropped"
	Transformed = "transformed"
	Untouched   = "kept"
)

// Fate is what becomes of a column, and why.
type Fate struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Role is the role of the column: identifier, quasi-identifier, sensitive, other or drop.
	Role string `json:"role"`
	// Fate is what is done with the column: dropped, transformed or kept.
	Fate string `json:"fate"`
	// Why is the reason, in words.
	Why noren.Text `json:"why"`
}

// Refusal is a kept column without a decision of the steward.
type Refusal struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Why is the reason, in words.
	Why noren.Text `json:"why"`
	// Sensitive is true if the column's role is sensitive.
	Sensitive bool `json:"sensitive"`
}

// Report is what was found.
type Report struct {
	// Fates has an entry for each column of the table, in order.
	Fates []Fate
	// Refused are the columns that must be decided on, in order.
	Refused []Refusal
	// FreeText names the kept columns that are free text.
	FreeText []string
	// Predictors are all kept columns that tell a quasi-identifier, those that
	// the steward has decided on among them.
	Predictors []Predictor
	// Unique counts the records that are unique on the kept columns.
	Unique *Unique
}

// Err is nil where every column is decided on, and otherwise an error of kind
// Usage and code [Code] that names the columns and why.
func (r *Report) Err(where any) error {
	if len(r.Refused) == 0 {
		return nil
	}
	what := make(noren.Texts, len(r.Refused))
	for i, x := range r.Refused {
		what[i] = noren.Textf("%s (%s)", x.Column, x.Why)
	}
	columns := noren.Textf("a column")
	if len(what) > 1 {
		columns = noren.Textf("%d {column|columns}", len(what))
	}
	return &noren.Error{
		Kind: noren.Usage, Code: Code, Where: where,
		What: "%s would be kept without a decision: %s", Args: []any{columns, what},
		Hint: "name each an identifier, a quasi-identifier, or a column that is kept as it is",
		Err:  &Refused{r.Refused},
	}
}

// Refused is the cause of a refusal, for programs.
type Refused struct{ Columns []Refusal }

// Error implements error.
func (r *Refused) Error() string { return r.Text().String() }

// Text is what the error says.
func (r *Refused) Text() noren.Text { return noren.Textf("no release was made") }

// Check looks at a table. Its errors are those of reading; columns that must be
// decided on are no error here, see [Report.Err].
func Check(ctx context.Context, q Request) (*Report, error) {
	r := &Report{}
	looked, err := q.look(ctx, q.Progress)
	if err != nil {
		return nil, err
	}
	r.Unique, r.Predictors, err = q.measure(ctx, q.Progress)
	if err != nil {
		return nil, err
	}
	if len(q.keptColumns()) > 0 {
		if q.Looked != nil {
			q.rows = q.Looked.Rows
		}
		if err := Same(table.PlaceOf(q.Source), q.rows, r.Unique.Records); err != nil {
			return nil, err
		}
	}
	for i := range q.Schema.Fields {
		r.judge(&q, &q.Schema.Fields[i], looked[i])
	}
	return r, nil
}

// Same is an error of kind BadData where a table that had before records now has
// now.
func Same(where any, before, now int64) error {
	var how noren.Phrase = "grown"
	switch {
	case before == now:
		return nil
	case now < before:
		how = "shrunk"
	}
	return &noren.Error{
		Kind: noren.BadData, Where: where, What: "the file has %s since it was read", Args: []any{how},
		Hint: "start again when nothing writes to it",
	}
}

// keptColumns are the positions of the columns that a release keeps as they are.
func (q *Request) keptColumns() []int {
	var kept []int
	for i := range q.Schema.Fields {
		if role := q.Schema.Fields[i].Role; role == table.Other || role == table.Sensitive {
			kept = append(kept, i)
		}
	}
	return kept
}

// look has the kept columns inferred, and those that are dropped as no identifiers, by
// position.
func (q *Request) look(ctx context.Context, progress noren.Progress) (map[int]*infer.Column, error) {
	looked := map[int]*infer.Column{}
	take := func(report *infer.Report) {
		for i := range report.Columns {
			looked[report.Columns[i].Position] = &report.Columns[i]
		}
	}
	if q.Looked != nil {
		take(q.Looked)
	}
	var missing []int
	for _, i := range append(q.keptColumns(), q.Schema.WithRole(table.Drop)...) {
		if looked[i] == nil {
			missing = append(missing, i)
		}
	}
	slices.Sort(missing)
	if len(missing) == 0 {
		return looked, nil
	}
	report, err := infer.Infer(ctx, q.Source, infer.Options{Columns: missing, Missing: append([]string{}, q.Missing...), Progress: progress})
	if err != nil {
		return nil, err
	}
	take(report)
	if q.Looked != nil && report.Rows != q.Looked.Rows {
		return nil, Same(table.PlaceOf(q.Source), q.Looked.Rows, report.Rows)
	}
	q.rows = report.Rows
	return looked, nil
}

// judge decides on a column.
func (r *Report) judge(q *Request, f *table.Field, c *infer.Column) {
	fate := Fate{Column: f.Name, Role: f.Role.String(), Fate: Untouched}
	switch f.Role {
	case table.Identifier:
		fate.Fate, fate.Why = Dropped, noren.Textf("it names a person or a record")
	case table.Drop:
		fate.Fate, fate.Why = Dropped, noren.Textf("it is not wanted, and identifies no person")
		if c != nil && c.Field.Role == table.Identifier {
			fate.Why = noren.Textf(
				"it is not wanted, but looks like a key of persons or records: only of an identifier it is counted whether it repeats")
		}
	case table.Quasi:
		fate.Fate, fate.Why = Transformed, noren.Textf("others may know it: made common to the records of a class")
	default:
		fate.Why = r.judgeKept(q, f, c)
	}
	r.Fates = append(r.Fates, fate)
}

// judgeKept decides on a column that is kept, and says why it is.
func (r *Report) judgeKept(q *Request, f *table.Field, c *infer.Column) noren.Text {
	decided := slices.Contains(q.Kept, f.Name)
	looks := looksLike(f, c)
	if c != nil && c.Personal != nil && c.Personal.Kind == personal.FreeText {
		r.FreeText = append(r.FreeText, f.Name)
	}
	var predicts noren.Text
	why := looks
	for _, p := range r.Predictors {
		if p.Column == f.Name {
			told := strings.Join(p.Quasi, ", ")
			predicts = noren.Textf("its value tells the value of %s", told)
			if !looks.IsZero() {
				why = noren.Textf("%s, and its value also tells the value of %s", looks, told)
			} else {
				why = predicts
			}
			break
		}
	}
	if why.IsZero() && !decided {
		why = unknownWords(f, c)
	}
	switch {
	case decided && !why.IsZero():
		return noren.Textf("the steward decided to keep it, although %s", why)
	case decided:
		return noren.Textf("the steward decided to keep it")
	case f.Role == table.Sensitive && looks.IsZero():
		if !predicts.IsZero() {
			return noren.Textf("sensitive, and %s", predicts)
		}
		return noren.Textf("sensitive: kept, and checked where diversity or closeness is asked for")
	case why.IsZero() && slices.Contains(q.Open, f.Name):
		why = noren.Textf("the specification names it without a role")
		fallthrough
	case !why.IsZero():
		r.Refused = append(r.Refused, Refusal{Column: f.Name, Why: why, Sensitive: f.Role == table.Sensitive})
		return why
	}
	return noren.Textf("no role was given, and nothing that others know was recognised in it")
}

// looksLike says what identifier or quasi-identifier a column looks like, and nothing for none. A sensitive
// column was named by the steward: only values that are unmistakable speak
// against it, not its name, nor that it is free text or dates.
func looksLike(f *table.Field, c *infer.Column) noren.Text {
	if c == nil {
		return noren.Text{}
	}
	p := c.Personal
	if f.Role == table.Sensitive {
		if p == nil || !p.ByValues || p.Kind == personal.FreeText || p.Kind == personal.BirthDate || p.Kind == personal.Name {
			return noren.Text{}
		}
		return p.Reason()
	}
	switch {
	case p != nil:
		return p.Reason()
	case c.Field.Role == table.Identifier:
		return noren.Textf("it looks like a key of persons or records")
	case c.Field.Role == table.Quasi:
		switch c.RoleReason.Code {
		case infer.RoleDate:
			return noren.Textf("it holds dates, and dates are what others know")
		case infer.RolePlace:
			return noren.Textf("its name says that it holds places")
		}
		return noren.Textf("its name says that others know it")
	}
	return noren.Text{}
}

// unknownWords says that a column without a role holds words or codes of which nothing
// tells what they are, and nothing where it does not. Two whole numbers, such as 0 and 1, are no words.
func unknownWords(f *table.Field, c *infer.Column) noren.Text {
	if c == nil || f.Role == table.Sensitive || c.RoleReason.Code != infer.RoleOpen || c.TypeReason.Code == infer.TypeTwo ||
		c.Field.Type != table.Category && c.Field.Type != table.Ordered {
		return noren.Text{}
	}
	return noren.Textf("it holds words or codes, and nothing tells what they are")
}
