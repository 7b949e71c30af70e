package service

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/xlsx"
)

// LeastMemory is the least memory of a release: the program itself needs as much.
const LeastMemory = 64 << 20

// Anonymize releases a k-anonymous table, with a page and a certificate where the
// request names them. Every file is created only after the release was read back and
// verified; after an error there is none. The guarantee is that of [kanon.Anonymize].
// Errors are those of [kanon.Anonymize], or of kind Usage about a field of the request.
func (s *Service) Anonymize(ctx context.Context, r *api.AnonymizeRequest) (*api.Release, error) {
	if r.Output == "" {
		return nil, noren.Usagef("output", "expected a file, got no name")
	}
	job, sp, done, err := s.releaseJob(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	if job.Output, err = releaseOutput(ctx, r, sp, job.Source); err != nil {
		return nil, err
	}
	out := &api.Release{}
	if err := s.release(ctx, r, sp, job, out); err != nil {
		return nil, err
	}
	out.Input = r.Input
	sp.NoteKept(&job.Schema, nil, s.tableNotes())
	s.noteRelease(&out.Result)
	return out, nil
}

// AnonymizePlan says what [Service.Anonymize] would do with a request: what it would
// read, which columns it would drop, transform and keep, and which need a decision. It
// reads the table, makes no groups and writes nothing. The output may be left out.
// Errors are those that Anonymize returns before it makes groups.
func (s *Service) AnonymizePlan(ctx context.Context, r *api.AnonymizeRequest) (*api.ReleasePlan, error) {
	job, sp, done, err := s.releaseJob(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	job.Output.Path, job.Output.Stdout, job.Progress = r.Output, r.Stdout, s.Progress
	plan, err := kanon.Outline(ctx, *job)
	if err != nil {
		return nil, err
	}
	var undecided []string
	for _, c := range plan.Undecided {
		undecided = append(undecided, c.Column)
	}
	sp.NoteKept(&job.Schema, undecided, s.tableNotes())
	out := &api.ReleasePlan{Schema: api.ReleasePlanSchema, Plan: *plan, Missing: append([]string{}, job.Missing...)}
	out.Input = r.Input
	for i := range job.Schema.Fields {
		f := &job.Schema.Fields[i]
		c := api.ReadColumn{Column: f.Name, Type: f.Type.String()}
		if f.Hierarchy != nil {
			c.Hierarchy = f.Hierarchy.Name()
		}
		out.Read = append(out.Read, c)
	}
	return out, nil
}

// releaseJob is the job of a request, without its output, and the specification that it
// follows. The caller calls done.
func (s *Service) releaseJob(ctx context.Context, r *api.AnonymizeRequest) (job *kanon.Job, sp *spec.Spec, done func(), err error) {
	if sp, err = s.checkRelease(ctx, r); err != nil {
		return nil, nil, nil, err
	}
	options, err := sp.Options()
	if err != nil {
		return nil, nil, nil, err
	}
	if sp.Anonymize.K == 1 && sp.Anonymize.L <= 1 && sp.Anonymize.T == 0 {
		s.note(api.Warning, "k-one", "k = 1 protects nothing: every record may be alone in its class; 5 is usual")
	}
	options.Workers, options.Memory = r.Workers, r.Memory
	if err := setSeed(r, options); err != nil {
		return nil, nil, nil, err
	}
	limits := meter.From(ctx)
	limits.Held = max(r.Memory, limits.Held)
	ctx = meter.With(ctx, limits)
	// A workbook that hides rows or columns, or a table with rows of totals or notes, is refused
	// unless the specification decides on them: a text file with totals by its reader. A text file
	// whose first line looks like data is refused unless the specification states what the line is.
	form, err := sp.CheckedForm()
	if err != nil {
		return nil, nil, nil, err
	}
	how := s.reading()
	how.Sensitive = options.Diversity != nil || options.Closeness != nil
	how.Release = true
	read, err := s.openResolved(ctx, r.Input, form, how, func(ctx context.Context, src file.Source, how spec.Reading) (*spec.Resolved, error) {
		if r.CopyOfDatabase {
			src = file.ByRows(src)
		}
		read, err := sp.ResolveSource(ctx, src, how)
		if err == nil {
			s.noteReleased(r, sp, read)
		}
		return read, err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	job = &kanon.Job{
		Source: read.Source, Schema: *read.Schema, Missing: read.Missing, Kept: sp.Kept(), Open: sp.Open(), Looked: read.Looked,
		Options: *options,
	}
	return job, sp, read.close, nil
}

// checkRelease refuses a request that contradicts itself, before any work is done, and
// returns its specification.
func (s *Service) checkRelease(ctx context.Context, r *api.AnonymizeRequest) (*spec.Spec, error) {
	switch {
	case r.Output == "-" && r.Stdout == nil:
		return nil, noren.Usagef("output", "expected a file, got - without a standard output")
	case r.Assess && (r.Output == "-" || file.IsDatabase(r.Output) || r.SplitRows > 0):
		return nil, noren.Usagef("assess", "needs a release in one file")
	case r.Report != "" && (r.Output == "-" || file.IsDatabase(r.Output)):
		return nil, noren.Usagef("report", "needs a release that can be read back").Hinted("release to a file")
	case r.SplitRows < 0:
		return nil, noren.Usagef("split-rows", "expected at least 1 record in a file, got %d", r.SplitRows)
	case r.SplitRows > 0 && (r.Output == "-" || file.IsDatabase(r.Output)):
		return nil, noren.Usagef("split-rows", "needs a folder to write to").Hinted("name a folder as the output, as in out/")
	case r.SplitRows > 0 && r.Report != "":
		return nil, noren.Usagef("report", "needs a release in one file").Hinted("assess the folder after the release")
	case r.SplitRows == 0 && file.IsParts(r.Output):
		return nil, noren.Usagef(noren.File(r.Output), "expected a file, got a folder or a pattern").Coded(CodeNeedsSplit).
			Hinted("state the number of records of a file")
	case r.Workers < 0:
		return nil, noren.Usagef("workers", "expected 0 or more")
	case r.Memory < 0 || r.Memory > 0 && r.Memory < LeastMemory:
		return nil, noren.Usagef("memory", "expected %dMiB at least: the program itself needs as much", LeastMemory>>20)
	}
	if err := (earlier{r.Previous, r.PreviousSource, r.PreviousQuasi, r.PreviousCertificate}).
		check(r.Report != "", "needs a page (report)"); err != nil {
		return nil, err
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	inputs := append(sp.Files(), r.Input, r.Previous, r.PreviousSource)
	if r.SplitRows > 0 {
		if err := s.splitApart(ctx, r, inputs); err != nil {
			return nil, err
		}
		return sp, s.targets(ctx, inputs, r.Force, r.Certificate)
	}
	if err := s.targets(ctx, inputs, r.Force, r.Output, r.Report, r.ReportJapanese, r.Certificate); err != nil {
		return nil, err
	}
	if file.IsDatabase(r.Output) {
		return sp, nil
	}
	return sp, file.Check(r.Output)
}

// splitApart refuses a folder of results that is, holds or lies in an input, or that
// would hold the certificate: an earlier result is replaced as a whole.
func (s *Service) splitApart(ctx context.Context, r *api.AnonymizeRequest, inputs []string) error {
	folder := filepath.Dir(file.SplitPath(r.Output, nil))
	for _, input := range inputs {
		input = file.Place(input)
		paths, err := file.Parts(ctx, input)
		if err != nil {
			return err
		}
		if err := atomicfile.ApartFolder(folder, append(paths, input)...); err != nil {
			return err
		}
	}
	if err := parts.Vacant(folder, r.Force); err != nil {
		return err
	}
	if r.Certificate != "" && atomicfile.ApartFolder(folder, r.Certificate) != nil {
		return noren.Usagef("certificate", "expected a file outside of the folder of the release")
	}
	return nil
}

// release makes the release, its page and its certificate, and fills in made. The release
// is created last: there is none without its page and its certificate. Where it cannot be
// created, both are removed again and those that they replaced are back; a process that is
// killed in between leaves them without a release.
func (s *Service) release(ctx context.Context, q *api.AnonymizeRequest, sp *spec.Spec, job *kanon.Job, made *api.Release) error {
	var with atomicfile.Together
	verified := func(*kanon.Result, io.Reader) error { return nil }
	add := func(f *atomicfile.File, write func(r *kanon.Result, released io.Reader) error) {
		before := verified
		if f != nil {
			with = append(with, f)
		}
		verified = func(r *kanon.Result, released io.Reader) error {
			if err := before(r, released); err != nil {
				return err
			}
			if f, ok := released.(io.Seeker); ok {
				if _, err := f.Seek(0, io.SeekStart); err != nil {
					return &noren.Error{What: "the release cannot be read back", Err: err}
				}
			}
			return write(r, released)
		}
		job.Output.Verified = verified
	}
	if q.Report != "" || q.Assess {
		var out *atomicfile.File
		type page struct {
			in lang.Lang
			to io.Writer
		}
		var pages []page
		if q.Report != "" {
			var err error
			if out, err = atomicfile.CreatePrivate(q.Report, q.Force); err != nil {
				return err
			}
			defer out.Discard()
			pages = append(pages, page{s.Lang, out})
		}
		if q.Report != "" && q.ReportJapanese != "" {
			japanese, err := atomicfile.CreatePrivate(q.ReportJapanese, q.Force)
			if err != nil {
				return err
			}
			defer japanese.Discard()
			with, pages = append(with, japanese), append(pages, page{lang.Japanese, japanese})
		}
		job.Output.Classes = q.Previous != "" || q.Assess
		add(out, func(r *kanon.Result, released io.Reader) error {
			a, err := s.assessRelease(ctx, q, sp, job, r, released)
			if err != nil {
				return err
			}
			if q.Assess {
				made.Assessment, made.Scatter = a.result, a.scatter
			}
			if out == nil {
				return nil
			}
			written, err := s.releasePage(q, sp, job, r, released, a.result)
			for _, p := range pages {
				if err == nil {
					err = written.In(p.in).Write(p.to)
				}
			}
			return err
		})
	}
	if q.Assess {
		add(nil, func(_ *kanon.Result, released io.Reader) error {
			what, err := certificate.HashReader(ctx, released)
			made.SHA256 = what.SHA256
			return err
		})
	}
	if q.Certificate != "" {
		c, err := s.newCertifier(q.Certificate, q.Force)
		if err != nil {
			return err
		}
		c.manifest, c.notes = q.SplitRows > 0, q.Notes
		defer c.file.Discard()
		if file.IsDatabase(q.Output) {
			with = append(with, c.file)
			job.Output.VerifiedTable = func(r *kanon.Result, released table.Source) error { return c.verifiedTable(ctx, r, released) }
		} else {
			add(c.file, func(r *kanon.Result, released io.Reader) error { return c.verified(ctx, r, released) })
		}
	}
	job.Progress, job.Output.Ready = s.Progress, with.Commit
	result, err := kanon.Anonymize(ctx, *job)
	if err != nil {
		return withdrawn(with, q, err)
	}
	made.Result = *result
	return nil
}

// withdrawn removes what goes with a release that could not be made. Where a database may have
// made it, its certificate stays: the table is not there without it.
func withdrawn(with atomicfile.Together, q *api.AnonymizeRequest, err error) error {
	if noren.CodeOf(err) != file.CodeUncertain || len(with) == 0 {
		return with.Retract(err, q.Output)
	}
	return &noren.Error{
		Code: file.CodeUncertain, Where: noren.File(q.Output), What: "may have been made or not, and its certificate %s was made", Args: []any{
			noren.File(q.Certificate),
		}, Err: err,
		Hint: "check the table by the certificate; where there is no such table, remove the certificate and start again",
	}
}

// releaseOutput is where a release goes and how it is written.
func releaseOutput(ctx context.Context, r *api.AnonymizeRequest, sp *spec.Spec, src table.Source) (kanon.Output, error) {
	choice, err := sp.ReleaseFormulas()
	if err != nil {
		return kanon.Output{}, err
	}
	if file.IsDatabase(r.Output) {
		if r.OutputDelimiter != "" || r.OutputEncoding != "" {
			return kanon.Output{}, noren.Usagef("output-delimiter, output-encoding", "are for text files")
		}
		if choice == formula.Text {
			return kanon.Output{}, noren.Usagef("formulas", "is for text files: in a table of a database, a text is no formula")
		}
		t, err := file.NewTarget(ctx, r.Output, r.Force, "")
		return kanon.Output{Path: r.Output, Force: r.Force, Target: t}, err
	}
	if r.SplitRows > 0 {
		path := file.SplitPath(r.Output, src)
		d, err := outputDialect(r, path, src)
		if err != nil {
			return kanon.Output{}, err
		}
		d.Formulas = choice
		t, err := file.NewSplitTarget(path, file.SplitOptions{Rows: r.SplitRows, Replace: r.Force, Like: src, Dialect: d})
		return kanon.Output{Path: r.Output, Force: r.Force, Target: t, Dialect: d}, err
	}
	if r.Output != "-" { // standard output is CSV
		if err := file.Check(r.Output); err != nil {
			return kanon.Output{}, err
		}
	}
	d, err := outputDialect(r, r.Output, src)
	if err != nil {
		return kanon.Output{}, err
	}
	d.Formulas = choice
	return kanon.Output{Path: r.Output, Force: r.Force, Stdout: r.Stdout, Dialect: d}, nil
}

// outputDialect is how a text file of that name is written.
func outputDialect(r *api.AnonymizeRequest, path string, src table.Source) (*csvio.Dialect, error) {
	d := file.DialectFor(path, src)
	delimiter, err := csvio.ParseDelimiter(r.OutputDelimiter)
	if err != nil {
		return nil, badField("output-delimiter", err)
	}
	if delimiter != 0 {
		d.Delimiter = delimiter
	}
	encoding, err := csvio.ParseEncoding(r.OutputEncoding)
	if err != nil {
		return nil, badField("output-encoding", err)
	}
	if encoding != csvio.AnyEncoding {
		d.BOM = d.BOM && d.Encoding == encoding || encoding == csvio.UTF16LE || encoding == csvio.UTF16BE
		d.Encoding = encoding
	}
	return &d, nil
}

// noteReleased notes columns that are dropped as an index, and warns of kept columns that not
// every tool can read in the output.
func (s *Service) noteReleased(r *api.AnonymizeRequest, sp *spec.Spec, read *spec.Resolved) {
	sp.NoteIndex(read.Source.Columns(), s.tableNotes())
	if r.Output == "" {
		return
	}
	output := r.Output
	if r.SplitRows > 0 {
		output = file.SplitPath(output, read.Source)
	}
	for i, c := range read.Source.Columns() {
		if role := read.Schema.Fields[i].Role; role == table.Other || role == table.Sensitive {
			if what := file.Unreadable(output, &c); !what.IsZero() {
				s.columnNote(api.Warning, "unreadable-column", []string{c.Name}, noren.Textf("column %s of %s: %s", c.Name, noren.File(output), what))
			}
		}
	}
}

// Codes of the warnings about a release.
const (
	// NoteLooksMissing: a released value looks like a missing one.
	NoteLooksMissing = "looks-missing"
	// NoteUncounted: it is not known whether an identifier repeats.
	NoteUncounted = "identifier-uncounted"
	// NoteFormulas: texts that spreadsheets take for formulas leave as they are.
	NoteFormulas = "formulas"
	// NoteFormulasText: they are written as text.
	NoteFormulasText = "formulas-text"
	// NoteFormulasKept: a file without such a choice has some.
	NoteFormulasKept = "formulas-kept"
	// NoteRepeated: an identifier repeats, and records were counted, not persons.
	NoteRepeated = "identifier-repeats"
)

// CodeNeedsSplit is the code of errors about a folder or pattern as the output of a
// release in one file.
const CodeNeedsSplit = "needs-split"

// noteRelease warns of what a release leaves open.
func (s *Service) noteRelease(r *kanon.Result) {
	for _, c := range r.LooksMissing {
		s.wholeNote(api.Warning, NoteLooksMissing, []string{c.Column}, map[string]any{"columns": c.Column, "groups": c.Groups, "all": r.Groups},
			text.LooksMissing(r, c))
	}
	if f := r.Formulas; f != nil {
		var columns []string
		for _, c := range f.Columns {
			columns = append(columns, c.Column)
		}
		level := api.Warning
		if f.Choice == formula.Text.String() {
			level = api.Info
		}
		s.messageNote(level, columns, text.Formulas(f))
	}
	if len(r.Uncounted) > 0 {
		s.wholeNote(api.Warning, NoteUncounted, r.Uncounted, nil, said(func(l lang.Lang) string { return text.Uncounted(l, r) }))
	}
	if r.Repeated != nil {
		s.messageNote(api.Warning, []string{r.Repeated.Column}, text.Repeated(r))
	}
}

// assessRelease measures a release that was verified beside its source.
func (s *Service) assessRelease(ctx context.Context, r *api.AnonymizeRequest, sp *spec.Spec, job *kanon.Job, result *kanon.Result,
	released io.Reader,
) (*assessing, error) {
	a := &assessing{
		ctx: ctx, service: s, spec: sp, unit: sp.Unit, source: job.Source, schema: &job.Schema, missing: job.Missing,
		keptOrder: job.KeepOrder, threshold: assess.DefaultThreshold, k: job.K, pictures: r.Assess,
		means: job.Publish == publish.Aggregate, earlier: earlier{r.Previous, r.PreviousSource, r.PreviousQuasi, r.PreviousCertificate},
		classOf: result.ClassOf,
	}
	if err := a.original(sp, "", 0); err != nil {
		return nil, err
	}
	a.verified = assess.VerifiedPersons(result.Verified)
	form := file.Options{Name: job.Output.Path, Plain: true, Totals: xlsx.Look}
	if d := job.Output.Dialect; d != nil {
		form.Delimiter, form.Encoding, form.Formulas = d.Delimiter, d.Encoding, d.Formulas
	}
	src, err := file.OpenStdin(ctx, released, form)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	return a, a.releaseFrom(src)
}

// releasePage is the page about a release that was verified and assessed.
func (s *Service) releasePage(r *api.AnonymizeRequest, sp *spec.Spec, job *kanon.Job, result *kanon.Result, released io.Reader,
	assessed *assess.Assessment,
) (*report.Page, error) {
	shown := func(name string) string { return name }
	if r.PlainNames {
		shown = plainName
	}
	original := table.PlaceOf(job.Source)
	if r.PlainNames {
		original, _ = noren.WithoutFolders(original).(noren.Place)
	}
	facts := report.Facts{
		Original: original, Release: shown(job.Output.Path), Guarantee: &result.Guarantee, Footer: s.footer(),
		Fates: result.Columns, Unique: result.Unique, FreeText: result.FreeText,
	}
	specFile := cmp.Or(r.SpecFile, sp.Name())
	if err := s.dossier(&facts, r, specFile, job, result, released); err != nil {
		return nil, err
	}
	for i := range facts.Hashes {
		facts.Hashes[i].Name = shown(facts.Hashes[i].Name)
	}
	facts.Repeated = result.Repeated != nil || len(result.Uncounted) > 0
	if len(result.Uncounted) > 0 {
		facts.Warnings = append(facts.Warnings, noren.Textf("Not known: %s.",
			lang.Spoken(func(l lang.Lang) string { return text.Uncounted(l, result) })))
	}
	if result.Repeated != nil {
		facts.Warnings = append(facts.Warnings, noren.Textf("Warning: %s; with %s as the unit, persons are counted.",
			spoken(text.Repeated(result)), result.Repeated.Column))
	}
	return report.Assessment(assessed, facts), nil
}

// spoken is a message as an argument of a text.
func spoken(m api.Message) lang.Spoken {
	return func(l lang.Lang) string { return m.In(l).Text }
}

// plainName is the name of a file without its folder; empty for no file.
func plainName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
