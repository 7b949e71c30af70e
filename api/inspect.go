package api

import (
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/infer"
)

// InspectRequest asks what is in a table. Of the specification only the form of the
// input is used.
type InspectRequest struct {
	Table
}

// InspectSchema names the JSON form of an [Inspection].
const InspectSchema = "noren.inspect/1"

// Inspection describes the columns of a table: noren.inspect/1. It is private: it
// holds values of the table.
type Inspection struct {
	// Schema is noren.inspect/1.
	Schema string `json:"schema"`
	// Private is the text "do not release".
	Private string `json:"private"`
	// Input is the table as named in the request.
	Input string `json:"input"`
	// Rows is the number of records.
	Rows int64 `json:"rows"`
	// Missing are the texts, besides the empty one, that were read as missing values.
	Missing []string `json:"missing_texts"`
	// Form is how the table was read.
	Form TableForm `json:"form"`
	// Hidden is what a workbook hides of the table; absent where it hides nothing.
	Hidden *Hidden `json:"hidden,omitempty"`
	// Columns are the columns, in the order of the table.
	Columns []InspectedColumn `json:"columns"`
}

// TableForm is how a table was read: what was stated of it, else what it looked like.
type TableForm struct {
	// Sheet is the worksheet that was read.
	Sheet string `json:"sheet,omitempty"`
	// Sheets are the worksheets of the workbook that are not hidden, and the one that was read.
	Sheets []string `json:"sheets,omitempty"`
	// HeaderRow is the row of a worksheet, or the line of a text file, from 1, that names the
	// columns; absent where none does.
	HeaderRow int `json:"header_row,omitempty"`
	// Delimiter is the character between the fields of a text file, or tab.
	Delimiter string `json:"delimiter,omitempty"`
	// Encoding is that of a text file.
	Encoding string `json:"encoding,omitempty"`
	// Totals is how many rows of a worksheet or text file hold totals or notes and no record.
	Totals int64 `json:"totals,omitempty"`
	// TotalsPolicy says what became of them: read or leave; absent where nothing was decided, and
	// they were read.
	TotalsPolicy string `json:"totals_policy,omitempty"`
}

// Hidden is what a workbook hides of a table, by hand, by an outline or by a filter.
type Hidden struct {
	// Rows is the number of hidden rows that hold values.
	Rows int64 `json:"rows"`
	// Columns are the names of the hidden columns.
	Columns []string `json:"columns"`
	// Left says that they are left out of the table; else they are part of it.
	Left bool `json:"left"`
	// Decided says that this was decided. A release needs it.
	Decided bool `json:"decided"`
}

// InspectedColumn describes one column.
type InspectedColumn struct {
	// Name is the column's name.
	Name string `json:"name"`
	// Type of the column: integer, decimal, date, ordered or category.
	Type string `json:"type"`
	// TypeReason is the reason why this type was inferred.
	TypeReason string `json:"type_reason"`
	// Format is how dates or numbers are written; absent for the plain form.
	Format string `json:"format,omitempty"`
	// Order are the levels of an ordered column from lowest to highest.
	Order []string `json:"order,omitempty"`
	// Role is the proposed role: identifier, quasi-identifier, sensitive, other or drop.
	Role string `json:"role"`
	// RoleReason is the reason why this role is proposed.
	RoleReason string `json:"role_reason"`
	// Distinct is the number of different values.
	Distinct int64 `json:"distinct"`
	// Estimated is true if Distinct is an estimate.
	Estimated bool `json:"distinct_estimated"`
	// Unique is true if no value occurs twice.
	Unique bool `json:"unique"`
	// Missing is the number of records without a value.
	Missing int64 `json:"missing"`
	// Smallest is the smallest value. It is private.
	Smallest string `json:"smallest"`
	// Largest is the largest value. It is private.
	Largest string `json:"largest"`
	// Unit is true if the column seems to identify persons who have several records each.
	Unit bool `json:"unit"`

	// TypeWhy is TypeReason with its code and arguments, for programs that translate it.
	TypeWhy infer.Reason `json:"-"`
	// RoleWhy is RoleReason with its code and arguments.
	RoleWhy infer.Reason `json:"-"`
}

// ProposeRequest asks for a specification of a table, with proposed types and roles. Of
// the specification of the request only the form of the input is used.
type ProposeRequest struct {
	Table
	// Output is the path under which the result will be stored, to which the names of
	// other files in it are relative. Optional.
	Output string `json:"output,omitempty"`
	// Use is a comment line that says how the specification is used. Optional.
	Use string `json:"use,omitempty"`
	// Ask is called with the columns once the table was read, and returns the steward's
	// answers, which decide on roles and k. Optional.
	Ask func(*Inspection) (*StewardAnswers, error) `json:"-"`
}

// StewardAnswers are a steward's answers to the questions that decide on roles and k.
type StewardAnswers struct {
	// Recipients are those who receive the release: public, agreement or organisation.
	Recipients spec.Recipients `json:"recipients"`
	// Known are the columns whose values others may know of a person.
	Known []string `json:"known"`
	// Harmful are the columns whose values would harm a person if others learned them.
	Harmful []string `json:"harmful,omitempty"`
	// Unit is the column that tells persons apart; empty where each record is another
	// person's.
	Unit string `json:"unit,omitempty"`
}

// Proposal is a proposed specification.
type Proposal struct {
	// Specification is the commented text of a noren.yaml. It is private until the
	// steward has read it: it holds counts and the levels of ordered columns.
	Specification string `json:"specification"`
}
