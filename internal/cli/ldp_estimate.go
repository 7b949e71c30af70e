package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

const estimateSchema = "noren.ldp.estimate/1"

type estimateFlags struct {
	survey       surveyFlags
	level        float64
	project      bool
	words        wordFlags
	counts       bool
	writeCounts  string
	writeMap     string
	writeParams  string
	rough        bool
	allowRepeats bool
	malformed    float64
	rounds       bool
	associate    []string
	with         string
	withSpec     string
	withWords    string
	page         string
	force        bool
	json         bool
}

// wordFlags say among which words Bloom filters are decoded, and how strictly.
type wordFlags struct {
	candidates string
	mapFile    string
	alpha      float64
	correction string
	all        bool
}

func newLDPEstimate(t *terminal) *cobra.Command {
	var f estimateFlags
	c := &cobra.Command{
		Use:   "estimate REPORTS... --spec SPEC",
		Short: "What the crowd's reports say: shares, words, means, distributions, associations",
		Long: `Reads report files (docs/cli.md, "Report files"; - is standard input) and estimates
what their mechanism is for: the shares of labels with standard errors and intervals
that hold all at once, the shares of words among candidates, a mean, a distribution, or
how two attributes go together.

Lines that cannot be reports, and second reports of a client, are counted and set aside;
they never change the estimate of the others. More than 1 % of lines that cannot be
reports are an error (--max-malformed), and so are reports that the mechanism cannot
have sent: a wrong epsilon, answers that were not randomised, one file given twice. The params, map and counts files of the
reference RAPPOR client are read (--params, --map, --counts) and written.

--rounds estimates several rounds of one longitudinal question together: the reports of a
person are averaged, and errors are from the spread between persons. Each file is a round.

--associate A,B estimates how two attributes of one report file go together; --with FILE
--with-spec SPEC how this attribute goes with one that the same people reported apart,
found by the clients' ids. Both reports of a person cost the sum of their epsilons.`,
		Example: `  noren ldp estimate reports.txt --spec ldp.yaml --report page.html
  noren ldp estimate north.txt south.txt --mechanism oue --bins 0,30,5 --epsilon 2 --project --json
  noren ldp estimate words.txt --params params.csv --candidates words.list
  noren ldp estimate counts.csv --counts --params params.csv --map map.csv --all
  noren ldp estimate monday.txt tuesday.txt --rounds --spec daily.yaml
  noren ldp estimate colour.txt --spec colour.yaml --with shape.txt --with-spec shape.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("expected REPORTS, one file or more")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args) },
	}
	f.survey.register(c)
	s := c.Flags()
	s.Float64Var(&f.level, "level", 0.95, "confidence of all intervals together")
	s.BoolVar(&f.project, "project", false, "tell too the nearest shares that are not negative and add up to 1")
	s.StringVar(&f.words.candidates, "candidates", "", "the words to look for, one a line in this `FILE`")
	s.StringVar(&f.words.mapFile, "map", "", "the candidates as a map `FILE` of the reference client")
	s.Float64Var(&f.words.alpha, "alpha", 0.05, "probability that any word is found that nobody has")
	s.StringVar(&f.words.correction, "correction", "holm", "holm or bonferroni: how tests of many words are made strict")
	s.BoolVar(&f.words.all, "all", false, "list the candidates that were not found, too")
	s.BoolVar(&f.counts, "counts", false, "REPORTS are counts files of the reference server, which are added up")
	s.StringVar(&f.writeCounts, "write-counts", "", "write RAPPOR's counts to this `FILE`, as the reference does")
	s.StringVar(&f.writeMap, "write-map", "", "write the map of the candidates to this `FILE`, as the reference does")
	s.StringVar(&f.writeParams, "write-params", "", "write RAPPOR's parameters to this `FILE`, as the reference does")
	s.BoolVar(&f.rough, "rough", false, "do not smooth the distribution of a square wave, as is done from 128 buckets on")
	s.BoolVar(&f.allowRepeats, "allow-repeats", false, "count every report of a client; errors are then larger than stated")
	s.Float64Var(&f.malformed, "max-malformed", 0.01, "the largest share of lines that may be no reports of this mechanism; 1 allows any")
	s.BoolVar(&f.rounds, "rounds", false, "each file is a round of one question with memory that the same people answered; lines name clients")
	s.StringSliceVar(&f.associate, "associate", nil, "`A,B`: how these two columns go together")
	s.StringVar(&f.with, "with", "", "associate with the reports of the same people in this `FILE`")
	s.StringVar(&f.withSpec, "with-spec", "", "the specification `FILE` of those reports")
	s.StringVar(&f.withWords, "with-candidates", "", "the words to look for in those reports, one a line in this `FILE`")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+estimateSchema)
	return c
}

// estimated is all that a run found out, for people, for programs and for pages.
type estimated struct {
	files   []string
	survey  *survey.Survey
	found   *survey.Estimate
	joint   *association
	level   float64
	project bool
	// badLines names the lines that were no reports.
	badLines string
	bad      []survey.BadLine
}

// association is how two attributes go together.
type association struct {
	names  [2]string
	labels [2][]string
	loss   ldp.Loss
	*ldp.Joint
}

func (f *estimateFlags) run(ctx context.Context, t *terminal, paths []string) error {
	if err := checkTargets(f.force, f.page, f.writeCounts, f.writeMap, f.writeParams); err != nil {
		return err
	}
	s, err := f.survey.survey()
	if err != nil {
		return err
	}
	o := survey.Options{Level: f.level, Alpha: f.words.alpha, All: f.words.all, Rough: f.rough, Errors: true, MaxMalformed: f.malformed}
	if !(f.malformed > 0 && f.malformed <= 1) {
		return &noren.Error{Kind: noren.Usage, Where: "--max-malformed", What: "expected a share above 0, at most 1"}
	}
	if f.level == 0 || f.words.alpha == 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--level, --alpha", What: "must lie between 0 and 1"}
	}
	switch f.words.correction {
	case "holm":
	case "bonferroni":
		o.Correction = ldp.Bonferroni
	default:
		return &noren.Error{Kind: noren.Usage, Where: "--correction", What: "expected holm or bonferroni"}
	}
	if o.Map, err = wordMap(s, f.words.candidates, f.words.mapFile); err != nil {
		return err
	}
	if s.Rappor() == nil && (f.counts || f.writeCounts != "" || f.writeParams != "") {
		return &noren.Error{Kind: noren.Usage, Where: "--counts, --write-counts, --write-params", What: "counts and parameters are RAPPOR's", Hint: "leave them out for " + s.Mechanism()}
	}
	if f.writeMap != "" && o.Map == nil {
		return &noren.Error{Kind: noren.Usage, Where: "--write-map", What: "a map is of candidates", Hint: "--candidates FILE"}
	}
	e := &estimated{files: paths, survey: s, level: f.level, project: f.project}
	if !f.allowRepeats {
		if err := distinctFiles(paths); err != nil {
			return err
		}
	}
	counts, err := f.collect(ctx, t, e, o)
	if err != nil {
		return err
	}
	if r := e.found.Rejected; r.Total() > 0 {
		t.warn("of %s, %s%s", plural(int(r.Total()+e.found.N), "line"), r, e.badLines)
	}
	for _, w := range e.found.Warnings {
		t.warn("%s", w)
	}
	if err := f.writeReference(t, s, counts, o.Map); err != nil {
		return err
	}
	if f.page != "" {
		if err := writeFile(f.page, f.force, t.stdout, e.page().Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, e.json())
	}
	e.print(t.stdout)
	return nil
}

// wordMap is the map of the candidates, nil where none are named.
func wordMap(s *survey.Survey, candidates, mapFile string) (*ldp.Map, error) {
	if candidates == "" && mapFile == "" {
		return nil, nil
	}
	if s.Kind() != survey.Words {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--candidates, --map", What: "candidates are for the words of rappor", Hint: "leave them out for " + s.Mechanism()}
	}
	if candidates != "" && mapFile != "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--candidates, --map", What: "name one of them"}
	}
	if mapFile != "" {
		return readFile(mapFile, "the map", s.Rappor().ReadMap)
	}
	words, err := readFile(candidates, "the candidates", ldp.ReadCandidates)
	if err != nil {
		return nil, err
	}
	m, err := s.Rappor().NewMap(words)
	if err != nil {
		return nil, at(candidates, err)
	}
	return m, nil
}

// collect reads the files and estimates; the counts are RAPPOR's.
func (f *estimateFlags) collect(ctx context.Context, t *terminal, e *estimated, o survey.Options) (*ldp.RapporCounts, error) {
	if f.counts {
		if f.rounds {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--counts", What: "counts do not tell whose report is whose", Hint: "leave out --rounds"}
		}
		if f.with != "" || len(f.associate) > 0 {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--counts", What: "counts do not tell whose report is whose", Hint: "associate report files"}
		}
		counts, err := readCounts(e.survey.Rappor(), e.files)
		if err != nil {
			return nil, err
		}
		e.found, err = e.survey.EstimateCounts(ctx, counts, counts.Rejected, o)
		return counts, err
	}
	c, err := e.survey.NewCollector()
	if err != nil {
		return nil, err
	}
	c.AllowRepeats = f.allowRepeats
	associates := f.with != "" || len(f.associate) > 0
	if associates {
		if f.allowRepeats {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--allow-repeats", What: "an association is of one report a person"}
		}
		if err := c.Keep(o.Map); err != nil {
			return nil, err
		}
	}
	if f.rounds && (f.allowRepeats || associates) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--rounds", What: "rounds are not estimated with --allow-repeats, --associate or --with"}
	}
	for _, path := range e.files {
		if f.rounds {
			if err := c.StartRound(); err != nil {
				return nil, at("--rounds", err)
			}
		}
		if err := addReports(ctx, t, c, path); err != nil {
			return nil, err
		}
	}
	e.bad, e.badLines = c.BadLines(), c.BadLinesText()
	if e.found, err = c.Estimate(ctx, o); err != nil {
		return nil, at(strings.Join(e.files, ", "), err)
	}
	if associates {
		err = f.join(ctx, t, e, c, o.Map)
	}
	t.progress.clear()
	return c.Counts(), err
}

// join associates two attributes, of these reports or of these and others.
func (f *estimateFlags) join(ctx context.Context, t *terminal, e *estimated, c *survey.Collector, words *ldp.Map) error {
	if f.with != "" {
		return f.joinWith(ctx, t, e, c, words)
	}
	if len(f.associate) != 2 {
		return &noren.Error{Kind: noren.Usage, Where: "--associate", What: "name two columns", Hint: "--associate a,b"}
	}
	columns := e.survey.Columns()
	var index [2]int
	a := &association{loss: e.survey.Loss()}
	for i, name := range f.associate {
		index[i] = slices.Index(columns, name)
		if index[i] < 0 {
			return &noren.Error{Kind: noren.Usage, Where: "--associate", What: fmt.Sprintf("the reports hold no column %q", name), Hint: "they hold " + strings.Join(columns, ", ")}
		}
		a.names[i], a.labels[i] = name, e.survey.Labels(index[i])
	}
	var err error
	a.Joint, err = c.Associate(ctx, index[0], c, index[1])
	e.joint = a
	return err
}

func (f *estimateFlags) joinWith(ctx context.Context, t *terminal, e *estimated, c *survey.Collector, words *ldp.Map) error {
	if len(f.associate) > 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--associate, --with", What: "name one of them"}
	}
	if f.withSpec == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--with-spec", What: "by which specification were those reports made?"}
	}
	other := surveyFlags{spec: f.withSpec}
	s, err := other.survey()
	if err != nil {
		return err
	}
	otherWords, err := wordMap(s, f.withWords, "")
	if err != nil {
		return err
	}
	d, err := s.NewCollector()
	if err != nil {
		return err
	}
	if e.survey.Kind() == survey.Several || s.Kind() == survey.Several {
		return &noren.Error{Kind: noren.Usage, Where: "--with", What: "reports of several attributes are associated within their own file", Hint: "--associate a,b"}
	}
	if err := d.Keep(otherWords); err != nil {
		return at("--with", err)
	}
	if err := addReports(ctx, t, d, f.with); err != nil {
		return err
	}
	if r := d.Rejected(); r.Total() > 0 {
		t.warn("%s: %s", f.with, r)
	}
	one, two := e.survey.Loss(), s.Loss()
	a := &association{
		names:  [2]string{attributeName(e.survey, e.files[0]), attributeName(s, f.with)},
		labels: [2][]string{labelsOrWords(e.survey, words), labelsOrWords(s, otherWords)},
		loss:   ldp.Loss{Report: max(one.Report, two.Report), Record: one.Record + two.Record, Lifetime: one.Lifetime + two.Lifetime},
	}
	a.Joint, err = c.Associate(ctx, 0, d, 0)
	e.joint = a
	return err
}

// attributeName is what an attribute is called: its column, its question, or its
// file.
func attributeName(s *survey.Survey, path string) string {
	for _, name := range []string{s.Spec().Column, s.Spec().Question} {
		if name != "" {
			return name
		}
	}
	return path
}

// labelsOrWords names what evidence is about: labels, or candidates and the rest.
func labelsOrWords(s *survey.Survey, words *ldp.Map) []string {
	if words != nil {
		return append(slices.Clone(words.Words), "(other words)")
	}
	return s.Labels(0)
}

// writeReference writes what the reference's tools read.
func (f *estimateFlags) writeReference(t *terminal, s *survey.Survey, counts *ldp.RapporCounts, m *ldp.Map) error {
	for _, w := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.writeCounts, func(w io.Writer) error { return ldp.WriteCounts(w, counts) }},
		{f.writeMap, func(w io.Writer) error { return ldp.WriteMap(w, m) }},
		{f.writeParams, func(w io.Writer) error { return ldp.WriteParams(w, s.Rappor().Params) }},
	} {
		if w.path == "" {
			continue
		}
		if err := writeFile(w.path, f.force, t.stdout, w.write); err != nil {
			return err
		}
	}
	return nil
}
