package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/spec"
)

// LedgerGrantRequest asks to grant a budget, and a schema, to a data set.
type LedgerGrantRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Accounting is epsilon (epsilons and deltas add up) or zcdp (rhos add up). It is
	// fixed once something is spent. Defaults to epsilon, or as granted before.
	Accounting string `json:"accounting,omitempty"`
	// Epsilon is the cap: the total epsilon that may ever be spent, in decimal.
	// Required, except with the accounting zcdp, which has none.
	Epsilon string `json:"epsilon,omitempty"`
	// Delta is the cap: the total delta that may ever be spent, in decimal. Defaults
	// to 0. With the accounting zcdp it is the delta at which the budget states its
	// epsilon, and required for a new data set.
	Delta string `json:"delta,omitempty"`
	// Rho is the cap with the accounting zcdp, in decimal. Required there.
	Rho string `json:"rho,omitempty"`
	// Table states the data set's table. Without it the grant raises the cap of a data
	// set that exists, and no file is read.
	Table *GrantTable `json:"table,omitempty"`
}

// GrantTable states the table of a data set and its schema.
type GrantTable struct {
	// File is the data set's file, workbook or database table. Defaults to the file
	// that was granted before.
	File string `json:"file,omitempty"`
	// SpecFile is the path of a specification, which states all columns and how the file
	// is written. Optional.
	SpecFile string `json:"spec_file,omitempty"`
	// Spec states columns and how the file is written. It is laid over SpecFile, and
	// without one over the schema that was granted before. Optional.
	Spec *spec.Spec `json:"spec,omitempty"`
	// Neighbours is add-remove or replace-one. Defaults to add-remove, or as granted
	// before.
	Neighbours string `json:"neighbours,omitempty"`
	// Unit is record, or the column whose equal values mark one person. Defaults to
	// the specification's for a new data set, else as granted before, else record.
	Unit string `json:"unit,omitempty"`
	// AtMost is a public upper bound on the number of records. Defaults to 20,000,000,
	// or as granted before.
	AtMost int64 `json:"at_most,omitempty"`
	// Records is the exact number of records, which is public, for replace-one
	// neighbours of one record. Defaults to that of the file.
	Records int64 `json:"records,omitempty"`
	// Model is a public model of dependent records; every answer is priced under it.
	Model *GrantModel `json:"model,omitempty"`
	// Sharded says that File is a folder or a pattern of CSV or Parquet files, which are
	// read where they lie and not copied: queries to them are computed file by file, on a
	// cluster where one is used. Defaults to as granted before, where File is not stated.
	Sharded bool `json:"sharded,omitempty"`
	// Changed says that the file or its schema is a new version of the same data set.
	Changed bool `json:"changed,omitempty"`
	// Replace exchanges schema, unit, relation and cap, while nothing is spent.
	Replace bool `json:"replace,omitempty"`
	// OtherPeople declares that no person of the data set is in a data set with
	// similar columns.
	OtherPeople bool `json:"other_people,omitempty"`
	// Confirm confirms the proposed schema, and that cells which do not fit count as
	// missing. Without it a grant that needs a confirmation is refused, with the
	// private review of the file.
	Confirm bool `json:"confirm,omitempty"`
}

// GrantModel is a public model of dependent records and the column that it is about.
type GrantModel struct {
	// Name is the name of the model in errors, such as its file.
	Name string `json:"name,omitempty"`
	// Distribution is the model (docs/correlated-privacy.md). Required.
	Distribution json.RawMessage `json:"distribution"`
	// Column holds the states of the model. Required.
	Column string `json:"column"`
	// Other is the state of a cell that is in no state of the model. Defaults to the
	// first.
	Other string `json:"other,omitempty"`
}

// LedgerGrantAnalystRequest asks to grant a budget to one analyst, under the data set's.
type LedgerGrantAnalystRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Analyst is the name of the analyst. Required.
	Analyst string `json:"analyst"`
	// Epsilon is the analyst's cap, in decimal. Required, except in a budget in zCDP.
	Epsilon string `json:"epsilon,omitempty"`
	// Delta is the analyst's cap, in decimal. Defaults to 0.
	Delta string `json:"delta,omitempty"`
	// Rho is the analyst's cap in a budget in zCDP, in decimal. Required there.
	Rho string `json:"rho,omitempty"`
}

// Granted is a data set after a grant, with the report on its file for the steward
// alone.
type Granted struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	Dataset
	// Private is the review of the file: for the steward alone, never for release.
	Private *GrantReview `json:"private,omitempty"`
	// Source is the file, workbook or table that was read.
	Source string `json:"-"`
	// Proposal is the definition that was reviewed; nil where no file was read.
	Proposal *dataset.Definition `json:"-"`
	// MissingProposed says that the missing texts were proposed from the values.
	MissingProposed bool `json:"-"`
}

// GrantReview tells how a file fits its schema. It is private, and holds no cell.
type GrantReview struct {
	// Note is the sentence "for the steward: do not release".
	Note string `json:"note"`
	// Records is the number of records.
	Records int64 `json:"records"`
	// WithoutUnit is the number of records without a privacy unit.
	WithoutUnit int64 `json:"without_unit"`
	// LargestUnit is the largest number of records of one unit; 0 where the unit is a
	// record.
	LargestUnit int64 `json:"largest_unit"`
	// Proposed are the columns whose types were proposed from the values.
	Proposed []string `json:"proposed"`
	// Columns are the columns in the order of the schema.
	Columns []ColumnFit `json:"columns"`
}

// ColumnFit tells how the cells of a column fit the schema.
type ColumnFit struct {
	// Name of the column.
	Name string `json:"name"`
	// Type of the column.
	Type string `json:"type"`
	// Misfits is the number of cells that do not fit the type.
	Misfits int64 `json:"misfits"`
	// Missing is the number of cells that are missing.
	Missing int64 `json:"missing"`
	// First are the places of the first misfits.
	First []string `json:"first"`
}

// GrantReviewOf is the document of a review.
func GrantReviewOf(r *dataset.Review, proposed []string) *GrantReview {
	out := &GrantReview{
		Note: "for the steward: do not release", Records: r.Records, WithoutUnit: r.WithoutUnit, LargestUnit: r.LargestUnit,
		Proposed: append([]string{}, proposed...), Columns: []ColumnFit{},
	}
	for _, c := range r.Columns {
		out.Columns = append(out.Columns, ColumnFit{c.Name, c.Type, c.Misfits, c.Missing, append([]string{}, c.Lines...)})
	}
	return out
}
