package text

import (
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ratio"
)

// Share writes a share, or its error, with five decimal places.
func Share(v float64) string {
	text := strconv.FormatFloat(v, 'f', 5, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

// RatioFitPrice says what of the cost of a fit its checks take, and how large the noise
// of the released sums will be.
func RatioFitPrice(l Lang, q *api.RatioFitQuote) (lines []Line) {
	if q.CountEpsilon+q.OutsideEpsilon > 0 {
		lines = append(lines, Line{"checks", l.Text("epsilon %g for the number of records, %g for those outside, of the above", q.CountEpsilon,
			q.OutsideEpsilon)})
	}
	if q.Accuracy == nil {
		return lines
	}
	for _, e := range *q.Accuracy {
		lines = append(
			lines,
			Line{"noise", l.Text("standard deviation %s on a sum of kernels of bandwidth %s", Figure(e.NoiseSD), Figure(e.Sigma))},
			Line{Text: l.Text("below the error of sampling from about %s private {record|records}", Number(math.Ceil(e.Records)))},
		)
	}
	return lines
}

// RatioFit says by which method the weights of a fit were made, and what its checks
// found.
func RatioFit(l Lang, fit *api.RatioFit) (lines []Line) {
	line := func(label noren.Term, format Key, args ...any) {
		lines = append(lines, Line{label, l.Text(format, args...)})
	}
	if fit.B > 0 {
		line("method", "%s, %d {kernel|kernels} of bandwidth %s, lambda %s", fit.Mechanism, fit.B, Figure(fit.Sigma), Figure(fit.Lambda))
	}
	if len(fit.Histograms) > 0 {
		line("histograms", "%s {histogram|histograms} of %s {cell|cells}: %s", Integer(len(fit.Histograms)), Integer(fit.Cells),
			strings.Join(fit.Histograms, ", "))
	}
	line("sample size", "%s effective (Kish); the largest weight is %s of the total", Number(fit.ESS), Percent(fit.MaxShare))
	line("records", "%s private ones, %s", Number(fit.Records), ratio.RecordsSource(fit.RecordsFrom))
	check := &fit.FitCheck
	if check.Outside != nil {
		line("outside", "%s of the private records, standard error %s", Share(*check.Outside), Share(check.OutsideSD))
	}
	if fit.RecordsFrom != ratio.Estimated {
		line("mean weight", "%s before normalisation", Figure(fit.MeanWeight))
	}
	if check.Passed {
		line("fit check", "found nothing wrong, as far as the released features show (docs/density-ratio.md)")
	} else {
		line("fit check", "FAILED:")
	}
	for _, text := range check.Findings {
		line("", "- %s", text)
	}
	for _, text := range fit.Notes {
		line("remark", "%s", text)
	}
	line("misfit", "%s of the weighted records, %s of the unweighted (normalised residuals; noise alone gives 1)", Figure(check.Misfit),
		Figure(check.Signal))
	return lines
}

// RatioCheck says what a charged check of weights found.
func RatioCheck(l Lang, c *api.RatioCheck) []Line {
	verdict := l.Text("found nothing wrong, as far as the noise allows")
	switch c.Verdict {
	case "off":
		verdict = l.Text("the weights are OFF")
	case "no help":
		verdict = l.Text("the weights bring no visible improvement")
	}
	lines := []Line{{"verdict", verdict}}
	for _, text := range c.Warnings {
		lines = append(lines, Line{"warning", l.Shown(text)})
	}
	return lines
}

// RatioEstimate says the value of an answer from weights, its standard error and the
// parts of it, and the assumption under which the interval holds.
func RatioEstimate(l Lang, a *api.RatioAnswer) []Line {
	e := a.Answer
	value, unit := Figure(optional(e.Value)), ""
	if e.Text != "" {
		value = e.Text
	}
	if a.ErrorUnit != "" {
		unit = " " + l.Term(a.ErrorUnit)
	}
	lines := []Line{{"value", value}}
	if a.Share != nil {
		lines = append(lines, Line{"share", l.Text("%s, standard error %s", Share(optional(a.Share.Value)), Share(optional(a.Share.SE)))})
	}
	p := e.Parts
	return append(
		lines,
		Line{"std. error", l.Text("%s%s; 95 %% interval: %s either way, if private records are like the public ones beside them, and the "+
			"tables differ in what was not released at most as much as in what was", Figure(optional(e.SE)), unit, Figure(1.96*optional(e.SE)))},
		Line{Text: l.Text("public records %s, privacy %s, private records %s, model %s", Figure(optional(p.Public)), Figure(optional(p.Privacy)),
			Figure(optional(p.Private)), Figure(optional(p.Model)))},
		Line{"carried", l.Text("%s of its variation, by the columns of the weights", Carried(e.Carried))},
	)
}

// Carried writes the share of a question's variation that the columns of the weights
// explain.
func Carried(share *float64) string {
	return strconv.FormatFloat(100*math.Max(optional(share), 0), 'f', 1, 64) + "%"
}

// optional is *v, or NaN without one.
func optional(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
