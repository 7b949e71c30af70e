package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/report"
)

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
		Short: "Estimate shares, words, means, distributions or associations from reports",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return noren.Reasonf("expected REPORTS, one file or more")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args) },
	}
	f.survey.register(c)
	s := c.Flags()
	s.Float64Var(&f.level, "level", 0.95, "confidence of all intervals together")
	s.BoolVar(&f.project, "project", false, "add the nearest shares that are not negative and add up to 1")
	s.StringVar(&f.words.candidates, "candidates", "", "the words to look for, one per line in this `FILE`")
	s.StringVar(&f.words.mapFile, "map", "", "the candidates as a map `FILE` of the reference client")
	s.Float64Var(&f.words.alpha, "alpha", 0.05, "probability of any false discovery: a word is found that no person has")
	s.StringVar(&f.words.correction, "correction", "holm", "holm or bonferroni: correction of the tests of many words")
	s.BoolVar(&f.words.all, "all", false, "list the candidates that were not found, too")
	s.BoolVar(&f.counts, "counts", false, "REPORTS are counts files of the reference server, which are added up")
	s.StringVar(&f.writeCounts, "write-counts", "", "write RAPPOR's counts to this `FILE`, as the reference does")
	s.StringVar(&f.writeMap, "write-map", "", "write the map of the candidates to this `FILE`, as the reference does")
	s.StringVar(&f.writeParams, "write-params", "", "write RAPPOR's parameters to this `FILE`, as the reference does")
	s.BoolVar(&f.rough, "rough", false, "do not smooth the distribution of a square wave, as is done from 128 buckets on")
	s.BoolVar(&f.allowRepeats, "allow-repeats", false, "count every report of a client; errors are then larger than stated")
	s.Float64Var(&f.malformed, "max-malformed", 0.01, "the largest share of malformed lines that is allowed; 1 allows any")
	s.BoolVar(&f.rounds, "rounds", false, "each file is a round of one question with memory that the same people answered; lines name clients")
	s.StringSliceVar(&f.associate, "associate", nil, "`A,B`: estimate the joint shares of these two columns")
	s.StringVar(&f.with, "with", "", "associate with the reports of the same people in this `FILE`")
	s.StringVar(&f.withSpec, "with-spec", "", "the specification `FILE` of those reports")
	s.StringVar(&f.withWords, "with-candidates", "", "the words to look for in those reports, one per line in this `FILE`")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.LDPEstimateSchema)
	return c
}

func (f *estimateFlags) run(ctx context.Context, t *terminal, paths []string) error {
	if err := checkTargets(f.force, f.page, f.writeCounts, f.writeMap, f.writeParams); err != nil {
		return err
	}
	r, err := f.request(paths)
	if err != nil {
		return err
	}
	e, err := t.service(nil).LDPEstimate(ctx, r)
	t.progress.clear()
	if err != nil {
		return err
	}
	for _, w := range e.Warnings {
		t.warn("%s", w)
	}
	if err := f.write(t, e); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, e)
	}
	printEstimate(t.stdout, e)
	if e.Shares != nil {
		noteShares(t, e.Shares.Labels, e.Reports)
	}
	return nil
}

// request is what the flags ask for. Files beside the reports are read.
func (f *estimateFlags) request(paths []string) (*api.LDPEstimateRequest, error) {
	if s := &f.survey; s.spec == "" && s.mechanism == "" && s.rappor == "" && s.params == "" {
		return nil, noren.Usagef("--spec", "expected the specification by which the reports were made").
			Hinted("it is the file that noren ldp design -o SPEC wrote before the collection, the same on devices and at the collector; without " +
				"it, --mechanism, --epsilon and the domain say the same")
	}
	of, err := f.survey.read()
	if err != nil {
		return nil, err
	}
	if f.malformed == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--max-malformed", What: "expected a share above 0, at most 1"}
	}
	if f.level == 0 || f.words.alpha == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--level, --alpha", What: "must lie between 0 and 1"}
	}
	r := &api.LDPEstimateRequest{
		Survey: of, Counts: f.counts, Rounds: f.rounds, AllowRepeats: f.allowRepeats, MaxMalformed: f.malformed, Level: f.level,
		Project: f.project, Rough: f.rough, CandidatesFile: f.words.candidates, Alpha: f.words.alpha, Correction: f.words.correction,
		AllWords: f.words.all, Associate: f.associate, WantCounts: f.writeCounts != "", WantMap: f.writeMap != "",
		WantParams: f.writeParams != "",
	}
	for _, path := range paths {
		file := api.LDPFile{Name: path}
		if f.counts {
			if file.Reader, err = openSide(path, "the counts"); err != nil {
				return nil, err
			}
		}
		r.Reports = append(r.Reports, file)
	}
	if f.words.candidates != "" {
		if r.Candidates, err = readFile(f.words.candidates, "the candidates", ldp.ReadCandidates); err != nil {
			return nil, err
		}
	}
	if f.words.mapFile != "" {
		m, err := openSide(f.words.mapFile, "the map")
		if err != nil {
			return nil, err
		}
		r.Map = &api.LDPFile{Name: f.words.mapFile, Reader: m}
	}
	if f.with == "" {
		return r, nil
	}
	if f.withSpec == "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--with-spec", What: "expected the specification by which those reports were made"}
	}
	other := surveyFlags{spec: f.withSpec}
	r.With = &api.LDPOther{Reports: api.LDPFile{Name: f.with}, CandidatesFile: f.withWords}
	if r.With.Survey, err = other.read(); err != nil {
		return nil, err
	}
	if f.withWords != "" {
		r.With.Candidates, err = readFile(f.withWords, "the candidates", ldp.ReadCandidates)
	}
	return r, err
}

// write writes files of the reference client and server, and the page: all or none.
func (f *estimateFlags) write(t *terminal, e *api.LDPEstimate) error {
	return writeTogether(f.force, t.stdout,
		written{f.writeCounts, e.WriteCounts},
		written{f.writeMap, func(w io.Writer) error { return ldp.WriteMap(w, e.Map) }},
		written{f.writeParams, func(w io.Writer) error { return ldp.WriteParams(w, *e.Params) }},
		written{f.page, func(w io.Writer) error { return report.LDPEstimatePage(e, "noren "+Version()).In(t.lang).Write(w) }},
	)
}

// noteShares explains shares that surprise: those below 0 or above 1, and those that the
// noise of few reports hides.
func noteShares(t *terminal, shares []api.LDPShare, reports int64) {
	const wide, wanted = 0.05, 0.02 // standard errors of a share
	outside, largest := false, 0.0
	for _, s := range shares {
		outside = outside || s.Share < 0 || s.Share > 1
		largest = max(largest, s.StdErr)
	}
	if outside {
		t.note("an estimated share below 0 or above 1 is a true share near that end, and noise; --project finds shares that can be")
	}
	if need := float64(reports) * largest / wanted * largest / wanted; largest > wide && need < 1e15 {
		t.note("%s {report is|reports are} few: a share has a standard error of %s; about %s {report makes|reports make} it 0.02",
			report.Integer(reports), figure(largest), report.Integer(roundedUp(need)))
	}
}

// roundedUp is x rounded up to two digits.
func roundedUp(x float64) int64 {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(x, 1)))-1))
	return int64(math.Ceil(x/unit) * unit)
}

func printEstimate(w io.Writer, e *api.LDPEstimate) {
	lang.Fprintf(w, "%s: %s {report|reports} by %s; %s\n\n", strings.Join(e.Inputs, ", "), report.Integer(e.Reports), e.Mechanism, e.Rejected)
	for _, t := range report.LDPEstimateTables(e) {
		printTable(w, &t)
		fmt.Fprintln(w)
	}
	printPrivacy(w, &e.Privacy)
	if a := e.Association; a != nil && a.Loss != e.Privacy.Loss() {
		printLine(w, "both", lang.Of(w).Shown(a.Loss.Text()))
	}
}
