package spec

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Form says how to read the file that s describes, except for its first line: its
// delimiter, encoding, worksheet and query. Errors are of kind Usage.
func (s *Spec) Form() (file.Options, error) {
	o := file.Options{}
	var err error
	if o.Delimiter, err = csvio.ParseDelimiter(s.Input.Delimiter); err != nil {
		return o, &noren.Error{Kind: noren.Usage, Where: "delimiter", Err: err}
	}
	if o.Encoding, err = csvio.ParseEncoding(s.Input.Encoding); err != nil {
		return o, &noren.Error{Kind: noren.Usage, Where: "encoding", Err: err}
	}
	if s.Input.HeaderRow < 0 {
		return o, &noren.Error{Kind: noren.Usage, Where: "header-row", What: "expected the number of a row, from 1"}
	}
	o.Sheet, o.HeaderRow = s.Input.Sheet, s.Input.HeaderRow
	if o.Hidden, err = xlsx.ParsePolicy(s.Input.Hidden); err != nil {
		return o, err
	}
	if o.Totals, err = xlsx.ParseTotals(s.Input.Totals); err != nil {
		return o, err
	}
	if s.Input.Query != "" {
		text, err := meter.ReadFile(s.Input.Query, maxQuery)
		if meter.Refused(err) != nil {
			return o, err
		}
		if err != nil {
			return o, &noren.Error{
				Kind: noren.Usage, Where: noren.File(s.Input.Query), What: "the query cannot be read",
				Hint: "does the file exist?",
			}
		}
		o.Query, o.QueryName = string(text), s.Input.Query
		if strings.TrimSpace(o.Query) == "" {
			return o, &noren.Error{Kind: noren.Usage, Where: noren.File(s.Input.Query), What: "the query is empty"}
		}
	}
	return o, nil
}

// CheckedForm is [Spec.Form] for a table that is read only if its first line holds the
// names of the columns, or s states what it holds: a first line that looks like data is
// an error with the code [csvio.FirstLineCode].
func (s *Spec) CheckedForm() (file.Options, error) {
	o, err := s.Form()
	if err != nil {
		return o, err
	}
	switch {
	case s.Input.Header == nil:
		o.Header = csvio.HeaderChecked
	case !*s.Input.Header:
		o.Header = csvio.HeaderAbsent
	}
	return o, nil
}

// ReleaseFormulas is how texts that spreadsheets take for formulas were written in a release
// that s describes.
func (s *Spec) ReleaseFormulas() (formula.Choice, error) {
	choice, err := formula.Parse(s.Anonymize.Formulas)
	if err != nil {
		return choice, &noren.Error{Kind: noren.Usage, Where: "formulas", Err: err}
	}
	return choice, nil
}

// maxQuery bounds a file with a query in SQL.
const maxQuery = 1 << 20

// Alike is what holds for another file of the same columns too. Worksheet, row of the names, hidden
// rows, totals and query are of one file.
func (i Input) Alike() Input {
	i.Sheet, i.HeaderRow, i.Hidden, i.Totals, i.Query = "", 0, "", "", ""
	return i
}
