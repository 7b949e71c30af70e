package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
)

type designFlags struct {
	survey     surveyFlags
	plan       api.LDPDesignRequest
	candidates int
	output     string
	force      bool
	json       bool
}

func newLDPDesign(t *terminal) *cobra.Command {
	var f designFlags
	c := &cobra.Command{
		Use:   "design --size K|--candidates C --epsilon E [--n N]",
		Short: "Choose a mechanism for a collection and compute its expected error",
		Args:  exactly(),
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), t) },
	}
	f.survey.register(c)
	s := c.Flags()
	// What the design chooses is not offered; given all the same, it is refused.
	for _, name := range []string{"mechanism", "rappor", "params", "buckets"} {
		_ = s.MarkHidden(name) // they are registered
	}
	s.IntVar(&f.candidates, "candidates", 0, "plan for texts, with this `NUMBER` of candidate words")
	s.Int64Var(&f.plan.N, "n", 0, "number of people who report")
	s.IntVar(&f.plan.Repeats, "repeats", 1, "how often each person is asked the same")
	s.Float64Var(&f.plan.Error, "error", 0, "the standard error that is wanted: of a share, or of a mean in the units of its range")
	s.IntVar(&f.plan.ReportBytes, "report-bytes", 1024, "largest length of a report")
	s.IntVar(&f.plan.Attributes, "attributes", 1, "number of such attributes of a record")
	s.StringVarP(&f.output, "output", "o", "", "write the specification to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the specification when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.LDPDesignSchema)
	return c
}

func (f *designFlags) run(ctx context.Context, t *terminal) error {
	if err := checkTargets(f.force, f.output); err != nil {
		return err
	}
	of, err := f.survey.read()
	if err != nil {
		return err
	}
	f.plan.Spec = of.Spec
	for flag, v := range map[string]int{"--repeats": f.plan.Repeats, "--report-bytes": f.plan.ReportBytes, "--attributes": f.plan.Attributes} {
		if v < 1 {
			return &noren.Error{Kind: noren.Usage, Where: flag, What: "must be 1 or more"}
		}
	}
	if f.candidates != 0 {
		return f.words(ctx, t)
	}
	d, err := t.service(nil).LDPDesign(ctx, &f.plan)
	if err != nil {
		return err
	}
	if f.output != "" {
		if f.plan.Attributes > 1 {
			return &noren.Error{
				Kind: noren.Usage, Where: "-o", What: "the attributes need each a name and a domain",
				Hint: "list them under attributes: in a specification of your own (docs/cli.md)",
			}
		}
		if err := writeFile(f.output, f.force, t.stdout, d.Spec.Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, d)
	}
	printDesign(t, d)
	t.points("local-differential-privacy", "epsilon", "n-x-variance")
	if f.output == "" {
		t.next("the same command with -o ldp.yaml writes the specification, which devices and collector need alike")
	} else {
		t.next("give %s to devices and collector; noren ldp randomize TABLE --column COLUMN --spec %s -o reports.csv randomises a table",
			f.output, names.Shell(f.output))
	}
	return nil
}

func printDesign(t *terminal, d *api.LDPDesign) {
	w := t.stdout
	what := noren.Textf("%d {label|labels}", d.Domain)
	if d.Kind == survey.Mean {
		what = noren.Textf("the mean of a number in [%s, %s]", figure(d.Range[0]), figure(d.Range[1]))
	}
	lang.Fprintf(w, "%s, epsilon %g", what, d.Epsilon)
	if d.Attributes > 1 {
		lang.Fprintf(w, " for %d {attribute|attributes}", d.Attributes)
	}
	if d.N > 0 {
		lang.Fprintf(w, ", %s {person|people}", report.Integer(d.N))
	}
	if d.Repeats > 1 {
		lang.Fprintf(w, ", asked %d {time|times}", d.Repeats)
	}
	fmt.Fprint(w, "\n\n")
	printLine(w, "take", d.Best.Mechanism)
	printReasons(w, d.Why)
	fmt.Fprintln(w)
	dash := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return figure(*v)
	}
	table := report.Table{
		Caption: noren.Textf("expected errors and sizes"),
		Header:  report.Header("mechanism", "n x variance", "std. error", "worst", "95 % within", "bytes", "all reports cost"),
		Numeric: []bool{false, true, true, true, true, true, true, true},
	}
	if d.Wanted > 0 {
		table.Header = append(table.Header, noren.Textf("people for std. error %s", figure(d.Wanted)))
	}
	for _, o := range d.Options {
		row := []string{figure(o.Variance), dash(o.StdErr), dash(o.Worst), dash(o.Within), strconv.Itoa(o.Bytes), words.LossFigure(o.AllReports)}
		if d.Wanted > 0 {
			row = append(row, report.Integer(o.Needed))
		}
		table.Add(report.Verbatim(o.Mechanism), row...)
	}
	printTable(w, &table)
	fmt.Fprintln(w)
	printPrivacy(w, &d.Privacy)
}

// words plans a collection of texts.
func (f *designFlags) words(ctx context.Context, t *terminal) error {
	if f.plan.Attributes != 1 || f.plan.Error != 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--candidates", What: "is not planned with --attributes or --error"}
	}
	d, err := t.service(nil).LDPWordDesign(ctx, &api.LDPWordDesignRequest{
		Spec: f.plan.Spec, N: f.plan.N, Candidates: f.candidates,
		Repeats: f.plan.Repeats,
	})
	if err != nil {
		return err
	}
	if f.output != "" {
		if err := writeFile(f.output, f.force, t.stdout, d.Best.Spec.Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, d)
	}
	w := t.stdout
	lang.Fprintf(w, "texts among %s {candidate|candidates}, epsilon %g, %s {person|people}", report.Integer(d.Candidates), d.Epsilon,
		report.Integer(d.N))
	if d.Repeats > 1 {
		lang.Fprintf(w, ", asked %d {time|times}", d.Repeats)
	}
	p := d.Best.Params
	fmt.Fprint(w, "\n\n")
	printLine(w, "take", t.lang.Text("%s with k = %d, h = %d, m = %d, f = %s, p = %s, q = %s", d.Best.Spec.Mechanism, p.K, p.H, p.M,
		figure(p.F), figure(p.P), figure(p.Q)))
	printReasons(w, d.Why)
	fmt.Fprintln(w)
	table := report.Table{
		Caption: noren.Textf("expected: the standard error of a rare word's share, the share that is found with probability 0.8, and the " +
			"error by chance overlap with an unnamed word of 10 %"),
		Header:  report.Header("k", "h", "m", "f", "std. error", "found from", "overlap"),
		Numeric: []bool{true, true, true, true, true, true, true},
	}
	for _, o := range d.Options {
		table.Rows = append(table.Rows, report.Verbatims(strconv.Itoa(o.Params.K), strconv.Itoa(o.Params.H), strconv.FormatInt(o.Params.M, 10),
			figure(o.Params.F), figure(o.StdErr), figure(o.Detectable), figure(o.Overlap)))
	}
	printTable(w, &table)
	fmt.Fprintln(w)
	printPrivacy(w, &d.Privacy)
	return nil
}
