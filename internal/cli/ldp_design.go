package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
)

const designSchema = "noren.ldp.design/1"

type designFlags struct {
	survey     surveyFlags
	n          int64
	repeats    int
	wanted     float64
	bytes      int
	attributes int
	candidates int
	output     string
	force      bool
	json       bool
}

func newLDPDesign(t *terminal) *cobra.Command {
	var f designFlags
	c := &cobra.Command{
		Use:   "design --size K|--candidates C --epsilon E [--n N]",
		Short: "Which mechanism to take, why, and what error to expect",
		Long: `Plans a collection from public facts: the size of the domain (--size, --labels, --bins,
--edges; or --range for the mean of a number), epsilon, how many people report, and how
often each is asked. It names the mechanism to take and why, the standard error that a
share would have, and with --error how many people it takes.

--candidates C plans for texts, to be found among a list of C words: RAPPOR's k, h, m, f, p
and q, the standard error of a word's share, and the share from which a word is found.

--attributes D plans for records of D such attributes at epsilon together: each report
holds a random few of them. -o writes the specification to go on with.`,
		Example: `  noren ldp design --size 5 --epsilon 1 --n 10000
  noren ldp design --bins 0,30,5 --epsilon 1 --repeats 365 --lifetime 4 --error 0.01
  noren ldp design --candidates 200 --epsilon 2 --n 100000 -o words.yaml
  noren ldp design --range 0,100 --epsilon 1 --n 5000
  noren ldp design --labels red,green,blue --epsilon 2 --n 1000 -o ldp.yaml --json`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return f.run(t) },
	}
	f.survey.register(c)
	s := c.Flags()
	// What the design chooses is not offered; given all the same, it is refused.
	for _, name := range []string{"mechanism", "rappor", "params", "buckets"} {
		_ = s.MarkHidden(name) // they are registered
	}
	s.IntVar(&f.candidates, "candidates", 0, "plan for texts, with so many candidate words")
	s.Int64Var(&f.n, "n", 0, "how many people report")
	s.IntVar(&f.repeats, "repeats", 1, "how often each person is asked the same")
	s.Float64Var(&f.wanted, "error", 0, "the standard error that is wanted: of a share, or of a mean in the units of its range")
	s.IntVar(&f.bytes, "report-bytes", 1024, "how long a report may be")
	s.IntVar(&f.attributes, "attributes", 1, "how many such attributes a record has")
	s.StringVarP(&f.output, "output", "o", "", "write the specification to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the specification when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+designSchema)
	return c
}

// design is a plan, with figures for each mechanism that could run.
type design struct {
	Schema     string         `json:"schema"`
	Kind       string         `json:"kind"`
	Domain     int            `json:"domain,omitempty"`
	Range      []float64      `json:"range,omitempty"`
	Epsilon    float64        `json:"epsilon"`
	N          int64          `json:"n,omitempty"`
	Repeats    int            `json:"repeats"`
	Attributes int            `json:"attributes"`
	Sampled    int            `json:"sampled_attributes"`
	Wanted     float64        `json:"wanted_error,omitempty"`
	Best       designOption   `json:"best"`
	Why        []string       `json:"why"`
	Options    []designOption `json:"options"`
	Privacy    privacyJSON    `json:"privacy"`
	spec       survey.Spec
}

// designOption is a mechanism with what it would yield. Errors are standard errors
// of the share of a rare label, or of a mean where it is worst; Worst is that of
// the share with the largest; Within is within how much all shares, or the mean,
// lie with 95 %. Null without n.
type designOption struct {
	Mechanism  string   `json:"mechanism"`
	Loss       ldp.Loss `json:"loss"`
	AllReports float64  `json:"epsilon_all_reports"`
	Variance   float64  `json:"n_variance"`
	StdErr     *float64 `json:"std_err"`
	Worst      *float64 `json:"worst_std_err"`
	Within     *float64 `json:"within_95"`
	Needed     int64    `json:"n_needed,omitempty"`
	Bytes      int      `json:"bytes"`
}

func (f *designFlags) run(t *terminal) error {
	if err := checkTargets(f.force, f.output); err != nil {
		return err
	}
	spec, err := f.survey.read()
	if err != nil {
		return err
	}
	if spec.Mechanism != "" || len(spec.Attributes) > 0 || spec.F != nil {
		return &noren.Error{Kind: noren.Usage, What: "the design chooses the mechanism", Hint: "leave out --mechanism, --rappor and --params; noren ldp simulate tries a mechanism of your own"}
	}
	if spec.Buckets != 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--buckets", What: "no mechanism that the design chooses has buckets", Hint: "leave it out"}
	}
	if f.n < 0 || f.repeats < 1 || f.attributes < 1 || !(f.wanted >= 0) || math.IsInf(f.wanted, 0) || f.bytes < 1 {
		return &noren.Error{Kind: noren.Usage, What: "--n and --error must not be negative, --repeats, --attributes and --report-bytes be 1 or more"}
	}
	if f.candidates != 0 {
		return f.words(t, spec)
	}
	d := &design{
		Schema: designSchema, Epsilon: spec.Epsilon, N: f.n, Repeats: f.repeats, Attributes: f.attributes, Wanted: f.wanted, Sampled: 1, spec: *spec,
	}
	if f.attributes > 1 {
		d.Sampled = max(1, min(f.attributes, int(spec.Epsilon/2.5)))
	}
	if len(spec.Range) > 0 {
		err = d.means(f)
	} else {
		err = d.shares(f)
	}
	if err != nil {
		return err
	}
	if f.output != "" {
		if f.attributes > 1 {
			return &noren.Error{Kind: noren.Usage, Where: "-o", What: "the attributes need each a name and a domain", Hint: "list them under attributes: in a specification of your own (docs/cli.md)"}
		}
		if err := writeFile(f.output, f.force, t.stdout, d.spec.Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, d)
	}
	d.print(t)
	return nil
}

// each is epsilon and the number of people for one attribute of several.
func (d *design) each() (epsilon float64, n int64) {
	return d.Epsilon / float64(d.Sampled), d.N * int64(d.Sampled) / int64(d.Attributes)
}

// ofRecord makes the loss of one attribute that of a record of several.
func (d *design) ofRecord(o *designOption) {
	o.Loss = ldp.Loss{Report: o.Loss.Report, Record: d.Epsilon, Lifetime: math.Inf(1)}
	o.AllReports = o.Loss.After(d.Repeats)
}

// finish states the promise of the mechanism that was chosen.
func (d *design) finish(mechanism string) error {
	d.spec.Mechanism = mechanism
	one := d.spec
	one.Epsilon, _ = d.each()
	s, err := survey.New(one)
	if err != nil {
		return err
	}
	d.Privacy = privacyOf(s)
	if d.Attributes > 1 {
		// Whatever stands in a report, the record loses its epsilon in all.
		d.Privacy.Loss = ldp.Loss{Report: one.Epsilon, Record: d.Epsilon, Lifetime: math.Inf(1)}
		d.Privacy.Guarantee = d.Privacy.Loss.Guarantee()
		d.Why = append(d.Why, fmt.Sprintf("of %d attributes a report holds a random %d, each at epsilon %.4g: splitting epsilon over all would cost more", d.Attributes, d.Sampled, one.Epsilon))
	}
	return nil
}

// shares plans for the shares of labels.
func (d *design) shares(f *designFlags) error {
	d.Kind = string(survey.Shares)
	probe := d.spec
	probe.Mechanism, probe.Epsilon, probe.Lifetime = "grr", 1, 0 // the domain alone is looked at
	s, err := survey.New(probe)
	if err != nil {
		return err
	}
	d.Domain = len(s.Labels(0))
	if d.Attributes > 1 && d.Repeats > 1 {
		return &noren.Error{Kind: noren.Usage, Where: "--repeats", What: "reports of a random few of several attributes have no memory, and each costs epsilon again", Hint: "ask for one attribute with a longitudinal mechanism, or lower epsilon and ask once"}
	}
	e, n := d.each()
	longest := f.bytes
	if d.Attributes > 1 {
		longest = math.MaxInt // several attributes go by GRR or OUE
	}
	a, err := ldp.Advise(ldp.Question{Domain: d.Domain, Epsilon: e, N: n, Repeats: d.Repeats, Lifetime: d.spec.Lifetime, Error: d.Wanted, ReportBytes: longest})
	if err != nil {
		return err
	}
	// Within: of normal estimates, each of which may miss with 0.05/labels.
	z := mathext.NormalQuantile(1 - 0.05/2/float64(d.Domain))
	for _, o := range a.Options {
		out := designOption{
			Mechanism: o.Mechanism, Loss: o.Loss, AllReports: o.AllReports, Variance: o.Variance, Bytes: o.Bytes,
			StdErr: orNull(o.StdErr), Worst: orNull(o.WorstStdErr), Within: orNull(z * o.WorstStdErr),
			Needed: scaleUp(o.Needed, d.Attributes, d.Sampled),
		}
		if d.Attributes > 1 {
			if o.Mechanism != "grr" && o.Mechanism != "oue" {
				continue
			}
			d.ofRecord(&out)
		}
		d.Options = append(d.Options, out)
		if o.Mechanism == a.Best.Mechanism {
			d.Best = out
		}
	}
	d.Why = a.Why
	if d.Repeats > 1 && d.spec.Lifetime == 0 {
		d.spec.Lifetime = min(2*d.Epsilon, ldp.MaxEpsilon)
	}
	if d.Repeats == 1 {
		d.spec.Lifetime = 0
	}
	return d.finish(a.Best.Mechanism)
}

// scaleUp is how many people there must be for n reports of one attribute.
func scaleUp(n int64, attributes, sampled int) int64 {
	return int64(math.Ceil(min(float64(n)*float64(attributes)/float64(sampled), 1<<62)))
}

// means plans for the mean of a number.
func (d *design) means(f *designFlags) error {
	d.Kind, d.Range = string(survey.Mean), d.spec.Range
	if d.spec.Lifetime != 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--lifetime", What: "the mechanisms for means have no memory", Hint: "put the number into bins (--bins) for a longitudinal mechanism"}
	}
	e, n := d.each()
	for _, name := range []string{"hybrid", "duchi", "piecewise"} {
		one := d.spec
		one.Mechanism, one.Epsilon = name, e
		s, err := survey.New(one)
		if err != nil {
			return err
		}
		m := s.MeanMechanism()
		out := designOption{Mechanism: name, Loss: m.Loss(), AllReports: m.Loss().After(d.Repeats), Variance: m.WorstVariance(), Bytes: (bitLength(m.Symbols()) + 7) / 8}
		if n > 0 {
			se := s.StdErr(n)
			out.StdErr, out.Worst, out.Within = orNull(se), orNull(se), orNull(mathext.NormalQuantile(0.975)*se)
		}
		if d.Wanted > 0 {
			out.Needed = scaleUp(int64(math.Ceil(min(out.Variance/(d.Wanted*d.Wanted), 1<<62))), d.Attributes, d.Sampled)
		}
		if d.Attributes > 1 {
			d.ofRecord(&out)
		}
		d.Options = append(d.Options, out)
	}
	d.Best = d.Options[0]
	half := (d.Range[1] - d.Range[0]) / 2
	d.Why = []string{
		fmt.Sprintf("hybrid has the least worst-case variance of the three; the Laplace mechanism would have %.4g", 8/(e*e)*half*half),
		"for the whole distribution of the number take square-wave, for shares of bins --bins",
	}
	if d.Repeats > 1 {
		d.Why = append(d.Why, fmt.Sprintf("%d reports cost %.4g: means have no memory; put the number into bins (--bins) for a longitudinal mechanism", d.Repeats, d.Best.AllReports))
	}
	return d.finish("hybrid")
}

func bitLength(n int) int { return len(strconv.FormatInt(int64(n-1), 2)) }

func (d *design) print(t *terminal) {
	w := t.stdout
	what := fmt.Sprintf("%d labels", d.Domain)
	if d.Kind == string(survey.Mean) {
		what = fmt.Sprintf("the mean of a number in [%s, %s]", figure(d.Range[0]), figure(d.Range[1]))
	}
	fmt.Fprintf(w, "%s, epsilon %g", what, d.Epsilon)
	if d.Attributes > 1 {
		fmt.Fprintf(w, " for %d attributes", d.Attributes)
	}
	if d.N > 0 {
		fmt.Fprintf(w, ", %s people", report.Integer(d.N))
	}
	if d.Repeats > 1 {
		fmt.Fprintf(w, ", asked %d times", d.Repeats)
	}
	fmt.Fprintf(w, "\n\n  take        %s\n", d.Best.Mechanism)
	for i, why := range d.Why {
		head := "because"
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %-11s %s\n", head, why)
	}
	dash := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return figure(*v)
	}
	table := report.Table{
		Caption: "\nwhat each would yield",
		Header:  []string{"mechanism", "n x variance", "std. error", "worst", "95 % within", "bytes", "all reports cost"},
		Numeric: []bool{false, true, true, true, true, true, true, true},
	}
	if d.Wanted > 0 {
		table.Header = append(table.Header, "people for "+figure(d.Wanted))
	}
	for _, o := range d.Options {
		row := []string{o.Mechanism, figure(o.Variance), dash(o.StdErr), dash(o.Worst), dash(o.Within), strconv.Itoa(o.Bytes), figure(o.AllReports)}
		if d.Wanted > 0 {
			row = append(row, report.Integer(o.Needed))
		}
		table.Rows = append(table.Rows, row)
	}
	printTable(w, &table)
	fmt.Fprintln(w)
	d.Privacy.print(w)
}
