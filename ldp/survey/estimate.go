package survey

import (
	"context"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// smoothFrom is from how many buckets on distributions are smoothed. Over normal and
// bimodal samples of 1,000 and 20,000 at epsilon 1 and 3, smoothing made the
// Wasserstein distance up to 8 times as large at 16 buckets, and smaller or as
// small at 256.
const smoothFrom = 128

// Options are those of [Collector.Estimate].
type Options struct {
	// Level of the intervals of all shares or words together, or of a mean. Defaults to 0.95.
	Level float64
	// Map holds the candidates of words. Required for those.
	Map *ldp.Map
	// Alpha is the probability of any false word. Defaults to 0.05.
	Alpha float64
	// Correction of the tests of words. Defaults to Holm's.
	Correction ldp.Correction
	// All keeps the candidates that were not found.
	All bool
	// MaxMalformed is the largest share of lines that may be no reports of the
	// survey. Defaults to 0.01; 1 allows any.
	MaxMalformed float64
	// Rough leaves the distribution of a square wave unsmoothed. It is smoothed
	// where it has many buckets only: over few, each of which is wide, smoothing
	// puts in a larger error than it takes away, whatever the number of reports.
	Rough bool
	// Errors computes the errors of the mean and the quartiles of a distribution, which
	// takes about a hundred times as long as the estimate.
	Errors bool
}

// Estimate holds the estimates from reports; the field of the survey's Kind is set.
type Estimate struct {
	N            int64
	Rounds       int // above 0 where rounds were estimated together; the N of shares and words counts people then
	Rejected     ldp.Rejected
	Fit          ldp.Fit      // of the counts to the mechanism; see ldp.Fit
	Warnings     []noren.Text // doubts about the estimate
	Shares       *ldp.Frequencies
	Words        *ldp.DecodedWords
	Mean         *ldp.MeanEstimate
	Distribution *ldp.Distribution
	// Several has an element for each attribute, with Shares or Mean set.
	Several []Estimate
}

func (o *Options) defaults() error {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if !(o.Level > 0 && o.Level < 1) {
		return fault("level", noren.Textf("must lie between 0 and 1"), noren.Textf("0.95 is usual"))
	}
	if o.MaxMalformed == 0 {
		o.MaxMalformed = 0.01
	}
	if !(o.MaxMalformed > 0 && o.MaxMalformed <= 1) {
		return fault(noren.Phrase("malformed lines"), noren.Textf("their largest share must lie between 0 and 1"), noren.Text{})
	}
	return nil
}

// checkMalformed refuses collections with many lines that are no reports.
func (c *Collector) checkMalformed(o Options, r ldp.Rejected) error {
	bad := r.Total() - r.Duplicate
	all := c.N() + r.Total()
	if float64(bad) <= o.MaxMalformed*float64(all) {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Code: "malformed-reports", What: "%d of %d {line|lines} {1|is no report|are no reports} of this mechanism, more " +
			"than %g %%: %s", Args: []any{bad, all, 100 * o.MaxMalformed, Excluded(r, c.BadLinesText())},
		Hint: "see whether the specification is the one that the reports were made by; a larger share can be allowed",
	}
}

// BadLinesText names the lines that were no reports; it is empty where no line's number is
// known.
func (c *Collector) BadLinesText() noren.Text {
	r := c.Rejected()
	lines, total := c.bad, r.Total()-r.Duplicate
	if len(lines) == 0 {
		return noren.Text{}
	}
	var files noren.Texts
	for i := 0; i < len(lines); {
		from := i
		numbers := strconv.FormatInt(lines[i].Line, 10)
		for i++; i < len(lines) && lines[i].File == lines[from].File; i++ {
			numbers += ", " + strconv.FormatInt(lines[i].Line, 10)
		}
		files = append(files, noren.Textf("%s: line %s", noren.File(lines[from].File), numbers))
	}
	if more := total - int64(len(lines)); more > 0 {
		return noren.Textf("%s, and %d more", files, more)
	}
	return files.Text()
}

// Excluded says which reports were excluded, and in which lines they are, where that is known.
func Excluded(r ldp.Rejected, lines noren.Text) noren.Text {
	if lines.IsZero() {
		return r.Text()
	}
	return noren.Textf("%s (%s)", r, lines)
}

// doubts fills in Warnings.
func (e *Estimate) doubts() {
	if w := e.Fit.Warning(); !w.IsZero() {
		e.Warnings = append(e.Warnings, w)
	}
	if d := e.Distribution; d != nil && d.Errors != nil && !d.Errors.Doubt.IsZero() {
		e.Warnings = append(e.Warnings, d.Errors.Doubt)
	}
	d := e.Words
	if d == nil {
		return
	}
	if !d.Joint {
		e.Warnings = append(e.Warnings, noren.Textf("%d {candidate is|candidates are} too many to be told apart by these cohorts and bits (k "+
			"times m should be twice as many or more): the standard errors include chance overlaps of their bits, which further reports do not "+
			"reduce, and all intervals hold at once less often than stated", d.Candidates))
	}
	if u := d.Unnamed; u.P < 0.01 {
		e.Warnings = append(e.Warnings, noren.Textf("words that are no candidates have a share of %.3g in the reports (standard error %.2g): "+
			"name more candidates to find them", u.Value, u.StdErr))
	}
}

// Estimate estimates from what was counted. Error: [noren.BadData] where more lines
// than MaxMalformed are no reports, or where the reports cannot be of the
// mechanism.
func (c *Collector) Estimate(ctx context.Context, o Options) (*Estimate, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	e := &Estimate{N: c.N(), Rejected: c.Rejected()}
	if e.N == 0 {
		return nil, noReports(e.Rejected)
	}
	if c.s.kind == Words && o.Map == nil {
		return nil, noCandidates()
	}
	if err := c.checkMalformed(o, e.Rejected); err != nil {
		return nil, err
	}
	e.Fit = c.fitOfAll()
	if err := e.Fit.Err(); err != nil {
		return nil, err
	}
	var err error
	if c.rounds != nil {
		err = c.estimateRounds(ctx, o, e)
	} else {
		err = c.reports.estimate(ctx, o, e)
	}
	if err != nil {
		return nil, err
	}
	e.doubts()
	return e, nil
}

// estimateRounds estimates from all rounds together.
func (c *Collector) estimateRounds(ctx context.Context, o Options, e *Estimate) error {
	e.Rounds = c.rounds.number
	var err error
	if c.rounds.words == nil {
		if e.Shares, err = c.rounds.labels.Frequencies(o.Level); err == nil {
			e.Shares.Rejected = e.Rejected
		}
		return err
	}
	if e.Words, err = c.rounds.words.Decode(ctx, o.Map, o.decoding()); err == nil {
		e.Words.Rejected = e.Rejected
	}
	return err
}

// decoding are the options of a decoder of words.
func (o *Options) decoding() ldp.DecodeOptions {
	return ldp.DecodeOptions{Level: o.Alpha, Confidence: o.Level, Correction: o.Correction, All: o.All}
}

func noCandidates() error {
	return fault("candidates", noren.Textf("words are found among candidates, and none were named"),
		noren.Textf("name them in a file, one word a line, or give the map of the reference client"))
}

func noReports(r ldp.Rejected) error {
	e := &noren.Error{Kind: noren.BadData, What: "no report was counted, so nothing can be estimated"}
	if r.Total() > 0 {
		e.Saying("no report was counted, so nothing can be estimated; %s", r)
		e.Hinted("see whether the specification is the one that the reports were made by")
	}
	return e
}

// EstimateCounts estimates from RAPPOR's counts, which may come from a file.
func (s *Survey) EstimateCounts(ctx context.Context, counts *ldp.RapporCounts, rejected ldp.Rejected, o Options) (*Estimate, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	e := &Estimate{N: counts.Reports(), Rejected: rejected, Fit: counts.Fit()}
	if e.N == 0 {
		return nil, noReports(rejected)
	}
	if err := e.Fit.Err(); err != nil {
		return nil, err
	}
	if err := s.estimateCounts(ctx, counts, e, o); err != nil {
		return nil, err
	}
	e.doubts()
	return e, nil
}

// estimateCounts adds to e the shares or words that RAPPOR's counts show.
func (s *Survey) estimateCounts(ctx context.Context, counts *ldp.RapporCounts, e *Estimate, o Options) (err error) {
	switch {
	case s.kind == Shares:
		e.Shares, err = counts.Frequencies(o.Level)
	case o.Map == nil:
		return noCandidates()
	default:
		e.Words, err = counts.Decode(ctx, o.Map, o.decoding())
	}
	return err
}

// StdErr is the expected standard error among n people of the share of a label
// of share 0, or of the mean where it is largest; NaN where there is no formula.
func (s *Survey) StdErr(n int64) float64 {
	switch {
	case s.oracle != nil:
		return math.Sqrt(s.oracle.Channel().Variance(0) / float64(n))
	case s.mean != nil:
		return math.Sqrt(s.mean.WorstVariance() / float64(n))
	}
	return math.NaN()
}
