package service

import (
	"context"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/parquetio"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Inspect reads a whole table and describes its columns: type, number of values, range
// and a proposed role with its reason. The result is private. Errors are of kind Usage,
// or of reading the table.
func (s *Service) Inspect(ctx context.Context, r *api.InspectRequest) (*api.Inspection, error) {
	found, err := s.inspect(ctx, &r.Table)
	if err != nil {
		return nil, err
	}
	return found.inspection(r.Input), nil
}

// inspected is what was found of a table.
type inspected struct {
	*infer.Report
	spec   *spec.Spec
	hidden *api.Hidden // nil where nothing is
	form   api.TableForm
}

// inspection is what was found of a table, in the form of the interface.
func (found *inspected) inspection(input string) *api.Inspection {
	out := &api.Inspection{
		Schema: api.InspectSchema, Private: "do not release", Input: input, Rows: found.Rows,
		Missing: append([]string{}, found.Missing...), Form: found.form, Hidden: found.hidden,
	}
	for _, c := range found.Columns {
		out.Columns = append(out.Columns, api.InspectedColumn{
			Name: c.Field.Name, Type: c.Field.Type.String(), TypeReason: c.TypeReason.Text,
			Format: string(c.Field.Layout) + string(c.Field.Number), Order: c.Field.Levels,
			Role: c.Field.Role.String(), RoleReason: c.RoleReason.Text,
			Distinct: c.Distinct, Estimated: c.Estimated, Unique: c.Unique, Missing: c.Missing,
			Smallest: c.Smallest, Largest: c.Largest, Unit: c.Unit,
			TypeWhy: c.TypeReason, RoleWhy: c.RoleReason,
		})
	}
	return out
}

// Propose reads a whole table and proposes a specification of it by [spec.Propose].
// Errors are those of [Service.Inspect].
func (s *Service) Propose(ctx context.Context, r *api.ProposeRequest) (*api.Proposal, error) {
	found, err := s.inspect(ctx, &r.Table)
	if err != nil {
		return nil, err
	}
	in := found.spec.Input
	// What the path says wins, as it did for reading.
	in = (&spec.Spec{Input: in}).With(&spec.Spec{Input: toldInput(r.Input)}).Input
	if in.Query != "" && r.Output != "" {
		// A specification names files from its own folder.
		if relative, err := filepath.Rel(filepath.Dir(r.Output), in.Query); err == nil {
			in.Query = filepath.ToSlash(relative)
		}
	}
	o := spec.ProposeOptions{Input: in, Undecided: found.hidden != nil && !found.hidden.Decided, UndecidedTotals: found.form.Totals > 0 &&
		found.form.TotalsPolicy == "", Use: r.Use, Lang: s.Lang}
	if r.Ask != nil {
		answers, err := r.Ask(found.inspection(r.Input))
		if err != nil {
			return nil, err
		}
		o.Answers = (*spec.Answers)(answers)
		if err := o.Answers.Check(found.Report); err != nil {
			return nil, err
		}
	}
	return &api.Proposal{Specification: spec.Propose(found.Report, o)}, nil
}

// toldInput is what the path of a workbook says of how it is read, as a specification says it.
func toldInput(path string) spec.Input {
	told := file.Told(path)
	return spec.Input{Sheet: told.Sheet, HeaderRow: told.HeaderRow, Hidden: told.Hidden.String(), Totals: told.Totals.String()}
}

// inspect infers the columns of a whole table.
func (s *Service) inspect(ctx context.Context, t *api.Table) (*inspected, error) {
	sp, err := specOf(t)
	if err != nil {
		return nil, err
	}
	src, err := s.openLooked(ctx, t.Input, sp)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	o := infer.Options{Formats: true, Progress: s.Progress}
	if len(sp.Input.Missing) > 0 {
		o.Missing = sp.Input.Missing
	}
	found, err := infer.Infer(ctx, src, o)
	if err != nil {
		return nil, err
	}
	switch of := src.(type) {
	case *csvio.Source:
		if sp.Input.Totals == "" { // else it was said before
			s.noteTotals(src, of.TotalsNote(), false)
		}
	case *parts.Source:
		if sp.Input.Totals == "" {
			s.noteTotals(src, table.NoteOfTotals(of.Totals(), false), false)
		}
	case *parquetio.Source:
		s.note(api.Info, "totals-unread", "%s: rows of totals or notes are not looked for in a Parquet file: each row is a record",
			table.PlaceOf(src))
	}
	if found.Rows == 0 {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: table.PlaceOf(src), What: "the table has no records",
			Hint: "there is nothing to infer its columns from",
		}
	}
	return &inspected{Report: found, spec: sp, hidden: hiddenOf(src), form: tableForm(src, &sp.Input)}, nil
}

// tableForm is how a table was read, as in states it and as it was found.
func tableForm(src file.Source, in *spec.Input) api.TableForm {
	switch of := src.(type) {
	case *xlsx.Source:
		return api.TableForm{
			Sheet: of.Sheet, Sheets: of.Sheets, HeaderRow: of.Header, Totals: of.Totals(),
			TotalsPolicy: of.TotalsPolicy.String(),
		}
	case *csvio.Source:
		d := of.Dialect()
		f := api.TableForm{
			HeaderRow: of.HeaderRow(), Delimiter: string(d.Delimiter), Encoding: d.Encoding.String(), Totals: of.Totals(),
			TotalsPolicy: in.Totals,
		}
		if d.Delimiter == '\t' {
			f.Delimiter = "tab"
		}
		return f
	}
	if of, ok := src.(*parts.Source); ok && of.Totals() > 0 {
		return api.TableForm{Totals: of.Totals(), TotalsPolicy: in.Totals}
	}
	return api.TableForm{}
}

// hiddenOf is what a table hides; nil where it hides nothing.
func hiddenOf(src file.Source) *api.Hidden {
	of, ok := src.(*xlsx.Source)
	if !ok || !of.Hidden.Any() {
		return nil
	}
	return &api.Hidden{
		Rows: of.Hidden.Rows, Columns: append([]string{}, of.Hidden.Columns...), Left: of.Policy == xlsx.Leave,
		Decided: of.Policy != xlsx.Look,
	}
}
