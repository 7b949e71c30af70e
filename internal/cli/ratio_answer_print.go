package cli

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
)

// mostWarned is the number of warnings of single bins that are printed; JSON has all.
const mostWarned = 3

func printRatioAnswer(out io.Writer, a *api.RatioAnswer) {
	lang.Fprintf(out, "%s of the private records, by %s", a.Of, a.Input)
	if a.Where != "" {
		lang.Fprintf(out, ", where %s", a.Where)
	}
	lang.Fprintf(out, "\n\n")
	if a.Answer != nil {
		printLines(out, words.RatioEstimate(lang.Of(out), a))
	} else {
		printRatioTable(out, a)
	}
	if a.R2 != nil {
		fmt.Fprintf(out, "  R2          %s\n", figure(*a.R2))
	}
	for _, text := range a.Warnings {
		lang.Fprintf(out, "  warning     %s\n", text)
	}
	printed, left := 0, 0
	for _, one := range ratioRows(a) {
		for _, text := range one.Warnings {
			switch {
			case slices.ContainsFunc(a.Warnings, text.Equal):
			case printed == mostWarned:
				left++
			default:
				printed++
				lang.Fprintf(out, "  warning     %s: %s\n", one.label, text)
			}
		}
	}
	if left > 0 {
		lang.Fprintf(out, "              and %d {warning|warnings} of single lines (--json)\n", left)
	}
	lang.Fprintf(out, "  guarantee   %s\n  charged     nothing: the weights were paid for\n", a.Privacy)
}

// ratioRow is a bin of a histogram or a coefficient of a regression.
type ratioRow struct {
	label string
	api.RatioEstimate
}

func ratioRows(a *api.RatioAnswer) (rows []ratioRow) {
	for _, b := range a.Bins {
		rows = append(rows, ratioRow{b.Bin, b.RatioEstimate})
	}
	for _, c := range a.Coefficients {
		rows = append(rows, ratioRow{c.Term, c.RatioEstimate})
	}
	return rows
}

func printRatioTable(out io.Writer, a *api.RatioAnswer) {
	w := grid.New(out)
	if a.Question == "regression" {
		lang.Fprintln(w, "  term\tcoefficient\tstd. error\tpublic\tprivacy\tprivate\tmodel")
	} else {
		lang.Fprintln(w, "  bin\trecords\tstd. error\tshare\tcarried")
	}
	for _, r := range ratioRows(a) {
		if p := r.Parts; a.Question == "regression" {
			lang.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.label, figure(number(r.Value)), figure(number(r.SE)), figure(number(p.Public)),
				figure(number(p.Privacy)), figure(number(p.Private)), figure(number(p.Model)))
			continue
		}
		lang.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", r.label, report.Number(number(r.Value)), report.Number(number(r.SE)), share(number(r.Share)),
			words.Carried(r.Carried))
	}
	_ = w.Flush()
	lang.Fprintln(out, "  (standard errors hold if private records are like the public ones beside them, and the tables differ in what was "+
		"not released at most as much as in what was)")
}

// number is v, or NaN without one.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
