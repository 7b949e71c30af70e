package service

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/spool"
	"github.com/noren-privacy/noren/table/xlsx"
)

// specOf is the specification of a table: that of its file with that of the request laid
// over it.
func specOf(t *api.Table) (*spec.Spec, error) {
	if t.Input == "" {
		return nil, noren.Usagef("input", "expected a table, got no name")
	}
	base := &spec.Spec{Version: spec.Version}
	if t.SpecFile != "" {
		var err error
		if base, err = spec.Load(t.SpecFile); err != nil {
			return nil, err
		}
	}
	switch {
	case t.Spec == nil:
		return base, nil
	case t.SpecFile == "":
		return t.Spec, nil
	}
	return base.With(t.Spec), nil
}

// resolved is an open table with a specification laid over it. Its caller closes it.
type resolved struct {
	*spec.Resolved
	src   file.Source // as it was opened
	quasi []string    // at least one
}

func (r *resolved) close() { closeTable(r.src) }

// openResolved opens a table in a form, and lays a specification over it by resolve. A table
// without a quasi-identifier is refused.
func (s *Service) openResolved(ctx context.Context, name string, form file.Options, how spec.Reading,
	resolve func(context.Context, file.Source, spec.Reading) (*spec.Resolved, error),
) (*resolved, error) {
	src, err := s.openForm(ctx, name, form)
	if err != nil {
		return nil, err
	}
	r := &resolved{src: src}
	if r.Resolved, err = resolve(ctx, src, how); err == nil {
		r.quasi, err = r.QuasiNames()
	}
	if err != nil {
		closeTable(src)
		return nil, err
	}
	return r, nil
}

// openMeasured opens a table that is measured and not released ([Service.openLooked]), with
// the specification laid over it.
func (s *Service) openMeasured(ctx context.Context, name string, as *spec.Spec) (*resolved, error) {
	form, err := as.CheckedForm()
	if err != nil {
		return nil, err
	}
	return s.openResolved(ctx, name, looked(form), s.reading(), as.ResolveSource)
}

// openLooked opens a table that is looked at and not released: hidden rows and columns, and
// rows of totals or notes, of which nothing was decided are read, and a note says so.
func (s *Service) openLooked(ctx context.Context, name string, as *spec.Spec) (file.Source, error) {
	o, err := as.CheckedForm()
	if err != nil {
		return nil, err
	}
	return s.openForm(ctx, name, looked(o))
}

// looked is the form of a table that is looked at.
func looked(o file.Options) file.Options {
	if o.Hidden == xlsx.Undecided {
		o.Hidden = xlsx.Look
	}
	if o.Totals == xlsx.Undecided {
		o.Totals = xlsx.Look
	}
	return o
}

// openRelease opens a release, or another table that is compared with one.
func (s *Service) openRelease(ctx context.Context, name string, formulas formula.Choice) (file.Source, error) {
	return s.openForm(ctx, name, looked(file.Options{Formulas: formulas}))
}

// openForm opens a table and notes how it is read where its form is not plain.
func (s *Service) openForm(ctx context.Context, name string, o file.Options) (file.Source, error) {
	o.Progress = s.Progress
	var src file.Source
	var err error
	switch {
	case name != "-":
		src, err = file.Open(ctx, name, o)
	case s.Stdin == nil:
		return nil, noren.Usagef("input", "expected a file, got - without a standard input")
	default:
		src, err = file.OpenStdin(ctx, s.Stdin, o)
	}
	if err != nil {
		return nil, err
	}
	if counted, ok := src.(interface {
		CountTotals(ctx context.Context) (int64, error)
	}); ok && isDecided(o.Totals) && !o.Plain {
		if _, err := counted.CountTotals(ctx); err != nil {
			closeTable(src)
			return nil, err
		}
	}
	s.noteForm(src, o.Totals == xlsx.Leave)
	if err := s.totalsOfDatabase(src, o.Totals); err != nil {
		closeTable(src)
		return nil, err
	}
	return src, nil
}

// totalsOfDatabase warns of rows of a table of a database that look like totals or notes: they are read,
// as such a table is read as it is.
func (s *Service) totalsOfDatabase(src file.Source, policy xlsx.Policy) error {
	of, ok := src.(*spool.Source)
	switch {
	case !ok || of.Totals() == 0:
	case policy == xlsx.Leave:
		return &noren.Error{
			Kind: noren.Usage, Code: codeTotalsOfDatabase, Where: table.PlaceOf(src),
			What: "%d {row looks|rows look} like totals or notes, and a table of a database is read as it is", Args: []any{of.Totals()},
			Hint: "leave them out by a query",
		}
	case policy == xlsx.Read:
		s.noteTotals(src, table.NoteOfTotals(of.Totals(), false), true)
	default:
		s.note(api.Warning, codeTotalsOfDatabase, "%s: %s", table.PlaceOf(src), table.NoteOfTotals(of.Totals(), false))
	}
	return nil
}

// codeTotalsOfDatabase is the code of what is said of rows of totals in a table of a database.
const codeTotalsOfDatabase = "totals-database"

// noteForm notes how a table is read where its form is not plain; rows of totals and notes that were
// counted are left out or read.
func (s *Service) noteForm(src file.Source, left bool) {
	s.noteHidden(src)
	switch of := src.(type) {
	case *csvio.Source: // its rows were counted where they are decided on
		s.noteTotals(src, of.TotalsNote(), true)
		if notes := of.Notes(); len(notes) > 0 {
			s.note(api.Info, "text-form", "%s: %s", table.PlaceOf(src), noren.Texts(notes))
		}
	case *parts.Source: // each note names its file
		s.noteTotals(src, table.NoteOfTotals(of.Totals(), left), true)
		for _, note := range of.Notes() {
			s.note(api.Info, "text-form", "%s", note)
		}
	}
}

// noteHidden warns of what a workbook hides, of its rows of totals or notes, and of names that were
// found below a title.
func (s *Service) noteHidden(src file.Source) {
	if of, ok := src.(*xlsx.Source); ok {
		for _, note := range of.FileNotes() {
			if isDecided(of.Policy) && note.Equal(of.Hidden.Note(of.Policy)) {
				s.note(api.Info, "hidden-decided", "%s: %s", table.PlaceOf(src), note)
			} else {
				s.note(api.Warning, "hidden", "%s: %s", table.PlaceOf(src), note)
			}
		}
		s.noteTotals(src, of.TotalsNote(), isDecided(of.TotalsPolicy))
		if note := of.HeaderNote(); !note.IsZero() {
			s.note(api.Info, "text-form", "%s: %s", table.PlaceOf(src), note)
		}
	}
}

// isDecided reports whether the steward said what becomes of rows or columns.
func isDecided(p xlsx.Policy) bool { return p == xlsx.Read || p == xlsx.Leave }

// noteTotals says what becomes of rows of totals and notes: a warning where that is to be decided.
func (s *Service) noteTotals(src file.Source, note noren.Text, decided bool) {
	switch {
	case note.IsZero():
	case decided:
		s.note(api.Info, "totals-decided", "%s: %s", table.PlaceOf(src), note)
	default:
		s.note(api.Warning, "totals", "%s: %s", table.PlaceOf(src), note)
	}
}

func closeTable(src file.Source) { _ = src.Close() }

// reading says how a specification is resolved against a table.
func (s *Service) reading() spec.Reading {
	return spec.Reading{Progress: s.Progress, Notes: s.tableNotes()}
}

// tableNotes passes on notes of package spec.
func (s *Service) tableNotes() spec.Notes {
	return func(n spec.Note) { s.columnNote(api.Info, n.Code, n.Columns, n.Text) }
}

// targets refuses files to be written that are inputs or would be read with them, are
// the same file, cannot be written, or exist and must not be replaced.
func (s *Service) targets(ctx context.Context, inputs []string, force bool, paths ...string) error {
	places := make([]string, len(inputs))
	for i, input := range inputs {
		places[i] = file.Place(input)
		if places[i] == "" {
			places[i] = input // a table at a server, whose name tells it apart
		}
	}
	if err := atomicfile.Apart(places, paths...); err != nil {
		return err
	}
	for _, input := range inputs {
		if err := apartParts(ctx, input, paths); err != nil {
			return err
		}
	}
	if in, ok := s.Stdin.(*os.File); ok && slices.Contains(inputs, "-") {
		if err := atomicfile.ApartFrom(in, paths...); err != nil {
			return err
		}
	}
	for _, p := range paths {
		var err error
		switch {
		case p == "" || p == "-":
		case file.IsDatabase(p):
			err = file.CheckTarget(ctx, p, force)
		default:
			err = atomicfile.Check(p, force)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apartParts is [atomicfile.Apart] for an input of several files: no target is one of
// them or lies in their folder.
func apartParts(ctx context.Context, input string, paths []string) error {
	if !file.IsParts(input) {
		return nil
	}
	found, err := file.Parts(ctx, input)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if p == "" || p == "-" || file.IsDatabase(p) {
			continue
		}
		if err := atomicfile.Apart(found, p); err != nil {
			return err
		}
		if info, err := os.Stat(input); err == nil && info.IsDir() {
			if err := atomicfile.ApartFolder(p, input); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePrivate writes a file that was computed from private data, whole or not at all.
// Only its owner may read it.
func writePrivate(path string, force bool, write func(io.Writer) error) error {
	f, err := atomicfile.CreatePrivate(path, force)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// footer is the last line of pages.
func (s *Service) footer() string { return strings.TrimSpace(s.Tool.Name + " " + s.Tool.Version) }
