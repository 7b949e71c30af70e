package noren

import (
	"slices"
	"strings"
)

// Code is the name of a fault that programs can act on, stable between versions.
type Code struct {
	// Name is the text in [Error.Code].
	Name string
	// Kind is the kind of every error with this code; the exit code follows from it.
	Kind Kind
	// Meaning says in one sentence what the code tells.
	Meaning Format
}

// Codes returns the codes of all errors of this module, sorted by name.
func Codes() []Code { return slices.Clone(codes) }

// CodeNamed is the code of that name; known says whether there is one.
func CodeNamed(name string) (c Code, known bool) {
	i, known := slices.BinarySearchFunc(codes, name, func(c Code, name string) int { return strings.Compare(c.Name, name) })
	if known {
		c = codes[i]
	}
	return c, known
}

// codes is the one table of codes. It is never written to.
var codes = []Code{
	{"budget-refused", Refused, "The remaining budget does not cover the privacy cost of the request."},
	{"cannot-rebuild", BadData, "The ledger is damaged and its tables cannot be rebuilt from its entries."},
	{"changed", Refused, "The file or its definition is not the granted version."},
	{"closed", Refused, "The analyst's budget is closed."},
	{"column-missing", Usage, "A column that the request names does not exist."},
	{"column-type", Usage, "A column has a type that the request cannot use."},
	{"column-undecided", Usage, "A column may identify persons and has no confirmed role."},
	{"confirm", Usage, "The steward must confirm proposed types or misfitting cells."},
	{"conflict", Usage, "The request key belongs to another request."},
	{"costs-more", Refused, "The request costs more than it allows; nothing was charged."},
	{"file-changed", NotMet, "A file of a release in shards is not what was written."},
	{"file-exists", Usage, "A file of that name exists and may not be replaced."},
	{"file-missing", Usage, "A file cannot be opened."},
	{"file-unstated", Usage, "A grant to a new data set states no file."},
	{"first-line-is-data", Usage, "The first line of a file looks like a record and not like names."},
	{"fixed", Usage, "The budget has been charged, and the grant cannot be changed that way."},
	{"forfeited", Refused, "The request was charged and never answered."},
	{"formula", BadData, "A file that was written with formulas as text holds a text that begins as a formula."},
	{"formulas-text", Usage, "A release was written with formulas as text, and the request does not say so."},
	{"granted", Refused, "A ledger has granted the table that is to be randomised."},
	{"header-row", BadData, "The header row of a worksheet has missing or repeated names."},
	{"hidden", Usage, "The workbook hides rows or columns of the table, and nothing was decided about them."},
	{"in-progress", Internal, "The same request is being answered by another process."},
	{"input-changed", BadData, "A file of the table has changed since the job began."},
	{"interval-share", Usage, "A share of epsilon for the interval would not make it narrower."},
	{"known", Refused, "A ledger knows the file of an unaccounted request."},
	{"ledger-missing", Usage, "The ledger file does not exist."},
	{"ledger-unreadable", Refused, "A ledger that may know the file of an unaccounted request cannot be opened."},
	{"malformed-reports", BadData, "More lines are malformed than are allowed."},
	{"manifest", NotMet, "A folder of files is not the one that its manifest states."},
	{"margin-unreachable", Usage, "No privacy cost reaches the margin that the request states."},
	{"memory", Usage, "The work needs more memory than is allowed."},
	{"missing-unclear", Usage, "A text stands for a missing value in one column and is a value in another."},
	{"model", Usage, "The request does not fit the model of dependent records."},
	{"needs-l", Usage, "A parameter of l-diversity is stated without l."},
	{"needs-seed", Usage, "An insecure seed is accepted, and none is stated."},
	{"needs-split", Usage, "A release in one file names a folder or a pattern as its output."},
	{"needs-unit", Usage, "A parameter about persons is stated without a unit."},
	{"nested", Usage, "A column of the file holds nested values."},
	{"no-charge", Usage, "A certificate states no charge."},
	{"no-copy", Usage, "The source is not a CSV or Parquet file, and must be granted first."},
	{"no-dataset", Refused, "The ledger has no such data set."},
	{"no-file", Usage, "There is no file of that name."},
	{"no-grant", Refused, "The analyst has no budget for the data set."},
	{"no-k", Usage, "The request states no k."},
	{"no-ledger", Refused, "There is no ledger, and so no budget."},
	{"no-meta", Usage, "The meta data of a weighted table cannot be read."},
	{"no-quasi-identifier", Usage, "No column has the role quasi-identifier."},
	{"no-schema", Refused, "The data set has no definition yet."},
	{"no-sensitive", Usage, "l or t is stated, and no column is sensitive."},
	{"no-unit", Usage, "The file has no column of the privacy unit."},
	{"noise-key", Refused, "The request was charged and its answer is not computed yet, and the key to its noise is missing."},
	{"not-a-table", Usage, "A file in a folder of tables has not the ending of a table file."},
	{"not-regular", Usage, "A file must be read twice and is not a regular file."},
	{"not-zcdp", Usage, "The answer has no loss in zCDP, and the budget is in zCDP."},
	{"note-line", BadData, "A line has one field and the table several, as a note below a table has."},
	{"other-answer", NotMet, "A file is not the answer that its certificate states."},
	{"other-people", Usage, "A data set with similar columns exists, and may hold the same persons."},
	{"other-specification", BadData, "A file of reports names another specification."},
	{"other-weights", NotMet, "The weights of a repeated request are not the certified ones."},
	{"output-is-input", Usage, "An output file is an input of the same run."},
	{"output-twice", Usage, "Two outputs have the same name."},
	{"parts-differ", BadData, "A file of a table of several files has other columns than the first."},
	{"pattern", Usage, "No table file matches a pattern or is in a folder, or the pattern is not valid."},
	{"previous-quasi", BadData, "The quasi-identifiers of an earlier release are not stated and cannot be known from its columns."},
	{"private", Refused, "A ledger knows a file that must be public."},
	{"public-key", Usage, "A public key cannot be read."},
	{"query", Usage, "A database was named without a table and without an SQL query."},
	{"records", Usage, "The number of records does not match the definition or the model."},
	{"replace-changed", Usage, "A grant states both that it replaces a version and that it is a new one."},
	{"same-table", Usage, "The ledger holds the same table under another name."},
	{"schema-incomplete", Usage, "A column has no declared type."},
	{"schema-pinned", Usage, "The grant fixes how the data set is read; the request must not restate it."},
	{"sealed", Refused, "The ledger is sealed until it is reconciled."},
	{"seed-short", Usage, "A seed is short enough to be found by trying."},
	{"shard-fault", Internal, "A stage of a job in shards received data that no earlier stage of this job wrote."},
	{"shard-form", Internal, "Bytes between the processes of a job are not of the form that is expected."},
	{"shard-too-large", BadData, "A column has more different values than the processes of a job can hold."},
	{"sheet", Usage, "The workbook has no such sheet."},
	{"spec-empty", Usage, "A specification is empty."},
	{"spec-invalid", Usage, "A specification contains what its format does not allow."},
	{"spec-seed", Usage, "A specification contains a seed."},
	{"spec-unreadable", Usage, "A specification cannot be read."},
	{"structure", BadData, "The file does not have the structure of its definition."},
	{"table", Usage, "The database has no such table, or several and none was named."},
	{"temporary-file", Internal, "A temporary file cannot be written."},
	{
		"too-large", BadData,
		"Reading a file takes more memory, or the file unpacks to more or holds something longer or deeper, than is allowed.",
	},
	{"too-many-records", Usage, "The data set may hold more records than the mechanism answers."},
	{"totals", Usage, "Rows of the table hold totals or notes and no record, and nothing was decided about them."},
	{"totals-database", Usage, "Rows of a table of a database look like totals or notes, and were to be left out: it is read as it is."},
	{"types-open", Usage, "The specification states no type for a column whose type is needed."},
	{"uncertain", Internal, "The connection was lost while a table was made, which may be there or not."},
	{"unit-name", Usage, "A column is named record, and the privacy unit is ambiguous."},
	{"unread-file", NotMet, "A folder holds a file that is no part of its table, and that was not verified."},
	{"unsound", NotMet, "The ledger fails its verification."},
	{"untrusted", NotMet, "No trusted key signed a certificate."},
	{"untyped", Usage, "A quasi-identifier has no stated type, and types are not inferred."},
	{"unwritten", Internal, "The answer was charged, and its files could not be written."},
	{"whole-table", Usage, "An option works on all records at once, which no process of a cluster holds."},
	{"withheld", BadData, "Reading or computing failed after the charge; the reason is not released."},
	{"worker-version", Usage, "A worker is of another build than the one that began the job."},
}

// kindOfCode returns the kind of a code, if the table has it.
func kindOfCode(code string) (Kind, bool) {
	i, found := slices.BinarySearchFunc(codes, code, func(c Code, name string) int {
		switch {
		case c.Name < name:
			return -1
		case c.Name > name:
			return 1
		}
		return 0
	})
	if !found {
		return Internal, false
	}
	return codes[i].Kind, true
}
