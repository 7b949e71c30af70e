package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
)

func newOutliersPlan(t *terminal) *cobra.Command {
	var r api.OutliersPlanRequest
	var facts outlier.Facts
	var neighbours string
	var share float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan --dimensions D --k K --epsilon E [--n N]",
		Short: "Choose the noise from public facts, before any data is read",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			r.Facts, r.Neighbours, r.Share = facts, neighbours, share
			p, err := t.service(nil).OutliersPlan(c.Context(), &r)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, p)
			}
			w := t.stdout
			lang.Fprintf(w, "%s neighbours, %d {dimension|dimensions}, k = %d, epsilon %g\n\n", p.Relation, p.Dimensions, p.K, p.Epsilon)
			lang.Fprintf(w, "  one record can change the count by at most %s\n", figure(float64(p.G)))
			g := grid.New(w)
			for _, e := range []struct {
				name lang.Key
				when string
				e    outlier.Expectation
			}{
				{"smooth", t.lang.Text("if at most %d records change sides at once (a guess, not a bound)", p.Guess), p.Smooth},
				{"global", t.lang.Text("whatever the data"), p.Global},
			} {
				lang.Fprintf(g, "  %s\t%s: standard deviation %s, 95 %% within %s, %s\n", t.lang.Text(e.name), e.e.Noise.Family, figure(e.e.SD),
					figure(e.e.HalfWidth), e.when)
			}
			lang.Fprintf(g, "  take\t%s\n", p.Noise.Family)
			_ = g.Flush()
			fmt.Fprintln(w)
			for _, a := range p.Advice {
				lang.Fprintf(w, "  %s\n", a)
			}
			fmt.Fprintln(w)
			table := planTable(p.Table, share)
			printTable(w, &table)
			return nil
		},
	}
	s := c.Flags()
	s.Float64Var(&share, "share", 0.01, "public guess of the share of records that are outliers")
	s.IntVar(&facts.Records, "n", 0, "the number of records, where it is public (replace-one)")
	s.IntVar(&facts.Dimensions, "dimensions", 0, "number of columns of the space")
	s.IntVar(&facts.K, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Float64Var(&facts.Epsilon, "epsilon", 0, "privacy cost: epsilon")
	s.IntVar(&facts.Guess, "guess", 3, "public guess of the local sensitivity on typical data")
	s.StringVar(&neighbours, "neighbours", "add-remove", "add-remove or replace-one")
	s.BoolVar(&asJSON, "json", false, "print one JSON object, noren.outliers.plan/1")
	return c
}

// planTable compares noise and count.
func planTable(rows []outlier.PlanRow, share float64) report.Table {
	t := report.Table{
		Caption: noren.Textf("standard deviation over the count, if %s of the records are outliers", report.Percent(share)),
		Header:  report.Header("records", "epsilon", "count", "smooth (if the guess is right)", "Laplace on the global sensitivity", ""),
		Numeric: []bool{true, true, true, true, true, false},
	}
	for _, r := range rows {
		remark := noren.Text{}
		switch {
		case !r.Useful():
			remark = noren.Textf("says little")
		case r.Smooth >= r.Global:
			remark = noren.Textf("Laplace is as good")
		}
		t.Rows = append(t.Rows, append(report.Verbatims(report.Integer(r.Records), words.LossFigure(r.Epsilon), figure(r.Count), figure(r.Smooth),
			figure(r.Global)), remark))
	}
	return t
}
