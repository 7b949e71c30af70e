package dataset

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// Validate returns all faults of the definition, defaults filled. They are of kind
// Usage; a unit or model column that does not exist has the code "column-missing". Column names, levels,
// keys, bounds and missing texts are public and may be named.
func (d *Definition) Validate() error { return d.complete().validate() }

// faults gathers what is wrong.
type faults []error

func (f *faults) add(code string, where any, what noren.Text, hint noren.Format, hintArgs ...any) {
	*f = append(*f, &noren.Error{
		Kind: noren.Usage, Code: code, Where: where, What: what.Format, Args: what.Args, Hint: hint,
		HintArgs: hintArgs,
	})
}

// validate is Validate for a complete definition.
func (d *Definition) validate() error {
	var f faults
	if d.Format != Format {
		f.add("", "format", noren.Textf("expected %s, got %q", Format, d.Format), "")
	}
	d.validateFile(&f)
	for _, m := range d.Missing {
		f.text("missing", m)
	}
	d.validateColumns(&f)
	d.validateUnit(&f)
	d.validateModel(&f)
	if len(f) == 0 {
		if _, err := d.canonical(); err != nil {
			f = append(f, err)
		}
	}
	return errors.Join(f...)
}

// text refuses what canonical JSON cannot hold.
func (f *faults) text(where any, s string) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
		f.add("", where, noren.Textf("expected UTF-8 without U+FFFD"), "")
	}
}

func (d *Definition) validateFile(f *faults) {
	if d.File.Sharded && d.Model != nil {
		f.add("", "file.sharded", noren.Textf("a model is of records in their order, which files do not share"), "grant one file")
	}
	switch d.File.Kind {
	case kindParquet:
		if d.File.Delimiter != "" || d.File.Encoding != "" {
			f.add("", "file", noren.Textf("a Parquet file has no delimiter and no encoding"), "leave them out")
		}
	case kindCSV:
		if _, err := csvio.ParseDelimiter(d.File.Delimiter); err != nil {
			*f = append(*f, &noren.Error{Kind: noren.Usage, Where: "file.delimiter", Err: err})
		}
		e, err := csvio.ParseEncoding(d.File.Encoding)
		if err != nil {
			*f = append(*f, &noren.Error{Kind: noren.Usage, Where: "file.encoding", Err: err})
		} else if e > csvio.ShiftJIS {
			f.add("", "file.encoding", noren.Textf("expected utf-8 or shift_jis, got %s", e),
				"the cell rule %s reads no other encodings: save the file as UTF-8", Rule)
		}
	default:
		f.add("", "file.kind", noren.Textf("expected csv or parquet, got %q", d.File.Kind), "")
	}
}

func (d *Definition) validateColumns(f *faults) {
	if n := len(d.Columns); n == 0 || n > maxColumns {
		f.add("", "columns", noren.Textf("expected 1 to %d columns, got %d", maxColumns, n), "list every column of the file")
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		where := noren.Textf("column %s", c.Name)
		if c.Name == "" {
			f.add("", "columns", noren.Textf("a column has no name"), "")
			continue
		}
		f.text(where, c.Name)
		if i > 0 && d.Columns[i-1].Name == c.Name {
			f.add("", where, noren.Textf("is defined twice"), "")
		}
		kind, err := table.ParseType(c.Type)
		if err != nil {
			f.add("", where, noren.TextOf(err), "")
			continue
		}
		d.validateColumn(f, c, kind, where)
	}
}

func (d *Definition) validateColumn(f *faults, c *Column, kind table.Type, where any) {
	if kind == table.Date {
		if err := table.Layout(c.Layout).Validate(); err != nil {
			f.add("", where, noren.TextOf(err), "")
			return
		}
	} else if c.Layout != "" {
		f.add("", where, noren.Textf("a layout is for dates, and the column is %s", kind), "")
	}
	if kind == table.Ordered {
		if len(c.Levels) == 0 {
			f.add("", where, noren.Textf("an ordered column needs its levels, from lowest to highest"), "")
		}
		d.distinct(f, noren.Place{where, noren.Phrase("levels")}, c.Levels)
	} else if len(c.Levels) > 0 {
		f.add("", where, noren.Textf("levels are for an ordered column, and this one is %s", kind), "")
	}
	if len(c.Bounds) > 0 {
		d.validateBounds(f, c, kind, where)
	}
	if len(c.Keys) > 0 {
		switch kind {
		case table.Category:
		case table.Ordered:
			levels := make(map[string]bool, len(c.Levels))
			for _, l := range c.Levels {
				levels[l] = true
			}
			for i, k := range c.Keys {
				if !levels[k] {
					f.add("", where, noren.Textf("key %d is not one of its levels", i+1), "")
				}
			}
		default:
			f.add("", where, noren.Textf("keys are for a category or ordered column, and this one is %s", kind), "")
		}
		d.distinct(f, noren.Place{where, noren.Phrase("keys")}, c.Keys)
	}
}

func (d *Definition) validateBounds(f *faults, c *Column, kind table.Type, where any) {
	if fault := BoundsFault(table.Field{Type: kind, Layout: table.Layout(c.Layout)}, d.Missing, c.Bounds); !fault.IsZero() {
		f.add("", where, fault, "")
	}
}

// BoundsFault says why bounds cannot be those of a column; it is no text where they can.
func BoundsFault(column table.Field, missing, bounds []string) noren.Text {
	if !column.Type.IsNumber() {
		return noren.Textf("bounds are for an integer, decimal or date column, and this one is %s", column.Type)
	}
	if len(bounds) != 2 {
		return noren.Textf("expected two bounds, got %d", len(bounds))
	}
	// One column of both, as the cells of the column are read.
	b, err := table.NewBuilder(table.Field{Type: column.Type, Layout: column.Layout}, missing)
	if err != nil {
		return noren.TextOf(err)
	}
	for i, text := range bounds {
		if b.IsMissing([]byte(text)) {
			return noren.Textf("bound %d is a text that means a missing value", i+1)
		}
		if err := b.Append([]byte(text)); err != nil {
			return noren.Textf("bound %d: %v", i+1, err)
		}
	}
	v := b.Column()
	if rising := v.Ints == nil && v.Floats[0] < v.Floats[1] || v.Ints != nil && v.Ints[0] < v.Ints[1]; !rising {
		return noren.Textf("the lower bound is not below the upper")
	}
	return noren.Text{}
}

// distinct refuses texts that are empty, mean a missing value or occur twice.
// The missing texts are sorted.
func (d *Definition) distinct(f *faults, where any, texts []string) {
	seen := make(map[string]bool, len(texts))
	for i, text := range texts {
		f.text(where, text)
		_, missing := slices.BinarySearch(d.Missing, text)
		switch {
		case text == "" || missing:
			f.add("", where, noren.Textf("text %d means a missing value", i+1), "take it out here or from the missing texts")
		case seen[text]:
			f.add("", where, noren.Textf("text %d occurs twice", i+1), "")
		}
		seen[text] = true
	}
}

func (d *Definition) validateUnit(f *faults) {
	n, err := account.ParseNeighbours(d.Neighbours)
	if err != nil {
		*f = append(*f, err)
	}
	f.text("unit", d.Unit)
	record := d.Unit == account.Record
	if !record && d.Column(d.Unit) == nil {
		*f = append(*f, d.missingColumn(d.Unit))
	}
	exact := err == nil && n == account.ReplaceOne && record
	switch {
	case d.Records < 0 || exact && d.Records == 0:
		f.add("", "records", noren.Textf("replace-one neighbours of one record need the exact number of records, at least 1"),
			"the number is public under this relation")
	case !exact && d.Records != 0:
		f.add("", "records", noren.Textf("an exact number of records is public only for replace-one neighbours of one record"),
			"leave it out, and give an upper bound")
	}
	switch {
	case d.AtMost < 1 || d.AtMost > MostRecords:
		f.add("", "at_most", noren.Textf("expected 1 to %d records, got %d", MostRecords, d.AtMost), "")
	case d.Records > 0 && d.AtMost != d.Records:
		f.add("", "at_most", noren.Textf("expected the exact number of records, %d, got %d", d.Records, d.AtMost), "leave it out")
	}
}

func (d *Definition) validateModel(f *faults) {
	m := d.Model
	if m == nil {
		return
	}
	if d.Unit != account.Record || d.Neighbours != account.ReplaceOne.String() {
		f.add("model", "model", noren.Textf("needs replace-one neighbours and the unit record"), "")
	}
	if c := d.Column(m.Column); c == nil {
		*f = append(*f, d.missingColumn(m.Column))
	} else if c.Type != table.Ordered.String() || !slices.Equal(c.Levels, m.States) {
		f.add("model", noren.Textf("column %s", c.Name), noren.Textf("expected an ordered column whose levels are the states of the model"),
			"leave out its type and levels")
	}
	if len(m.States) == 0 {
		f.add("model", "model.states", noren.Textf("expected at least one state"), "")
	}
	d.distinct(f, "model.states", m.States)
	if len(m.States) > 0 && !slices.Contains(m.States, m.Other) {
		f.add("model", "model.other", noren.Textf("is not one of the states"), "leave it out for the first state")
	}
	if text, err := certificate.Canonical(m.Distribution); err != nil || text[0] != '{' {
		f.add("model", "model.distribution", noren.Textf("expected a JSON object"), "")
	}
}

// missingColumn is the error for a column that does not exist.
func (d *Definition) missingColumn(name string) error {
	e := &noren.Error{Kind: noren.Usage, Code: "column-missing", Where: noren.Textf("column %s", name), What: "does not exist"}
	names := make([]string, len(d.Columns))
	for i := range d.Columns {
		names[i] = d.Columns[i].Name
	}
	best := table.Nearest(name, names)
	switch {
	case best != "":
		e.Hinted("did you mean %s?", best)
	case len(names) > 20:
		e.Hinted("the table has %d {column|columns}", len(names))
	default:
		e.Hinted("the columns are %s", strings.Join(names, ", "))
	}
	return e
}
