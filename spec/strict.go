package spec

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// StrictForm is [Spec.Form] for a table whose first line holds the names of the columns,
// in the strict form that definitions of data sets state. Everything else (a header row
// further down, number formats, other encodings) is an error of kind Usage.
func (s *Spec) StrictForm() (file.Options, error) {
	if s.Input.Header != nil && !*s.Input.Header {
		return file.Options{}, noren.Usagef("input.header", "expected a table with a line of names, got header: false").
			Hinted("columns are asked by name: add a first line with the names of the columns")
	}
	if s.Input.HeaderRow > 1 {
		return file.Options{}, noren.Usagef("input.header-row", "expected a table with the names on its first line, got line %d",
			s.Input.HeaderRow).Hinted("only the strict form is read: remove the lines above the names from the file")
	}
	for _, name := range s.sortedColumns() {
		if _, err := table.NumberFormat(s.Columns[name].Format).Reader(); err == nil {
			return file.Options{}, noren.Usagef("columns."+name+".format", "expected plain numbers, got a number format").
				Hinted("only the strict form is read: write the numbers of the file as digits with a point")
		}
	}
	o, err := s.Form()
	if err != nil {
		return o, err
	}
	o.Plain = true
	return o, StrictEncoding("encoding", o.Encoding)
}

// StrictEncoding refuses the encodings that no definition of a data set has; where names
// the option in the error, of kind Usage.
func StrictEncoding(where any, e csvio.Encoding) error {
	if e <= csvio.ShiftJIS {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Where: where, What: "expected utf-8 or shift_jis, got %s", Args: []any{e},
		Hint: "only the strict form is read: save the file as UTF-8",
	}
}
