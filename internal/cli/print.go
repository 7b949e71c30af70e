package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

// printRelease tells what a release came to.
func printRelease(w io.Writer, r *kanon.Result) {
	fmt.Fprintf(w, "%s: %s records, verified %d-anonymous\n\n", r.Output, report.Integer(r.Rows), r.AchievedK)
	fmt.Fprintf(w, "  promise     %s\n", r.Guarantee)
	fmt.Fprintf(w, "  classes     %s, of %d to %d records\n", report.Integer(r.Classes), int(r.Verified.ClassSize.Min), int(r.Verified.ClassSize.Max))
	printUnit(w, r)
	fmt.Fprintf(w, "  groups      %s, of %d to %d records, %.2f on average\n", report.Integer(r.Groups), r.GroupSize.Min, r.GroupSize.Max, r.GroupSize.Mean)
	fmt.Fprintf(w, "  loss        %s of the spread of the quasi-identifiers", report.Percent(r.Loss))
	if r.RefinedFrom > r.Loss && r.Merged == 0 {
		fmt.Fprintf(w, " (%s before refinement)", report.Percent(r.RefinedFrom))
	}
	fmt.Fprintln(w)
	if r.Suppressed > 0 {
		fmt.Fprintf(w, "  suppressed  %s of %s records, which are %s of the loss\n", report.Integer(r.Suppressed), report.Integer(r.Rows+r.Suppressed), report.Percent(r.SuppressedLoss/max(r.Loss, math.SmallestNonzeroFloat64)))
	}
	if r.NCP != nil {
		fmt.Fprintf(w, "  boxes       %s of a column's range or values are left open on average (NCP)\n", report.Percent(*r.NCP))
	}
	if r.Large > 0 {
		fmt.Fprintf(w, "  large       %s of more than %d records: no division of them was found that keeps what is asked of sensitive columns\n", groupsOf(r.Large), 10*r.K)
	}
	printBound(w, r)
	printUnique(w, r)
	if r.Merged > 0 {
		fmt.Fprintf(w, "  merged      %s groups, for diversity or closeness\n", report.Integer(r.Merged))
	}
	fmt.Fprintf(w, "  method      %s", r.Method)
	if r.Coarse > 0 {
		fmt.Fprintf(w, " in cells of %s records or more", report.Integer(r.Coarse))
	}
	fmt.Fprintf(w, ", refine %s, scale %s, published by %s\n", r.Refine, r.Scale, r.Publish)
	s := r.Seconds
	fmt.Fprintf(w, "  seconds     %.2f: check %.2f, read %.2f, partition %.2f, refine %.2f, bound %.2f, publish %.2f, verify %.2f\n", s.Total, s.Check, s.Read, s.Partition, s.Refine, s.Bound, s.Publish, s.Verify)
	printFates(w, r.Columns)
}

func groupsOf(n int) string {
	if n == 1 {
		return "1 group"
	}
	return report.Integer(n) + " groups"
}

// printUnit tells what was found of persons.
func printUnit(w io.Writer, r *kanon.Result) {
	u := r.Verified.Unit
	if u == nil {
		return
	}
	fmt.Fprintf(w, "  persons     %s by %s, %d to %d in a class, %.2f on average", report.Integer(u.Persons), u.Column, u.ClassSize.Min, u.ClassSize.Max, u.ClassSize.Mean)
	if u.Unassigned > 0 {
		fmt.Fprintf(w, "; %s records without one", report.Integer(u.Unassigned))
	}
	fmt.Fprintf(w, "\n  intersect   %s", fitSentence(u))
	if u.Linked {
		fmt.Fprintf(w, " (%d asked for)", r.K)
	} else if u.Fit.Below > 0 {
		fmt.Fprintf(w, "; fewer than %d fit %s persons (--unit-linkage all prevents it)", r.K, report.Integer(u.Fit.Below))
	}
	fmt.Fprintln(w)
	if q := u.Sequences; q != nil {
		fmt.Fprintf(w, "  pseudonyms  %s, each with the sequence of %s or more; %s records without one\n", report.Integer(q.Pseudonyms), report.Integer(q.Min), report.Integer(q.Without))
	}
}

// printBound tells how little any grouping could lose.
func printBound(w io.Writer, r *kanon.Result) {
	b := &r.Bound
	fmt.Fprint(w, "  lower bound ")
	switch b.Method {
	case "none":
		fmt.Fprintf(w, "not known: %s\n", b.Reason)
		return
	case "simple":
		fmt.Fprintf(w, "%s, by nearest neighbours", percentDown(r.LowerBound))
	default:
		fmt.Fprintf(w, "%s, by prices", percentDown(r.LowerBound))
	}
	fmt.Fprintf(w, "; gap %s: no grouping saves more of the loss", percentUp(r.Gap))
	if b.Reason != "" {
		fmt.Fprintf(w, " (%s)", b.Reason)
	}
	fmt.Fprintln(w)
}

// percentDown is a share in percent with four digits, rounded down: what is said
// of a bound holds as it is printed.
func percentDown(share float64) string { return percentTowards(share, math.Floor) }

// percentUp is percentDown, rounded up.
func percentUp(share float64) string { return percentTowards(share, math.Ceil) }

func percentTowards(share float64, round func(float64) float64) string {
	if share <= 0 {
		return "0%"
	}
	x := 100 * share
	unit := math.Pow(10, 3-math.Floor(math.Log10(x)))
	return strconv.FormatFloat(round(x*unit)/unit, 'g', 4, 64) + "%"
}

// printAssessment tells the risk of a table and what a release lost.
func printAssessment(out io.Writer, a *assess.Assessment) error {
	fmt.Fprintf(out, "quasi-identifiers: %s\n\n", strings.Join(a.Quasi, ", "))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	risks := []*assess.Risk{a.Original}
	heading := "\toriginal"
	if a.Release != nil {
		risks = append(risks, a.Release)
		heading += "\trelease"
	}
	row := func(name string, value func(*assess.Risk) string) {
		fmt.Fprint(w, name)
		for _, r := range risks {
			fmt.Fprint(w, "\t"+value(r))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, heading)
	row("records", func(r *assess.Risk) string { return report.Integer(r.Records) })
	row("classes", func(r *assess.Risk) string { return report.Integer(r.Classes) })
	row("smallest class (k)", func(r *assess.Risk) string { return report.Integer(r.SmallestClass) })
	row("largest class", func(r *assess.Risk) string { return report.Integer(r.LargestClass) })
	row("unique records", func(r *assess.Risk) string {
		return fmt.Sprintf("%s (%s)", report.Integer(r.UniqueRecords), report.Percent(r.UniqueShare))
	})
	row("prosecutor risk, highest", func(r *assess.Risk) string { return report.Percent(r.Prosecutor.Max) })
	row("prosecutor risk, mean", func(r *assess.Risk) string { return report.Percent(r.Prosecutor.Mean) })
	row(fmt.Sprintf("records above %s", report.Percent(a.Original.Prosecutor.Threshold)), func(r *assess.Risk) string {
		return fmt.Sprintf("%s (%s)", report.Integer(r.Prosecutor.RecordsAbove), report.Percent(r.Prosecutor.ShareAbove))
	})
	printPersonRows(w, a)
	row("marketer risk", func(r *assess.Risk) string { return report.Percent(r.Marketer) })
	if j := a.OriginalJournalist; j != nil {
		fmt.Fprintf(w, "journalist risk, highest\t%s\n", report.Percent(j.Max))
		fmt.Fprintf(w, "journalist risk, mean\t%s\n", report.Percent(j.Mean))
		fmt.Fprintf(w, "unique in the population\t%s\n", report.Integer(j.PopulationUniques))
	}
	if u := a.OriginalUniqueness; u != nil {
		printUniqueness(w, u)
	}
	if a.Utility != nil {
		printUtility(w, a.Utility)
	}
	return w.Flush()
}

// printPersonRows prints what is known of the persons of a table and its release.
func printPersonRows(w io.Writer, a *assess.Assessment) {
	if a.OriginalPersons == nil {
		return
	}
	row := func(name string, value func(*assess.Persons) string) {
		fmt.Fprintf(w, "%s\t%s", name, value(a.OriginalPersons))
		switch {
		case a.ReleasePersons != nil:
			fmt.Fprintf(w, "\t%s", value(a.ReleasePersons))
		case a.Release != nil:
			fmt.Fprint(w, "\tnot known")
		}
		fmt.Fprintln(w)
	}
	row("persons, by "+a.OriginalPersons.Column, func(p *assess.Persons) string { return report.Integer(p.Persons) })
	if a.OriginalPersons.Without > 0 {
		row("records without a person", func(p *assess.Persons) string { return report.Integer(p.Without) })
	}
	row("persons in a class, smallest", func(p *assess.Persons) string { return report.Integer(p.Smallest) })
	row("persons in a class, mean", func(p *assess.Persons) string { return report.Number(p.Mean) })
	if k := a.OriginalPersons.K; k > 0 {
		row(fmt.Sprintf("classes of fewer than %d persons", k), func(p *assess.Persons) string { return report.Integer(p.BelowK.Classes) })
	}
	row("persons that fit all records of one, smallest", func(p *assess.Persons) string { return report.Integer(p.Fit.Min) })
	row("persons that fit all records of one, mean", func(p *assess.Persons) string { return report.Number(p.Fit.Mean) })
	row("persons whom no other fits", func(p *assess.Persons) string { return report.Integer(p.Fit.Alone) })
}

func printUniqueness(w io.Writer, u *assess.Uniqueness) {
	for _, m := range []struct {
		name string
		e    assess.Estimate
	}{{assess.ModelZayatz, u.Zayatz}, {assess.ModelPitman, u.Pitman}, {assess.ModelSNB, u.SNB}} {
		value := "none: " + m.e.Reason
		if m.e.Share != nil {
			value = report.Percent(*m.e.Share)
		}
		if m.name == u.Chosen {
			value += " (chosen)"
		}
		fmt.Fprintf(w, "unique in the population, %s\t%s\n", m.name, value)
	}
}

func printUtility(w io.Writer, u *assess.Utility) {
	figure := func(f assess.Figure) string {
		switch {
		case f.Value != nil:
			return report.Percent(*f.Value)
		case f.Low != nil && f.High != nil:
			return report.Percent(*f.Low) + " to " + report.Percent(*f.High)
		case f.Low != nil:
			return report.Percent(*f.Low) + " at least"
		}
		return "not known: " + f.Reason
	}
	if len(u.Loss.Columns) > 0 {
		fmt.Fprintf(w, "\nloss of the numbers (SSE/SST, min-max)\t%s\n", figure(u.Loss.MinMax))
	}
	if len(u.Numbers) > 0 {
		fmt.Fprintln(w, "\nnumber\tmean before\tafter\tdeviation before\tafter")
		for _, c := range u.Numbers {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.Name, mean(&c, c.Original.Mean), mean(&c, c.Release.Mean), spread(&c, c.Original.SD), spread(&c, c.Release.SD))
		}
	}
	if c := u.Correlations; c != nil && c.Largest != nil {
		fmt.Fprintf(w, "\ncorrelation that changed most\t%s, %s: %.3f to %.3f\n", c.Largest.First, c.Largest.Second, c.Largest.Original, c.Largest.Release)
	}
	if len(u.Categories) > 0 {
		fmt.Fprintln(w, "\ncategory\tvalues\tlost\tfrequencies changed by")
		for _, c := range u.Categories {
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", c.Name, c.Values, c.Lost, report.Percent(c.TotalVariation))
		}
	}
}

// mean shows the mean of a column, of dates as a date.
func mean(c *assess.NumberColumn, v *float64) string {
	if v == nil {
		return "-"
	}
	if c.Type == table.Date.String() {
		return table.Layout(c.Layout).Format(int64(math.Round(*v)))
	}
	return report.Number(*v)
}

// spread shows a standard deviation, of dates with its unit.
func spread(c *assess.NumberColumn, v *float64) string {
	switch {
	case v == nil:
		return "-"
	case c.Type != table.Date.String():
		return report.Number(*v)
	case table.Layout(c.Layout).HasTime():
		return report.Number(*v) + " s"
	}
	return report.Number(*v) + " days"
}
