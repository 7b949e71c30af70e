package cli

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

type assessFlags struct {
	columnFlags
	k          int
	population string
	fraction   float64
	threshold  float64
	against    string
	keptOrder  bool
	earlier    earlierFlags
	page       string
	force      bool
	json       bool
}

func newAssess(t *terminal) *cobra.Command {
	var f assessFlags
	c := &cobra.Command{
		Use:   "assess FILE --quasi COLUMNS",
		Short: "Measure the risk of a table, and what a release of it has lost (private)",
		Long: `Measures how easily the records of a table can be told apart by the
quasi-identifiers: prosecutor risk (the attacker knows that the person is in the
table), journalist risk (--population: the attacker looks the person up in a
larger table), marketer risk, unique records and class sizes. With --against a
release, also its risk, and what it lost: means, deviations, correlations,
frequencies and loss, before and after.

What it prints holds statistics of the table: it is for the steward.`,
		Example: `  noren assess visits.csv --quasi age,sex,postcode
  noren assess visits.csv --spec noren.yaml --against out.csv --report page.html
  noren assess sample.csv --quasi age,sex --population register.csv
  noren assess sample.csv --quasi age,sex --sampling-fraction 0.05 --json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	c.AddCommand(newAssessCurve(t))
	f.register(c)
	s := c.Flags()
	s.IntVar(&f.k, "k", 0, "the k that the release was made for")
	s.StringVar(&f.population, "population", "", "a `FILE` of the population that the table is a sample of, with the same quasi-identifiers")
	s.Float64Var(&f.fraction, "sampling-fraction", 0, "share of the population that the table is, to estimate how many of its records are unique there")
	s.Float64Var(&f.threshold, "threshold", assess.DefaultThreshold, "risk above which a record counts as being at risk")
	s.StringVar(&f.against, "against", "", "a `RELEASE` of the table")
	s.BoolVar(&f.keptOrder, "kept-order", false, "the release has its rows in the order of FILE (noren anonymize --keep-order): compare them one by one")
	f.earlier.register(c)
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.assess/1")
	return c
}

func (f *assessFlags) run(ctx context.Context, t *terminal, input string) error {
	if f.keptOrder && f.against == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--kept-order", What: "goes with --against"}
	}
	if err := f.earlier.check(f.against != "" && f.keptOrder, "--against and --kept-order"); err != nil {
		return err
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := t.apart(inputsOf(s, input, f.spec, f.against, f.population, f.earlier.release, f.earlier.source), f.page); err != nil {
		return err
	}
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	if f.k == 0 {
		f.k = s.Anonymize.K
	}
	src, err := openTable(ctx, input, t, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	schema, err := resolve(ctx, s, src, t)
	if err != nil {
		return err
	}
	formats := formatsOf(schema)
	if src, schema, err = withNumbers(t, s, src, schema, nil); err != nil {
		return err
	}
	a := &assessing{ctx: ctx, t: t, s: s, source: src, schema: schema, formats: formats, keptOrder: f.keptOrder, threshold: f.threshold, k: f.k, earlier: f.earlier}
	if err := a.original(f.population, f.fraction); err != nil {
		return err
	}
	if f.against != "" {
		if err := a.release(f.against); err != nil {
			return err
		}
	}
	t.progress.clear()
	if f.page != "" {
		facts := report.Facts{Original: input, Release: f.against, Footer: "noren " + Version()}
		if err := writePage(f.page, f.force, t.stdout, a.result, facts); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, a.result)
	}
	return printAssessment(t.stdout, a.result)
}

// assessing gathers an assessment.
type assessing struct {
	ctx       context.Context
	t         *terminal
	s         *spec.Spec
	source    table.Source
	schema    *table.Schema
	formats   map[string]table.NumberFormat // of the columns that are rewritten
	keptOrder bool
	threshold float64
	k         int
	means     bool // the release publishes means
	earlier   earlierFlags
	classOf   []uint32 // class of each record of the original, where it is known

	fields   []table.Field
	table    *table.Table
	person   []uint32        // of each record of the original
	verified *assess.Persons // of the release, where it has just been made
	result   *assess.Assessment
}

// original measures the table as it is held.
func (a *assessing) original(population string, fraction float64) error {
	names, err := quasiNames(a.schema)
	if err != nil {
		return err
	}
	for _, i := range a.schema.WithRole(table.Quasi) {
		a.fields = append(a.fields, a.schema.Fields[i])
	}
	a.result = &assess.Assessment{Schema: assess.Schema, Quasi: names, K: a.k}
	fields := a.fields
	if a.s.Unit != "" {
		fields = append(slices.Clone(fields), table.Field{Name: a.s.Unit, Type: table.Category})
	}
	if a.table, err = file.Read(a.ctx, a.source, fields, a.s.Input.Missing, a.t.progress.report); err != nil {
		return err
	}
	if a.s.Unit != "" {
		last := len(a.fields)
		a.person = kanon.PersonsOf(a.table.Columns[last])
		a.table.Columns = a.table.Columns[:last]
	}
	if a.table.Rows == 0 {
		return &noren.Error{Kind: noren.BadData, Where: a.source.Name(), What: "the table has no records", Hint: "there is nothing to measure"}
	}
	tables := []*table.Table{a.table}
	if population != "" {
		like := *a.s
		// Sheet, header row and query are of the table.
		like.Input.Sheet, like.Input.HeaderRow, like.Input.Query = "", 0, ""
		src, err := openTable(a.ctx, population, a.t, &like)
		if err != nil {
			return err
		}
		defer closeSource(src)
		fields := make([]table.Field, len(src.Columns()))
		for i, c := range src.Columns() {
			fields[i] = table.Field{Name: c.Name, Number: a.formats[c.Name]}
		}
		if src, _, err = file.WithNumbers(src, fields); err != nil {
			return err
		}
		p, err := file.Read(a.ctx, src, a.fields, a.s.Input.Missing, a.t.progress.report)
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
		if a.result.OriginalPersons, err = assess.NewPersons(a.ctx, a.s.Unit, classes[0], a.person, a.k); err != nil {
			return err
		}
	}
	if population != "" {
		if a.result.OriginalJournalist, err = assess.NewJournalist(classes[0].Size, classes[1].Size, a.threshold); err != nil {
			return at(population, err)
		}
	}
	if fraction != 0 {
		if a.result.OriginalUniqueness, err = assess.EstimateUniqueness(classes[0].Size, fraction); err != nil {
			return at("--sampling-fraction", err)
		}
	}
	return nil
}

// release measures a release and lays it beside the original.
func (a *assessing) release(name string) error {
	src, err := openReleased(a.ctx, name, a.t)
	if err != nil {
		return err
	}
	defer closeSource(src)
	return a.releaseFrom(src)
}

// releaseFrom is release for one that is open.
func (a *assessing) releaseFrom(src table.Source) error {
	shown, err := file.ReadText(a.ctx, src, a.result.Quasi, nil, a.t.progress.report)
	if err != nil {
		return err
	}
	classes, err := assess.Classify(shown)
	if err != nil {
		return err
	}
	if a.result.Release, err = assess.NewRisk(classes[0].Size, a.threshold); err != nil {
		return at(src.Name(), err)
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
	o := assess.CompareOptions{Corresponding: a.keptOrder, Means: a.means || a.s.Anonymize.Publish == publish.Aggregate.String(), Progress: a.t.progress.report}
	if a.result.Utility, err = assess.Compare(a.ctx, a.table, typed, o); err != nil {
		return err
	}
	if a.result.Queries, err = assess.AskQueries(a.ctx, a.table, typed, assess.QueryOptions{Progress: a.t.progress.report}); err != nil {
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
		kept, err := file.Read(a.ctx, src, []table.Field{f}, a.s.Input.Missing, a.t.progress.report)
		if err != nil {
			return err
		}
		own, err := file.Read(a.ctx, a.source, []table.Field{f}, a.s.Input.Missing, a.t.progress.report)
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
	case a.s.Unit == "":
		return nil
	case a.verified != nil:
		a.result.ReleasePersons = a.verified
		return nil
	case slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == a.s.Unit }):
		t, err := file.ReadText(a.ctx, src, []string{a.s.Unit}, a.s.Input.Missing, a.t.progress.report)
		if err != nil {
			return err
		}
		person = kanon.PersonsOf(t.Columns[0])
	case a.keptOrder && len(a.person) == len(classes.Of):
		person = a.person
	default:
		a.t.note("%s has no column %s: its persons are not known; noren anonymize counts them when it makes a release", src.Name(), a.s.Unit)
		return nil
	}
	var err error
	a.result.ReleasePersons, err = assess.NewPersons(a.ctx, a.s.Unit, classes, person, a.k)
	return err
}

// readPublished reads a column of a release by the type of the original, or as
// a decimal where means of integers were published with places; nil when it
// is published as text (ranges, sets).
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
		t, err := file.Read(ctx, src, []table.Field{try}, nil, nil)
		if err == nil {
			return t.Columns[0], nil
		}
		if noren.KindOf(err) != noren.BadData {
			return nil, err
		}
	}
	return nil, nil
}

// writePage writes an assessment as a page.
func writePage(path string, force bool, stdout io.Writer, a *assess.Assessment, facts report.Facts) error {
	return writePrivate(path, force, stdout, report.Assessment(a, facts).Write)
}

// releaseWithReport makes a release and writes the page about it. The page is
// made from the verified release before that is created, so that nothing is left
// where the page cannot be made.
func releaseWithReport(ctx context.Context, t *terminal, s *spec.Spec, job kanon.Job, p paging) (*kanon.Result, error) {
	if job.Output.Path == "-" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--report", What: "needs a release that can be read back", Hint: "-o FILE"}
	}
	out, err := atomicfile.CreatePrivate(p.path, p.force)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	job.Output.Classes = p.earlier.release != ""
	next := job.Output.Verified
	job.Output.Verified = func(r *kanon.Result, released io.Reader) error {
		if err := pageOf(ctx, t, s, &job, r, released, p, out); err != nil {
			return err
		}
		if next == nil {
			return nil
		}
		if f, ok := released.(io.Seeker); ok {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return &noren.Error{What: "the release cannot be read back", Err: err}
			}
		}
		return next(r, released)
	}
	result, err := kanon.Anonymize(ctx, job, t.progress.report)
	if err != nil {
		return nil, err
	}
	return result, out.Commit()
}

// pageOf writes the page about a release that was verified.
func pageOf(ctx context.Context, t *terminal, s *spec.Spec, job *kanon.Job, result *kanon.Result, released io.Reader, p paging, out io.Writer) error {
	a := &assessing{ctx: ctx, t: t, s: s, source: job.Source, schema: &job.Schema, keptOrder: job.KeepOrder, threshold: assess.DefaultThreshold, k: job.K, means: job.Publish == publish.Aggregate, earlier: p.earlier, classOf: result.ClassOf}
	if err := a.original("", 0); err != nil {
		return err
	}
	a.verified = assess.VerifiedPersons(result.Verified)
	form := file.Options{Name: job.Output.Path, Plain: true}
	if d := job.Output.Dialect; d != nil {
		form.Delimiter, form.Encoding = d.Delimiter, d.Encoding
	}
	src, err := file.OpenStdin(ctx, released, form)
	if err != nil {
		return err
	}
	defer closeSource(src)
	if err := a.releaseFrom(src); err != nil {
		return err
	}
	facts := report.Facts{
		Original: job.Source.Name(), Release: job.Output.Path, Guarantee: &result.Guarantee, Footer: "noren " + Version(),
		Fates: result.Columns, Unique: result.Unique, FreeText: result.FreeText,
	}
	if err := p.dossier(&facts, job, result, released); err != nil {
		return err
	}
	facts.Repeated = result.Repeated != nil || len(result.Uncounted) > 0
	if len(result.Uncounted) > 0 {
		facts.Warnings = append(facts.Warnings, "Not known: "+uncountedSentence(result)+".")
	}
	if result.Repeated != nil {
		facts.Warnings = append(facts.Warnings, "Warning: "+repeatedSentence(result)+".")
	}
	return report.Assessment(a.result, facts).Write(out)
}
