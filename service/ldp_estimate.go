package service

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report/text"
)

// LDPEstimate estimates from files of reports: the shares of labels or of words, a
// mean, a distribution, or how two attributes go together. Reports are randomised
// already, so that nothing is charged. A file that a reachable ledger has granted is refused
// (code private).
func (s *Service) LDPEstimate(ctx context.Context, r *api.LDPEstimateRequest) (*api.LDPEstimate, error) {
	r, done, err := s.publicReports(ctx, r)
	defer done()
	if err != nil {
		return nil, err
	}
	e, o, err := s.ldpEstimation(r)
	if err != nil {
		return nil, err
	}
	var counts *ldp.RapporCounts
	if r.Counts {
		counts, err = e.fromCounts(ctx, o)
	} else {
		counts, err = e.fromReports(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	out := e.result()
	if excluded := out.Rejected.Total(); excluded > 0 {
		s.note(api.Warning, "reports-excluded", "of %s, %s", text.Counted(excluded+out.Reports, "%s {line|lines}"),
			survey.Excluded(out.Rejected, e.badLines))
	}
	if r.WantCounts {
		out.Counts = counts
		out.WriteCounts = func(w io.Writer) error { return e.survey.WriteCounts(w, counts, e.question, len(e.without) == 0) }
	}
	if r.WantMap {
		out.Map = o.Map
	}
	if r.WantParams {
		out.Params = &e.survey.Rappor().Params
	}
	return out, nil
}

// ldpEstimation is an estimation as it runs.
type ldpEstimation struct {
	s        *Service
	r        *api.LDPEstimateRequest
	survey   *survey.Survey
	found    *survey.Estimate
	joint    *api.LDPAssociation
	bad      []survey.BadLine
	badLines noren.Text
	question string   // the specification's, or the one that the files name
	without  []string // files that name no specification
}

// placed puts a place before an error.
func placed(where any, err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Where: where, Err: err}
}

// compileSurvey makes a specification run.
func compileSurvey(of *api.LDPSurvey) (*survey.Survey, error) {
	s, err := survey.New(of.Spec)
	if err != nil && of.File != "" {
		return nil, placed(noren.File(of.File), err)
	}
	return s, err
}

// ldpEstimation checks a request before any file is read.
func (s *Service) ldpEstimation(r *api.LDPEstimateRequest) (*ldpEstimation, survey.Options, error) {
	o := survey.Options{Level: r.Level, Alpha: r.Alpha, All: r.AllWords, Rough: r.Rough, Errors: true, MaxMalformed: r.MaxMalformed}
	sv, err := compileSurvey(&r.Survey)
	if err != nil {
		return nil, o, err
	}
	bad := func(where string, what noren.Format, hint noren.Text) error {
		return &noren.Error{Kind: noren.Usage, Where: where, What: what, Hint: hint.Format, HintArgs: hint.Args}
	}
	associates := r.With != nil || len(r.Associate) > 0
	switch {
	case len(r.Reports) == 0:
		return nil, o, bad("reports", "expected one file or more", noren.Text{})
	case !(r.MaxMalformed >= 0 && r.MaxMalformed <= 1):
		return nil, o, bad("max-malformed", "expected a share above 0, at most 1", noren.Text{})
	case !(r.Level >= 0 && r.Level < 1):
		return nil, o, bad("level", "must lie between 0 and 1", noren.Text{})
	case !(r.Alpha >= 0 && r.Alpha < 1):
		return nil, o, bad("alpha", "must lie between 0 and 1", noren.Text{})
	case r.Correction != "" && r.Correction != "holm" && r.Correction != "bonferroni":
		return nil, o, bad("correction", "expected holm or bonferroni", noren.Text{})
	case sv.Rappor() == nil && (r.Counts || r.WantCounts || r.WantParams):
		return nil, o, bad("counts", "counts and parameters are RAPPOR's", noren.Textf("leave them out for %s", sv.Mechanism()))
	case r.WantMap && r.Candidates == nil && r.Map == nil:
		return nil, o, bad("write-map", "a map is of candidates", noren.Textf("name the candidates"))
	case r.Counts && (r.Rounds || associates):
		return nil, o, bad("counts", "counts do not tell whose report is whose",
			noren.Textf("estimate rounds and associations from report files"))
	case associates && r.AllowRepeats:
		return nil, o, bad("allow-repeats", "an association is of one report a person", noren.Text{})
	case r.Rounds && (r.AllowRepeats || associates):
		return nil, o, bad("rounds", "rounds are not estimated with repeats or associations", noren.Text{})
	case r.Rounds && r.WantCounts:
		return nil, o, bad("write-counts", "counts are of one report a person, and rounds have several",
			noren.Textf("write the counts of each round apart"))
	case r.With != nil && len(r.Associate) > 0:
		return nil, o, bad("associate", "expected an association within these reports or with others, got both", noren.Text{})
	case len(r.Associate) != 0 && len(r.Associate) != 2:
		return nil, o, bad("associate", "name two columns", noren.Text{})
	}
	if r.Correction == "bonferroni" {
		o.Correction = ldp.Bonferroni
	}
	if o.Map, err = s.candidateMap(sv, r.Candidates, r.CandidatesFile, r.Map); err != nil {
		return nil, o, err
	}
	if !r.AllowRepeats {
		if err := distinctFiles(r.Reports); err != nil {
			return nil, o, err
		}
	}
	return &ldpEstimation{s: s, r: r, survey: sv}, o, nil
}

// candidateMap is the map of the candidates, nil where none are named.
func (s *Service) candidateMap(sv *survey.Survey, words []string, name string, file *api.LDPFile) (*ldp.Map, error) {
	if words == nil && file == nil {
		return nil, nil
	}
	if sv.Kind() != survey.Words {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "candidates", What: "candidates are for the words of rappor",
			Hint: "leave them out for %s", HintArgs: []any{sv.Mechanism()},
		}
	}
	if words != nil && file != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "candidates", What: "expected words or a map, got both"}
	}
	if file != nil {
		return readLDP(s, *file, "the map", sv.Rappor().ReadMap)
	}
	m, err := sv.Rappor().NewMap(words)
	if err != nil && name != "" {
		return nil, placed(noren.File(name), err)
	}
	return m, err
}

// readLDP reads a file whole.
func readLDP[T any](s *Service, f api.LDPFile, what noren.Phrase, read func(r io.Reader, name string) (T, error)) (out T, err error) {
	in, err := s.openLDP(f, what)
	if err != nil {
		return out, err
	}
	defer func() { _ = in.Close() }()
	return read(in, f.Name)
}

// openLDP opens a file of a request.
func (s *Service) openLDP(f api.LDPFile, what noren.Phrase) (io.ReadCloser, error) {
	switch {
	case f.Reader != nil:
		return io.NopCloser(f.Reader), nil
	case f.Name == "-" && s.Stdin != nil:
		return io.NopCloser(s.Stdin), nil
	}
	in, err := os.Open(f.Name)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: f.Name, What: "%s cannot be read", Args: []any{what}, Hint: "does the file exist?"}
	}
	return in, nil
}

// distinctFiles refuses a file that is named twice.
func distinctFiles(files []api.LDPFile) error {
	var seen []os.FileInfo
	readers := map[string]bool{}
	for _, f := range files {
		again := false
		if f.Reader != nil || f.Name == "-" {
			again = readers[f.Name]
			readers[f.Name] = true
		} else if info, err := os.Stat(f.Name); err == nil {
			again = slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) })
			seen = append(seen, info)
		}
		if again {
			return &noren.Error{
				Kind: noren.BadData, Where: f.Name, What: "is given twice: its reports would be counted twice",
				Hint: "name each file of reports once",
			}
		}
	}
	return nil
}

// fromCounts estimates from counts files, which are added up.
func (e *ldpEstimation) fromCounts(ctx context.Context, o survey.Options) (*ldp.RapporCounts, error) {
	e.question = e.survey.Question()
	var sum *ldp.RapporCounts
	var read []*ldp.RapporCounts
	for _, f := range e.r.Reports {
		file, err := readLDP(e.s, f, "the counts", e.survey.ReadCounts)
		if err != nil {
			return nil, err
		}
		if err := e.named(f.Name, file); err != nil {
			return nil, err
		}
		c := file.RapporCounts
		for j, other := range read {
			if c.Reports() > 0 && slices.Equal(c.N, other.N) && slices.Equal(c.Bits, other.Bits) {
				return nil, &noren.Error{
					Kind: noren.BadData, Where: f.Name, What: "has the same counts as %s", Args: []any{e.r.Reports[j].Name},
					Hint: "name each file of counts once",
				}
			}
		}
		read = append(read, &ldp.RapporCounts{N: slices.Clone(c.N), Bits: slices.Clone(c.Bits)})
		if sum == nil {
			sum = c
			continue
		}
		for i := range c.N {
			sum.N[i] += c.N[i]
		}
		for i := range c.Bits {
			sum.Bits[i] += c.Bits[i]
		}
	}
	var err error
	e.found, err = e.survey.EstimateCounts(ctx, sum, sum.Rejected, o)
	return sum, err
}

// named keeps what a counts file says of the specification. Files of one estimate name one
// question.
func (e *ldpEstimation) named(name string, file *survey.Counts) error {
	if !file.Tied {
		e.without = append(e.without, name)
		return nil
	}
	if e.question != "" && e.question != file.Question {
		return &noren.Error{
			Kind: noren.BadData, Code: "other-specification", Where: noren.File(name),
			What: "the reports answer the question %q, and those before %q", Args: []any{file.Question, e.question},
		}
	}
	e.question = file.Question
	return nil
}

// fromReports estimates from report files; the counts are RAPPOR's.
func (e *ldpEstimation) fromReports(ctx context.Context, o survey.Options) (*ldp.RapporCounts, error) {
	c, err := e.survey.NewCollector()
	if err != nil {
		return nil, err
	}
	c.AllowRepeats, c.Progress = e.r.AllowRepeats, e.s.Progress
	associates := e.r.With != nil || len(e.r.Associate) > 0
	if associates {
		if err := c.Keep(o.Map); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, f := range e.r.Reports {
		names = append(names, f.Name)
		if e.r.Rounds {
			if err := c.StartRound(); err != nil {
				return nil, placed("rounds", err)
			}
		}
		if err := e.s.addReports(ctx, c, f); err != nil {
			return nil, err
		}
	}
	e.bad, e.badLines = c.BadLines(), c.BadLinesText()
	e.question, e.without = c.Question(), c.Without()
	if e.found, err = c.Estimate(ctx, o); err != nil {
		return nil, placed(strings.Join(names, ", "), err)
	}
	if associates {
		e.joint, err = e.associate(ctx, c, o.Map)
	}
	return c.Counts(), err
}

func (s *Service) addReports(ctx context.Context, c *survey.Collector, f api.LDPFile) error {
	in, err := s.openLDP(f, "the reports")
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	name := f.Name
	if name == "-" {
		name = "standard input"
	}
	return c.AddLines(ctx, in, name)
}

// associate estimates joint shares of two attributes, of these reports or of these and
// others.
func (e *ldpEstimation) associate(ctx context.Context, c *survey.Collector, words *ldp.Map) (*api.LDPAssociation, error) {
	if e.r.With != nil {
		return e.associateWith(ctx, c, words)
	}
	columns := e.survey.Columns()
	var index [2]int
	for i, name := range e.r.Associate {
		index[i] = slices.Index(columns, name)
		if index[i] < 0 {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "associate", What: "the reports hold no column %q", Args: []any{name},
				Hint: "they hold %s", HintArgs: []any{strings.Join(columns, ", ")},
			}
		}
	}
	j, err := c.Associate(ctx, index[0], c, index[1])
	if err != nil {
		return nil, err
	}
	a := associationOf(j)
	a.First, a.Second = columns[index[0]], columns[index[1]]
	a.FirstLabels, a.SecondLabels = e.survey.Labels(index[0]), e.survey.Labels(index[1])
	a.Loss = e.survey.Loss()
	return a, nil
}

func (e *ldpEstimation) associateWith(ctx context.Context, c *survey.Collector, words *ldp.Map) (*api.LDPAssociation, error) {
	with := e.r.With
	s, err := compileSurvey(&with.Survey)
	if err != nil {
		return nil, err
	}
	otherWords, err := e.s.candidateMap(s, with.Candidates, with.CandidatesFile, nil)
	if err != nil {
		return nil, err
	}
	if e.survey.Kind() == survey.Several || s.Kind() == survey.Several {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "with", What: "reports of several attributes are associated within their own file",
			Hint: "name two of their columns",
		}
	}
	d, err := s.NewCollector()
	if err != nil {
		return nil, err
	}
	d.Progress = e.s.Progress
	if err := d.Keep(otherWords); err != nil {
		return nil, placed("with", err)
	}
	if err := e.s.addReports(ctx, d, with.Reports); err != nil {
		return nil, err
	}
	if r := d.Rejected(); r.Total() > 0 {
		e.s.note(api.Warning, "reports-excluded", "%s: %s", noren.File(with.Reports.Name), r)
	}
	e.without = append(e.without, d.Without()...)
	j, err := c.Associate(ctx, 0, d, 0)
	if err != nil {
		return nil, err
	}
	one, two := e.survey.Loss(), s.Loss()
	a := associationOf(j)
	a.First, a.Second = attributeName(e.survey, e.r.Reports[0].Name), attributeName(s, with.Reports.Name)
	a.FirstLabels, a.SecondLabels = labelsOrWords(e.survey, words), labelsOrWords(s, otherWords)
	a.Loss = ldp.Loss{Report: max(one.Report, two.Report), Record: one.Record + two.Record, Lifetime: one.Lifetime + two.Lifetime}
	return a, nil
}

// attributeName is the name of an attribute: its column, its question, or its file.
func attributeName(s *survey.Survey, file string) string {
	for _, name := range []string{s.Spec().Column, s.Spec().Question} {
		if name != "" {
			return name
		}
	}
	return file
}

// labelsOrWords names what evidence is about: labels, or candidates and the rest.
func labelsOrWords(s *survey.Survey, words *ldp.Map) []string {
	if words != nil {
		return append(slices.Clone(words.Words), "(other words)")
	}
	return s.Labels(0)
}
