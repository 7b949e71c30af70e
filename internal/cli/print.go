package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
)

// printRelease prints what a release came to.
func printRelease(w io.Writer, r *kanon.Result) {
	lang.Fprintf(w, "%s: %s {record|records}, verified %d-anonymous (this summary is private: do not release)\n\n", r.Output,
		report.Integer(r.Rows), r.AchievedK)
	for _, l := range words.Release(lang.Of(w), r) {
		if u := r.Verified.Unit; l.Label == "intersect" && !u.Linked && u.Fit.Below > 0 {
			l.Text = lang.Of(w).Text("%s (--unit-linkage all prevents it)", l.Text)
		}
		printLine(w, l.Label, l.Text)
	}
	printFates(w, r.Columns)
}

// printFates prints what was done with each column, and why.
func printFates(out io.Writer, fates []gate.Fate) {
	l := lang.Of(out)
	lang.Fprintln(out, "\n  columns")
	w := grid.New(out)
	for _, f := range fates {
		lang.Fprintf(w, "    %s\t%s\t%s\t%s\n", f.Column, l.Term(f.Role), l.Term(f.Fate), f.Why)
	}
	_ = w.Flush()
}

// printReleasePlan prints what a release would do.
func printReleasePlan(w io.Writer, p *api.ReleasePlan) {
	l := lang.Of(w)
	lang.Fprintf(w, "%s: %s {record|records}; nothing was written (private: do not release)\n\n", p.Input, report.Integer(p.Rows))
	printLines(w, words.ReleasePlan(lang.Of(w), p))
	lang.Fprintln(w, "\n  columns")
	g := grid.New(w)
	for i, f := range p.Columns {
		lang.Fprintf(g, "    %s\t%s\t%s\t%s\t%s\n", f.Column, l.Term(p.Read[i].Type), l.Term(f.Role), l.Term(f.Fate), f.Why)
	}
	_ = g.Flush()
}

// printAssessment tells the risk of a table and what a release lost.
func printAssessment(out io.Writer, a *assess.Assessment) error {
	lang.Fprintf(out, "private: do not release\n\n")
	lang.Fprintf(out, "quasi-identifiers: %s\n\n", strings.Join(a.Quasi, ", "))
	w := grid.New(out)
	risks := []*assess.Risk{a.Original}
	heading := "\t" + lang.Of(out).Text("original")
	if a.Release != nil {
		risks = append(risks, a.Release)
		heading += "\t" + lang.Of(out).Text("release")
	}
	row := func(name lang.Key, value func(*assess.Risk) string, args ...any) {
		lang.Fprintf(w, name, args...)
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
	row("records above %s", func(r *assess.Risk) string {
		return fmt.Sprintf("%s (%s)", report.Integer(r.Prosecutor.RecordsAbove), report.Percent(r.Prosecutor.ShareAbove))
	}, report.Percent(a.Original.Prosecutor.Threshold))
	printPersonRows(w, a)
	row("marketer risk", func(r *assess.Risk) string { return report.Percent(r.Marketer) })
	if j := a.OriginalJournalist; j != nil {
		lang.Fprintf(w, "journalist risk, highest\t%s\n", report.Percent(j.Max))
		lang.Fprintf(w, "journalist risk, mean\t%s\n", report.Percent(j.Mean))
		lang.Fprintf(w, "unique in the population\t%s\n", report.Integer(j.PopulationUniques))
	}
	if u := a.OriginalUniqueness; u != nil {
		printUniqueness(w, u)
	}
	if q := a.Queries; q != nil {
		lang.Fprintf(w, "\nerror of a count over these columns, mean\t%s (%s to %s)\n", report.Percent(q.Mean), report.Percent(q.MeanLow),
			report.Percent(q.MeanHigh))
		lang.Fprintf(w, "error of a count over these columns, median\t%s\n", report.Percent(q.Median))
	}
	if l := a.ClassLoss; l != nil {
		lang.Fprintf(w, "information loss of the classes (SSE/SST, %s)\t%s\n", l.Scale, report.Percent(l.Loss))
	}
	for _, s := range a.Sensitive {
		lang.Fprintf(w, "classes with one value of %s\t%s of %s\n", s.Column, report.Integer(s.Homogeneous), report.Integer(s.Classes))
	}
	if o := a.Overlap; o != nil && o.Common > 0 {
		lang.Fprintf(w, "fewer than %d {candidate|candidates} with %s too\t%s of %s\n", o.K, o.Release, report.Integer(o.Below),
			report.Integer(o.Common))
		if len(o.Kept) > 0 {
			lang.Fprintf(w, "not counted: kept by one release\t%s\n", strings.Join(o.Kept, ", "))
		}
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
	row := func(name noren.Text, value func(*assess.Persons) string) {
		lang.Fprintf(w, "%s\t%s", name, value(a.OriginalPersons))
		switch {
		case a.ReleasePersons != nil:
			lang.Fprintf(w, "\t%s", value(a.ReleasePersons))
		case a.Release != nil:
			lang.Fprintf(w, "\tnot known")
		}
		fmt.Fprintln(w)
	}
	row(noren.Textf("persons, by %s", a.OriginalPersons.Column), func(p *assess.Persons) string { return report.Integer(p.Persons) })
	if a.OriginalPersons.Without > 0 {
		row(noren.Textf("records without a person"), func(p *assess.Persons) string { return report.Integer(p.Without) })
	}
	row(noren.Textf("persons in a class, smallest"), func(p *assess.Persons) string { return report.Integer(p.Smallest) })
	row(noren.Textf("persons in a class, mean"), func(p *assess.Persons) string { return report.Number(p.Mean) })
	if k := a.OriginalPersons.K; k > 0 {
		row(noren.Textf("classes of fewer than %d {person|persons}", k),
			func(p *assess.Persons) string { return report.Integer(p.BelowK.Classes) })
	}
	row(noren.Textf("persons that fit all records of one, smallest"), func(p *assess.Persons) string { return report.Integer(p.Fit.Min) })
	row(noren.Textf("persons that fit all records of one, mean"), func(p *assess.Persons) string { return report.Number(p.Fit.Mean) })
	row(noren.Textf("persons whom no other fits"), func(p *assess.Persons) string { return report.Integer(p.Fit.Alone) })
}

func printUniqueness(w io.Writer, u *assess.Uniqueness) {
	l := lang.Of(w)
	for _, m := range []struct {
		name string
		e    assess.Estimate
	}{{assess.ModelZayatz, u.Zayatz}, {assess.ModelPitman, u.Pitman}, {assess.ModelSNB, u.SNB}} {
		value := l.Text("none: %s", m.e.Reason)
		if m.e.Share != nil {
			value = report.Percent(*m.e.Share)
		}
		if m.name == u.Chosen {
			value += l.Text(" (chosen)")
		}
		lang.Fprintf(w, "unique in the population, %s\t%s\n", l.Term(m.name), value)
	}
	if r := u.Range; r != nil {
		value := l.Text("%s to %s", report.Percent(r.Low), report.Percent(r.High))
		if u.OrderOfMagnitude {
			value += l.Text(" (order of magnitude only)")
		}
		lang.Fprintf(w, "unique in the population, models that fit\t%s\n", value)
	}
	lang.Fprintf(w, "unique in the population, without a model\t%s\n",
		l.Text("%s to %s", report.Percent(u.Bounds.Low), report.Percent(u.Bounds.High)))
}

func printUtility(w io.Writer, u *assess.Utility) {
	l := lang.Of(w)
	figure := func(f assess.Figure) string {
		switch {
		case f.Value != nil:
			return report.Percent(*f.Value)
		case f.Low != nil && f.High != nil:
			return l.Text("%s to %s", report.Percent(*f.Low), report.Percent(*f.High))
		case f.Low != nil:
			return l.Text("%s at least", report.Percent(*f.Low))
		}
		return l.Text("not known: %s", f.Reason)
	}
	if u.NCP.Value != nil {
		lang.Fprintf(w, "\nmean width of a class (NCP)\t%s\n", figure(u.NCP))
	}
	if len(u.Loss.Columns) > 0 {
		lang.Fprintf(w, "\nsquared error of the numbers, of their spread\t%s\n", figure(u.Loss.MinMax))
	}
	if len(u.Numbers) > 0 {
		lang.Fprintln(w, "\nnumber\tmean before\tafter\tdeviation before\tafter")
		for _, c := range u.Numbers {
			lang.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.Name, mean(&c, c.Original.Mean), mean(&c, c.Release.Mean), spread(l, &c, c.Original.SD),
				spread(l, &c, c.Release.SD))
		}
	}
	if c := u.Correlations; c != nil && c.Largest != nil {
		lang.Fprintf(w, "\ncorrelation that changed most\t%s, %s: %.3f to %.3f\n", c.Largest.First, c.Largest.Second, c.Largest.Original,
			c.Largest.Release)
	}
	if len(u.Categories) > 0 {
		lang.Fprintln(w, "\ncategory\tvalues\tlost\tfrequencies changed by")
		for _, c := range u.Categories {
			lang.Fprintf(w, "%s\t%d\t%d\t%s\n", c.Name, c.Values, c.Lost, report.Percent(c.TotalVariation))
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
func spread(l lang.Lang, c *assess.NumberColumn, v *float64) string {
	switch {
	case v == nil:
		return "-"
	case c.Type != table.Date.String():
		return report.Number(*v)
	case table.Layout(c.Layout).HasTime():
		return l.Text("%s s", report.Number(*v))
	}
	return l.Text("%s {day|days}", report.Number(*v))
}
