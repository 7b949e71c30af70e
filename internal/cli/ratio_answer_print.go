package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

// asked is what was asked and answered.
type asked struct {
	kind    string
	of      string // in words
	where   string
	field   table.Field
	one     *ratio.Answer
	share   *ratio.Answer // of a count
	labels  []string      // of bins, or of coefficients
	several []*ratio.Answer
	r2      *float64
	also    []string // warnings of a regression
}

// readOffJSON is an answer for programs; null is no finite number.
type readOffJSON struct {
	Value    *float64  `json:"value"`
	Text     string    `json:"text,omitempty"` // of dates and levels
	Share    *float64  `json:"share,omitempty"`
	SE       *float64  `json:"standard_error"`
	Parts    partsJSON `json:"parts"`
	Carried  *float64  `json:"carried,omitempty"`
	Warnings []string  `json:"warnings"`
}

type partsJSON struct {
	Public  *float64 `json:"public"`
	Privacy *float64 `json:"privacy"`
	Private *float64 `json:"private"`
	Model   *float64 `json:"model"`
}

type binJSON struct {
	Bin string `json:"bin"`
	readOffJSON
}

type termJSON struct {
	Term string `json:"term"`
	readOffJSON
}

type ratioAnswerJSON struct {
	Schema       string         `json:"schema"`
	Input        string         `json:"input"`
	Question     string         `json:"question"`
	Of           string         `json:"of"`
	Where        string         `json:"where,omitempty"`
	Answer       *readOffJSON   `json:"answer,omitempty"`
	ShareAnswer  *readOffJSON   `json:"share,omitempty"`
	Bins         []binJSON      `json:"bins,omitempty"`
	Coefficients []termJSON     `json:"coefficients,omitempty"`
	R2           *float64       `json:"r2,omitempty"`
	Excludes     string         `json:"excludes"`
	Privacy      string         `json:"privacy"`
	FitCheck     ratio.FitCheck `json:"fit_check"`
	Warnings     []string       `json:"warnings"`
}

// excludes is what no standard error of an answer holds.
const excludes = "hidden bias: how far private records differ, in what the columns of the weights do not tell, from the public ones beside them"

func (a *asked) estimate(e *ratio.Answer) readOffJSON {
	p := e.Parts
	out := readOffJSON{
		Value: orNull(e.Value), SE: orNull(e.SE), Parts: partsJSON{orNull(p.Public), orNull(p.Privacy), orNull(p.Private), orNull(p.Model)},
		Warnings: append([]string{}, e.Warnings...),
	}
	if a.kind != "regression" {
		out.Carried = orNull(e.Carried)
	}
	if a.spoken() && e == a.one {
		out.Text = a.shown(e.Value)
	}
	return out
}

// spoken says that an answer is a value of a column that is not written as a number.
func (a *asked) spoken() bool {
	return (a.kind == "mean" || a.kind == "quantile") && (a.field.Type == table.Date || a.field.Type == table.Ordered)
}

func (a *asked) json(v *weighted) ratioAnswerJSON {
	out := ratioAnswerJSON{
		Schema: ratioAnswerSchema, Input: v.path, Question: a.kind, Of: a.of, Where: a.where, Excludes: excludes,
		Privacy: v.meta.Statement(), FitCheck: v.meta.Check, R2: a.r2, Warnings: append([]string{}, a.common()...),
	}
	if a.one != nil {
		e := a.estimate(a.one)
		out.Answer = &e
	}
	if a.share != nil {
		e := a.estimate(a.share)
		out.ShareAnswer = &e
	}
	for l, e := range a.several {
		one := a.estimate(e)
		if a.kind == "regression" {
			out.Coefficients = append(out.Coefficients, termJSON{a.labels[l], one})
			continue
		}
		one.Share = orNull(e.Value / v.meta.Records)
		out.Bins = append(out.Bins, binJSON{a.labels[l], one})
	}
	return out
}

// common are the warnings that hold of all that was answered.
func (a *asked) common() []string {
	if a.one != nil {
		return a.one.Warnings
	}
	out := slices.Clone(a.also)
	if len(a.several) > 0 {
		for _, text := range a.several[0].Warnings {
			all := true
			for _, e := range a.several {
				all = all && slices.Contains(e.Warnings, text)
			}
			if all {
				out = append(out, text)
			}
		}
	}
	return out
}

// mostWarned is how many bins' own warnings are printed; JSON holds all.
const mostWarned = 3

func (a *asked) print(out io.Writer, v *weighted) {
	fmt.Fprintf(out, "%s of the private records, by %s", a.of, v.path)
	if a.where != "" {
		fmt.Fprintf(out, ", where %s", a.where)
	}
	fmt.Fprint(out, "\n\n")
	if a.one != nil {
		unit := ""
		if a.field.Type == table.Date && a.spoken() {
			if unit = " days"; layoutOf(a.field).HasTime() {
				unit = " s"
			}
		}
		fmt.Fprintf(out, "  value       %s\n", a.shown(a.one.Value))
		if a.share != nil {
			fmt.Fprintf(out, "  share       %s, standard error %s\n", share(a.share.Value), share(a.share.SE))
		}
		fmt.Fprintf(out, "  std. error  %s%s; 95 %% interval: %s either way, if private records are like the public ones beside them\n", figure(a.one.SE), unit, figure(1.96*a.one.SE))
		p := a.one.Parts
		fmt.Fprintf(out, "              public records %s, privacy %s, private records %s, model %s\n", figure(p.Public), figure(p.Privacy), figure(p.Private), figure(p.Model))
		fmt.Fprintf(out, "  carried     %s of its variation, by the columns of the weights\n", percentOf(a.one.Carried))
	} else {
		a.printSeveral(out, v)
	}
	if a.r2 != nil {
		fmt.Fprintf(out, "  R2          %s\n", figure(*a.r2))
	}
	common := a.common()
	for _, text := range common {
		fmt.Fprintf(out, "  warning     %s\n", text)
	}
	told, left := 0, 0
	for l, e := range a.several {
		for _, text := range e.Warnings {
			if slices.Contains(common, text) {
				continue
			}
			if told++; told > mostWarned {
				left++
				continue
			}
			fmt.Fprintf(out, "  warning     %s: %s\n", a.labels[l], text)
		}
	}
	if left > 0 {
		fmt.Fprintf(out, "              and %s of single lines (--json)\n", plural(left, "warning"))
	}
	fmt.Fprintf(out, "  promise     %s\n  charged     nothing: the weights were paid for\n", v.meta.Statement())
}

func (a *asked) printSeveral(out io.Writer, v *weighted) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if a.kind == "regression" {
		fmt.Fprintln(w, "  term\tcoefficient\tstd. error\tpublic\tprivacy\tprivate\tmodel")
	} else {
		fmt.Fprintln(w, "  bin\trecords\tstd. error\tshare\tcarried")
	}
	for l, e := range a.several {
		if a.kind == "regression" {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.labels[l], figure(e.Value), figure(e.SE), figure(e.Parts.Public), figure(e.Parts.Privacy), figure(e.Parts.Private), figure(e.Parts.Model))
			continue
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", a.labels[l], report.Number(e.Value), report.Number(e.SE), share(e.Value/v.meta.Records), percentOf(e.Carried))
	}
	_ = w.Flush()
	fmt.Fprintln(out, "  (standard errors hold if private records are like the public ones beside them)")
}

// shown writes a value of the column, of dates as a date.
func (a *asked) shown(v float64) string {
	if a.spoken() {
		return shower(a.field)(v)
	}
	return figure(v)
}

func percentOf(v float64) string { return strconv.FormatFloat(100*math.Max(v, 0), 'f', 1, 64) + "%" }
