package spec

import "github.com/noren-privacy/noren"

// Note is a remark on how a table or a side file was read.
type Note struct {
	// Code names the remark for programs: one of the Note constants.
	Code string
	// Columns are the columns that it is about. Empty for a whole file.
	Columns []string
	// Text is one sentence, without a value of the table other than the texts that
	// were taken for missing values.
	Text noren.Text
}

// Codes of notes.
const (
	// NoteHierarchyEncoding: a hierarchy file is not UTF-8.
	NoteHierarchyEncoding = "hierarchy-encoding"
	// NoteHierarchyHeader: the first line of a hierarchy file names its levels.
	NoteHierarchyHeader = "hierarchy-header"
	// NoteMissing: texts were taken for missing values.
	NoteMissing = "missing-texts"
	// NoteNumberFormat: numbers are read in a format that was found in the file.
	NoteNumberFormat = "number-format"
	// NoteKeptNumbers: numbers that are kept, and have a format that the specification states, are written plain.
	NoteKeptNumbers = "kept-numbers"
	// NoteRowIndex: a column is dropped because it is the row index of pandas.
	NoteRowIndex = "row-index"
	// NoteKept: columns without a role are kept unchanged.
	NoteKept = "columns-kept"
)

// Notes receives notes as they occur. A nil Notes is allowed.
type Notes func(Note)

func (n Notes) add(note Note) {
	if n != nil {
		n(note)
	}
}
