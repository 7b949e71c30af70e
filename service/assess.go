package service

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
)

// NotePersonsUnknown is the code of the note that a release does not tell its persons.
const NotePersonsUnknown = "persons-unknown"

// Assess measures how easily the records of a table are distinguished by the
// quasi-identifiers and, with a release, what the release lost. Result and page are
// private: they hold statistics of the table. Errors are of kind Usage, or of reading a
// file.
func (s *Service) Assess(ctx context.Context, r *api.AssessRequest) (*api.Assessment, error) {
	if r.KeptOrder && r.Against == "" {
		return nil, noren.Usagef("kept-order", "goes with a release (against)")
	}
	before := earlier{r.Previous, r.PreviousSource, r.PreviousQuasi, r.PreviousCertificate}
	if err := before.check(r.Against != "" && r.KeptOrder, "needs a release with the order of the table (against, kept-order)"); err != nil {
		return nil, err
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	if err := s.targets(ctx, append(sp.Files(), r.Input, r.Against, r.Population, r.Previous, r.PreviousSource), r.Force,
		r.Report); err != nil {
		return nil, err
	}
	read, err := s.openMeasured(ctx, r.Input, sp)
	if err != nil {
		return nil, err
	}
	defer read.close()
	a := &assessing{
		ctx: ctx, service: s, spec: sp, unit: sp.Unit, earlier: before, source: read.Source, schema: read.Schema, missing: read.Missing,
		formats:   read.Formats,
		keptOrder: r.KeptOrder, threshold: r.Threshold, k: r.K,
	}
	if a.k == 0 {
		a.k = sp.Anonymize.K
	}
	if err := a.original(sp, r.Population, r.SamplingFraction); err != nil {
		return nil, err
	}
	if r.Against != "" {
		if err := a.release(r.Against); err != nil {
			return nil, err
		}
	}
	if r.Report != "" {
		facts := report.Facts{Original: noren.Place{noren.File(r.Input)}, Release: r.Against, Footer: s.footer()}
		if err := writePrivate(r.Report, r.Force, report.Assessment(a.result, facts).In(s.Lang).Write); err != nil {
			return nil, err
		}
	}
	return &api.Assessment{Assessment: *a.result, Private: "do not release"}, nil
}

// assessing gathers an assessment.
type assessing struct {
	ctx       context.Context
	service   *Service
	spec      *spec.Spec
	unit      string // column that tells persons apart
	source    table.Source
	schema    *table.Schema
	missing   []string
	formats   map[string]table.NumberFormat // of the columns that are rewritten
	keptOrder bool
	threshold float64
	k         int
	means     bool // the release publishes means
	earlier   earlier
	classOf   []uint32             // class of each record of the original, where it is known
	before    []table.StoredColumn // of the earlier release
	unread    bool                 // marks of texts that spreadsheets take for formulas are not taken off
	pictures  bool                 // two columns are shown before and after

	fields   []table.Field // the quasi-identifiers
	table    *table.Table
	person   []uint32        // of each record of the original
	verified *assess.Persons // of the release, where it has just been made
	scatter  *api.Scatter
	result   *assess.Assessment
}

// original measures the table as it is held.
func (a *assessing) original(sp *spec.Spec, population string, fraction float64) error {
	read := spec.Resolved{Schema: a.schema}
	a.fields = read.Fields(table.Quasi)
	a.result = &assess.Assessment{Schema: assess.Schema, Quasi: a.schema.Names(table.Quasi), K: a.k}
	if err := a.hold(); err != nil {
		return err
	}
	tables := []*table.Table{a.table}
	if population != "" {
		p, err := a.population(sp, population)
		if err != nil {
			return err
		}
		tables = append(tables, p)
	}
	classes, err := assess.Classify(tables...)
	if err != nil {
		return err
	}
	if a.result.Original, err = assess.NewRisk(classes[0].Size, a.threshold); err != nil {
		return err
	}
	if a.person != nil {
		if a.result.OriginalPersons, err = assess.NewPersons(a.ctx, a.unit, classes[0], a.person, a.k); err != nil {
			return err
		}
	}
	if population != "" {
		if a.result.OriginalJournalist, err = assess.NewJournalist(classes[0].Size, classes[1].Size, a.threshold); err != nil {
			return about(noren.File(population), err)
		}
	}
	if fraction != 0 {
		if a.result.OriginalUniqueness, err = assess.EstimateUniqueness(classes[0].Size, fraction); err != nil {
			return about("sampling-fraction", err)
		}
	}
	return nil
}

// hold reads the quasi-identifiers and the persons of the table.
func (a *assessing) hold() (err error) {
	fields := a.fields
	if a.unit != "" {
		fields = append(slices.Clone(fields), table.Field{Name: a.unit, Type: table.Category})
	}
	if a.table, err = table.Read(a.ctx, a.source, fields, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress}); err != nil {
		return err
	}
	if a.unit != "" {
		last := len(a.fields)
		a.person = kanon.PersonsOf(a.table.Columns[last])
		a.table.Columns = a.table.Columns[:last]
	}
	if a.table.Rows == 0 {
		return &noren.Error{
			Kind: noren.BadData, Where: table.PlaceOf(a.source), What: "the table has no records",
			Hint: "there is nothing to measure",
		}
	}
	return nil
}

// population reads the quasi-identifiers of a population file.
func (a *assessing) population(sp *spec.Spec, name string) (*table.Table, error) {
	like := *sp
	like.Input = sp.Input.Alike()
	src, err := a.service.openLooked(a.ctx, name, &like)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	fields := make([]table.Field, len(src.Columns()))
	for i, c := range src.Columns() {
		fields[i] = table.Field{Name: c.Name, Number: a.formats[c.Name]}
	}
	plain, _, err := file.WithNumbers(src, fields)
	if err != nil {
		return nil, err
	}
	return table.Read(a.ctx, plain, a.fields, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
}

// release measures a release and compares it with the original.
func (a *assessing) release(name string) error {
	choice, err := a.spec.ReleaseFormulas()
	if err != nil {
		return err
	}
	src, err := a.service.openRelease(a.ctx, name, choice)
	if err != nil {
		return err
	}
	defer closeTable(src)
	a.unread = choice == formula.Keep
	return a.releaseFrom(src)
}

// releaseFrom is release for one that is open.
func (a *assessing) releaseFrom(src table.Source) error {
	shown, err := table.ReadText(a.ctx, src, a.result.Quasi, table.ReadOptions{Progress: a.service.Progress})
	if err != nil {
		return err
	}
	if a.unread {
		if err := a.checkWritten(src, shown); err != nil {
			return err
		}
	}
	classes, err := assess.Classify(shown)
	if err != nil {
		return err
	}
	if a.result.Release, err = assess.NewRisk(classes[0].Size, a.threshold); err != nil {
		return about(table.PlaceOf(src), err)
	}
	if err := a.releasePersons(src, classes[0]); err != nil {
		return err
	}
	if a.k > 0 {
		ratio := a.result.Release.AverageClassRatio(a.k)
		a.result.AverageClassRatio = &ratio
	}
	typed := &table.Table{Rows: shown.Rows}
	for j, f := range a.fields {
		c, err := readPublished(a.ctx, src, f)
		if err != nil {
			return err
		}
		if c == nil {
			c = shown.Columns[j]
		}
		typed.Columns = append(typed.Columns, c)
	}
	if a.pictures {
		a.scatter = scatterOf(a.fields, a.table, typed)
	}
	o := assess.CompareOptions{
		Corresponding: a.keptOrder, Means: a.means || a.spec.Anonymize.Publish == publish.Aggregate.String(),
		Progress: a.service.Progress,
	}
	if a.result.Utility, err = assess.Compare(a.ctx, a.table, typed, o); err != nil {
		return err
	}
	if a.keptOrder && len(classes[0].Of) == a.table.Rows {
		scale := space.ZScore
		if text := a.spec.Anonymize.Scale; text != "" {
			if scale, err = space.ParseScaling(text); err != nil {
				return badField("scale", err)
			}
		}
		if a.result.ClassLoss, err = assess.NewClassLoss(a.table.Columns, classes[0], scale); err != nil {
			return about(table.PlaceOf(a.source), err)
		}
	}
	if a.result.Queries, err = assess.AskQueries(a.ctx, a.table, typed, assess.QueryOptions{Progress: a.service.Progress}); err != nil {
		return err
	}
	if err := a.releaseSensitive(src, classes[0], typed); err != nil {
		return err
	}
	return a.overlap(src, classes[0])
}

// releaseSensitive measures the sensitive columns in the classes of a release, and
// how they go with the quasi-identifiers before and after.
func (a *assessing) releaseSensitive(src table.Source, classes assess.Classes, shown *table.Table) error {
	for _, i := range a.schema.WithRole(table.Sensitive) {
		f := a.schema.Fields[i]
		if !slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == f.Name }) {
			continue
		}
		kept, err := table.Read(a.ctx, src, []table.Field{f}, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
		if err != nil {
			return err
		}
		own, err := table.Read(a.ctx, a.source, []table.Field{f}, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
		if err != nil {
			return err
		}
		s, err := assess.NewSensitive(a.ctx, classes, kept.Columns[0])
		if err != nil {
			return err
		}
		for j, quasi := range a.table.Columns {
			s.Associations = append(s.Associations, assess.Associate(quasi, own.Columns[0], shown.Columns[j], kept.Columns[0]))
		}
		a.result.Sensitive = append(a.result.Sensitive, s)
	}
	return nil
}

// releasePersons counts the persons of a release: as its verifier did, by its own
// column, or by the original's where the rows are in the same order.
func (a *assessing) releasePersons(src table.Source, classes assess.Classes) error {
	var person []uint32
	switch {
	case a.unit == "":
		return nil
	case a.verified != nil:
		a.result.ReleasePersons = a.verified
		return nil
	case hasColumn(src, a.unit):
		t, err := table.ReadText(a.ctx, src, []string{a.unit}, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
		if err != nil {
			return err
		}
		person = kanon.PersonsOf(t.Columns[0])
	case a.keptOrder && len(a.person) == len(classes.Of):
		person = a.person
	default:
		a.service.columnNote(api.Info, NotePersonsUnknown, []string{a.unit},
			noren.Textf("%s has no column %s: its persons are not known; they are counted when a release is made", table.PlaceOf(src), a.unit))
		return nil
	}
	var err error
	a.result.ReleasePersons, err = assess.NewPersons(a.ctx, a.unit, classes, person, a.k)
	return err
}

// readPublished reads a column of a release by the type of the original, or as a
// decimal where means of integers were published with decimal places. It is nil where
// the column was published as text (ranges, sets).
func readPublished(ctx context.Context, src table.Source, f table.Field) (*table.Column, error) {
	if f.Type == table.Category {
		return nil, nil
	}
	types := []table.Type{f.Type}
	if f.Type == table.Integer {
		types = append(types, table.Decimal)
	}
	for _, kind := range types {
		try := f
		try.Type = kind
		t, err := table.Read(ctx, src, []table.Field{try}, table.ReadOptions{})
		if err == nil {
			return t.Columns[0], nil
		}
		if noren.KindOf(err) != noren.BadData {
			return nil, err
		}
	}
	return nil, nil
}

// about puts a place before an error.
func about(where any, err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Where: where, Err: err}
}

// badField is an error about the value of a field of a request.
func badField(where any, err error) error {
	return &noren.Error{Kind: noren.Usage, Where: where, Err: err}
}
