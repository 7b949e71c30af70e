package spec

import (
	"context"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// Reading says how [Spec.ResolveSource] and [Spec.ResolveRelease] look at the values of
// a table. The zero value is ready for use.
type Reading struct {
	// Progress receives the progress of looking at values. Optional.
	Progress noren.Progress
	// Notes receives what was decided by looking at values. Optional.
	Notes Notes
	// Sensitive looks at the sensitive columns for texts that stand for a missing value,
	// where the specification does not state these texts.
	Sensitive bool
	// Release says that the table is released: kept numbers that leave otherwise than they are written are noted.
	Release bool
}

// Resolved is a specification laid over a table.
type Resolved struct {
	// Source is the table with plain numbers: columns in a number format are rewritten.
	Source file.Source
	// Schema has one field for each column of Source, in order.
	Schema *table.Schema
	// Missing are the texts that stand for a missing value, beside the empty text.
	Missing []string
	// Looked is what was found about the columns that were looked at. Nil where there
	// were none, or for a release.
	Looked *infer.Report
	// Formats are the number formats of the table as it is written, by column.
	Formats map[string]table.NumberFormat
}

// Codes of errors about what a specification leaves open.
const (
	// CodeNoQuasi: no column has the role quasi-identifier.
	CodeNoQuasi = "no-quasi-identifier"
	// CodeMissingUnclear: a text is missing in one column and a value in another.
	CodeMissingUnclear = "missing-unclear"
)

// QuasiNames are the names of the quasi-identifiers. An error of kind Usage with the
// code [CodeNoQuasi] says that there are none.
func (r *Resolved) QuasiNames() ([]string, error) {
	names := r.Schema.Names(table.Quasi)
	if len(names) == 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: CodeNoQuasi, What: "no column is a quasi-identifier",
			Hint: "name the columns that others may know, with role: quasi-identifier",
		}
	}
	return names, nil
}

// Fields are the fields of one role, in the order of the columns.
func (r *Resolved) Fields(role table.Role) []table.Field {
	var fields []table.Field
	for _, i := range r.Schema.WithRole(role) {
		fields = append(fields, r.Schema.Fields[i])
	}
	return fields
}

// Kept are the names of the columns whose role s states to be other.
func (s *Spec) Kept() []string {
	var names []string
	for _, name := range s.sortedColumns() {
		if s.Columns[name].Role == table.Other.String() {
			names = append(names, name)
		}
	}
	return names
}

// Open are the names of the columns that a specification from a file names without a role: [Propose]
// writes those so of which nothing tells what they hold, and the steward has to decide.
func (s *Spec) Open() []string {
	if s.name == "" {
		return nil
	}
	var names []string
	for _, name := range s.sortedColumns() {
		if s.Columns[name].Role == "" {
			names = append(names, name)
		}
	}
	return names
}

// statesMissing reports whether s states which texts stand for a missing value: a
// specification that was read from a file states it even where it names none.
func (s *Spec) statesMissing() bool { return s.name != "" || s.Input.Missing != nil }

// resolution is a specification while it is laid over a source. Texts that are found to
// stand for missing values are added to its own copy.
type resolution struct {
	Spec
	how Reading
}

func (s *Spec) resolution(how Reading) *resolution {
	r := &resolution{Spec: *s, how: how}
	r.Input.Missing = slices.Clone(s.Input.Missing)
	return r
}

// ResolveWritten lays s over a table and leaves its numbers as they are written: fields
// of the schema keep their number formats. Types that s does not state are inferred from
// the values. So are the texts that stand for missing values where s states none. Errors
// are of kind Usage (all faults of s at once) or those of reading src.
func (s *Spec) ResolveWritten(ctx context.Context, src file.Source, how Reading) (*Resolved, error) {
	return s.resolution(how).written(ctx, src)
}

func (r *resolution) written(ctx context.Context, src file.Source) (*Resolved, error) {
	out := &Resolved{Source: src}
	var err error
	out.Schema, err = r.Resolve(src.Columns(), func(untyped []int) ([]table.Field, error) {
		report, err := r.look(ctx, src, untyped)
		if err != nil {
			return nil, err
		}
		out.Looked = report
		return fieldsAt(report, untyped), nil
	}, r.hierarchy)
	if err != nil {
		return nil, err
	}
	out.Missing = r.Input.Missing
	return out, nil
}

// ResolveSource is [Spec.ResolveWritten] for a table that is to be released or measured:
// columns in a number format are rewritten with plain numbers.
func (s *Spec) ResolveSource(ctx context.Context, src file.Source, how Reading) (*Resolved, error) {
	r := s.resolution(how)
	out, err := r.written(ctx, src)
	if err != nil {
		return nil, err
	}
	out.Formats = map[string]table.NumberFormat{}
	for _, f := range out.Schema.Fields {
		if f.Number == "" {
			continue
		}
		out.Formats[f.Name] = f.Number
		switch {
		case s.Columns[f.Name].Format == "":
			how.Notes.add(Note{
				Code: NoteNumberFormat, Columns: []string{f.Name},
				Text: noren.Textf("column %s: numbers are read as %s and written plain", f.Name, f.Number),
			})
		case how.Release && f.Role == table.Other:
			how.Notes.add(Note{
				Code: NoteKeptNumbers, Columns: []string{f.Name},
				Text: noren.Textf("column %s is kept, and its numbers are written plain, not as %s", f.Name, f.Number),
			})
		}
	}
	written := out.Schema.Fields
	plain, fields, err := file.WithNumbers(src, written)
	if err != nil {
		return nil, err
	}
	out.Source, out.Schema = plain, &table.Schema{Fields: fields}
	if out.Looked != nil { // a column that is rewritten, or kept as text, is looked at again
		out.Looked.Columns = slices.DeleteFunc(out.Looked.Columns,
			func(c infer.Column) bool { return c.Field.Number != "" || written[c.Position].Number != "" })
	}
	if how.Sensitive && !s.statesMissing() {
		if err := r.settleSource(ctx, plain, out.Schema); err != nil {
			return nil, err
		}
		out.Missing = r.Input.Missing
	}
	return out, nil
}

// fieldsAt are the fields of a report for the columns at these positions.
func fieldsAt(report *infer.Report, positions []int) []table.Field {
	fields := make([]table.Field, 0, len(positions))
	for _, at := range positions {
		for i := range report.Columns {
			if report.Columns[i].Position == at {
				fields = append(fields, report.Columns[i].Field)
			}
		}
	}
	return fields
}

func (r *resolution) hierarchy(path string) (*table.Hierarchy, error) {
	return LoadHierarchy(path, r.how.Notes)
}

// look infers the columns whose type is wanted and those that the specification does
// not name, which may turn out to be identifiers.
func (r *resolution) look(ctx context.Context, src table.Source, untyped []int) (*infer.Report, error) {
	o := infer.Options{Formats: true, Progress: r.how.Progress}
	if r.statesMissing() {
		o.Missing = append([]string{}, r.Input.Missing...)
	}
	for i, c := range src.Columns() {
		if _, named := r.Columns[c.Name]; !named || slices.Contains(untyped, i) {
			o.Columns = append(o.Columns, i)
		}
	}
	report, err := infer.Infer(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if o.Missing == nil {
		r.addMissing(report.Missing)
	}
	return report, nil
}

// addMissing takes texts for missing values and notes it.
func (r *resolution) addMissing(texts []string) {
	if len(texts) == 0 {
		return
	}
	r.Input.Missing = append(r.Input.Missing, texts...)
	slices.Sort(r.Input.Missing)
	r.how.Notes.add(Note{Code: NoteMissing, Text: noren.Textf("taken for missing values: %s", strings.Join(texts, ", "))})
}

// NoteIndex notes the columns that are dropped because they are the row index of the
// tool that wrote the file.
func (s *Spec) NoteIndex(columns []table.StoredColumn, notes Notes) {
	for _, c := range columns {
		if _, named := s.Columns[c.Name]; !named && c.Index {
			notes.add(Note{
				Code: NoteRowIndex, Columns: []string{c.Name},
				Text: noren.Textf("%s is dropped: it is the row index of pandas, which can link the release to the source", c.Name),
			})
		}
	}
}

// NoteKept notes the columns without a stated role that are kept as they are: all that are
// neither dropped nor among undecided, which refuse the release.
func (s *Spec) NoteKept(schema *table.Schema, undecided []string, notes Notes) {
	var kept []string
	for _, f := range schema.Fields {
		if s.Columns[f.Name].Role == "" && f.Role == table.Other && !slices.Contains(undecided, f.Name) {
			kept = append(kept, f.Name)
		}
	}
	if len(kept) > 0 {
		notes.add(Note{Code: NoteKept, Columns: kept, Text: noren.Textf("kept untouched: %s", strings.Join(kept, ", "))})
	}
}

// CodeUntyped is the code of errors about columns whose type must be stated.
const CodeUntyped = "untyped"

// ResolveStated is [Spec.ResolveSource] without a look at any value, for one file of a
// table whose other files are not at hand: what s does not state of a quasi-identifier's
// type, and of texts that stand for missing values, is not inferred. It refuses
// quasi-identifiers without a type.
func (s *Spec) ResolveStated(src file.Source, notes Notes) (written []table.Field, out *Resolved, err error) {
	r := s.resolution(Reading{Notes: notes})
	var untyped []string
	schema, err := r.Resolve(src.Columns(), func(columns []int) ([]table.Field, error) {
		for _, i := range columns {
			if name := src.Columns()[i].Name; s.Columns[name].Role != table.Sensitive.String() {
				untyped = append(untyped, name)
			}
		}
		return make([]table.Field, len(columns)), nil
	}, r.hierarchy)
	if err != nil {
		return nil, nil, err
	}
	if len(untyped) > 0 {
		return nil, nil, &noren.Error{
			Kind: noren.Usage, Code: CodeUntyped, Where: table.PlaceOf(src),
			What: "expected a stated type for each quasi-identifier, got none for %s: types are not inferred from one of several files", Args: []any{
				strings.Join(untyped, ", "),
			},
			Hint: "state each as integer, decimal, date, ordered or category",
		}
	}
	plain, fields, err := file.WithNumbers(src, schema.Fields)
	if err != nil {
		return nil, nil, err
	}
	return schema.Fields, &Resolved{Source: plain, Schema: &table.Schema{Fields: fields}, Missing: s.Input.Missing}, nil
}
