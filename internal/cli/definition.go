package cli

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parquetio"
)

// inputOptions say how a file is written whose first line holds the names of the
// columns, in the strict form that definitions of data sets pin.
func inputOptions(s *spec.Spec) (file.Options, error) {
	if s.Input.Header != nil && !*s.Input.Header {
		return file.Options{}, &noren.Error{
			Kind: noren.Usage, Where: "input.header", What: "expected a table with a line of names, got header: false",
			Hint: "this command asks for columns by name: add a first line with the names of the columns",
		}
	}
	if s.Input.HeaderRow > 1 {
		return file.Options{}, &noren.Error{
			Kind: noren.Usage, Where: "input.header-row", What: fmt.Sprintf("expected a table with the names on its first line, got line %d", s.Input.HeaderRow),
			Hint: "this command reads the strict form alone: take the lines above the names out of the file",
		}
	}
	for name, c := range s.Columns {
		if _, err := table.NumberFormat(c.Format).Reader(); err == nil {
			return file.Options{}, &noren.Error{
				Kind: noren.Usage, Where: "columns." + name + ".format", What: "expected plain numbers, got a number format",
				Hint: "this command reads the strict form alone: write the numbers of the file as digits with a point",
			}
		}
	}
	o, err := formOptions(s)
	if err != nil {
		return o, err
	}
	o.Plain = true
	return o, strictEncoding("--encoding", o.Encoding)
}

// strictEncoding refuses the encodings that no definition of a data set has: files
// that are laid beside one are compared with it as they are read.
func strictEncoding(flag string, e csvio.Encoding) error {
	if e <= csvio.ShiftJIS {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Where: flag, What: fmt.Sprintf("expected utf-8 or shift_jis, got %s", e),
		Hint: "this command reads the strict form alone: save the file as UTF-8",
	}
}

// formOptions say how a file is written, but for its first line.
func formOptions(s *spec.Spec) (file.Options, error) { return s.Form() }

// declaredDataset is the definition of a file for an unaccounted answer. Nothing of
// it is taken from the values: a delimiter and an encoding that are not said are
// comma and UTF-8, and every column must be typed.
func declaredDataset(ctx context.Context, path string, s *spec.Spec, o spec.DatasetOptions) (*dataset.Definition, error) {
	in, err := inputOptions(s)
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
	defer closeSource(src)
	if !isPlain(src) {
		return nil, &noren.Error{Kind: noren.Usage, Code: "no-copy", Where: src.Name(), What: "answers are about a CSV or Parquet file, or a data set of the ledger"}
	}
	o.Strict = true
	d, _, err := s.Definition(ctx, src, o)
	return d, err
}

// isPlain reports whether a source is a file that is read where it lies, and not a
// copy of a workbook or of a table of a database.
func isPlain(src file.Source) bool {
	switch src.(type) {
	case *csvio.Source, *parquetio.Source:
		return true
	}
	return false
}
