package spec

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// StrictForm is the [Spec.Form] of the strict form, which definitions of
// data sets pin: the names of the columns on the first line, UTF-8 or Shift_JIS,
// and plain numbers. Errors are of kind Usage.
func (s *Spec) StrictForm() (file.Options, error) {
	if s.Input.Header != nil && !*s.Input.Header {
		return file.Options{}, s.fault("input.header", "expected a table with a line of names, got header: false", "this command asks for columns by name: add a first line with the names of the columns")
	}
	if s.Input.HeaderRow > 1 {
		return file.Options{}, s.fault("input.header-row", fmt.Sprintf("expected a table with the names on its first line, got line %d", s.Input.HeaderRow), "this command reads the strict form only: remove the lines above the names from the file")
	}
	for _, name := range s.sortedColumns() {
		if _, err := table.NumberFormat(s.Columns[name].Format).Reader(); err == nil {
			return file.Options{}, s.fault("columns."+name+".format", "expected plain numbers, got a number format", "this command reads the strict form only: write the numbers of the file as digits with a point")
		}
	}
	o, err := s.Form()
	if err != nil {
		return o, err
	}
	o.Plain = true
	return o, StrictEncoding("encoding", o.Encoding)
}

// StrictEncoding refuses an encoding that no definition of a data set has, with an
// error of kind Usage at where. A public file beside a data set is read as the data
// set is.
func StrictEncoding(where string, e csvio.Encoding) error {
	if e <= csvio.ShiftJIS {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Where: where, What: fmt.Sprintf("expected utf-8 or shift_jis, got %s", e),
		Hint: "this command reads the strict form only: save the file as UTF-8",
	}
}

// Declared is the definition of the file at path for an unaccounted answer. Nothing
// of it is taken from the values: the delimiter defaults to comma, the encoding to
// UTF-8, and every column must have a type (code schema-incomplete). A source that
// is not a CSV or Parquet file is refused (code no-copy).
func (s *Spec) Declared(ctx context.Context, path string, o DatasetOptions) (*dataset.Definition, error) {
	in, err := s.StrictForm()
	if err != nil {
		return nil, err
	}
	if in.Delimiter == 0 {
		in.Delimiter = ','
	}
	if in.Encoding == csvio.AnyEncoding {
		in.Encoding = csvio.UTF8
	}
	src, err := file.Open(ctx, path, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	if !file.InPlace(src) {
		return nil, &noren.Error{Kind: noren.Usage, Code: "no-copy", Where: src.Name(), What: "answers are about a CSV or Parquet file, or a data set of the ledger"}
	}
	o.Strict = true
	d, _, err := s.Definition(ctx, src, o)
	if err == nil {
		err = CheckUnit(o.Unit, d)
	}
	return d, err
}

// CheckUnit refuses the unit "record", where it was stated, for a table with a column
// of that name (code unit-name): a definition would take it for one record, and the
// steward may mean the column.
func CheckUnit(stated string, d *dataset.Definition) error {
	if stated != account.Record || d.Column(account.Record) == nil {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, Code: "unit-name", Where: "unit record", What: "the file has a column named record", Hint: "rename it, or state no unit, for one record as the unit"}
}

// Over lays s over the definition d of the same data set: what s does not state
// stays as in d. A column whose type, order or format s states is stated anew; its
// bounds and keys stay, unless s states them.
func (s *Spec) Over(d *dataset.Definition) *Spec {
	out := Of(d)
	out.Unit = s.Unit
	for name, c := range s.Columns {
		was := out.Columns[name]
		if c.Bounds == nil {
			c.Bounds = was.Bounds
		}
		if c.Keys == nil {
			c.Keys = was.Keys
		}
		out.Columns[name] = c
	}
	in := &out.Input
	for _, p := range []struct{ to, from *string }{
		{&in.Delimiter, &s.Input.Delimiter},
		{&in.Encoding, &s.Input.Encoding},
		{&in.Sheet, &s.Input.Sheet},
		{&in.Query, &s.Input.Query},
	} {
		if *p.from != "" {
			*p.to = *p.from
		}
	}
	if s.Input.HeaderRow != 0 {
		in.HeaderRow = s.Input.HeaderRow
	}
	if s.Input.Header != nil {
		in.Header = s.Input.Header
	}
	in.Missing = append(in.Missing, s.Input.Missing...)
	return out
}
