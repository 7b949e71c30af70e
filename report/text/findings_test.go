package text_test

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report/text"
)

func compare(t *testing.T, name string, got, want []text.Line) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%q\nwant\n%q", name, got, want)
	}
}

func TestRatioFit(t *testing.T) {
	outside := 0.25
	fit := &api.RatioFit{
		Mechanism: ratio.RKHSPure, B: 12, Sigma: 0.5, Lambda: 0.01, ESS: 1234, MaxShare: 0.02, Records: 900, RecordsFrom: ratio.Estimated,
		MeanWeight: 0.7,
		FitCheck:   ratio.FitCheck{Passed: true, Misfit: 1.1, Signal: 9},
	}
	compare(t, "passed", text.RatioFit(text.English, fit), []text.Line{
		{Label: "method", Text: "rkhs-pure, 12 kernels of bandwidth 0.5, lambda 0.01"},
		{Label: "sample size", Text: "1,234 effective (Kish); the largest weight is 2% of the total"},
		{Label: "records", Text: "900 private ones, " + ratio.RecordsSource(ratio.Estimated).String()},
		{Label: "fit check", Text: "found nothing wrong, as far as the released features show (docs/density-ratio.md)"},
		{Label: "misfit", Text: "1.1 of the weighted records, 9 of the unweighted (normalised residuals; noise alone gives 1)"},
	})
	fit.B, fit.Histograms, fit.Cells, fit.RecordsFrom = 0, []string{"age"}, 5, "declared"
	fit.FitCheck = ratio.FitCheck{Findings: []noren.Text{noren.Textf("bad")}, Outside: &outside, OutsideSD: 0.000001, Misfit: 3, Signal: 9}
	fit.Notes = []noren.Text{noren.Textf("remember")}
	compare(t, "failed", text.RatioFit(text.English, fit), []text.Line{
		{Label: "histograms", Text: "1 histogram of 5 cells: age"},
		{Label: "sample size", Text: "1,234 effective (Kish); the largest weight is 2% of the total"},
		{Label: "records", Text: "900 private ones, " + ratio.RecordsSource("declared").String()},
		{Label: "outside", Text: "0.25000 of the private records, standard error 0"},
		{Label: "mean weight", Text: "0.7 before normalisation"},
		{Label: "fit check", Text: "FAILED:"},
		{Text: "- bad"},
		{Label: "remark", Text: "remember"},
		{Label: "misfit", Text: "3 of the weighted records, 9 of the unweighted (normalised residuals; noise alone gives 1)"},
	})
}

func TestRatioFitPrice(t *testing.T) {
	q := &api.RatioFitQuote{}
	compare(t, "nothing forecast", text.RatioFitPrice(text.English, q), nil)
	q.CountEpsilon, q.OutsideEpsilon = 0.1, 0.1
	q.Accuracy = &[]ratio.KernelNoise{{Sigma: 0.5, NoiseSD: 12, Records: 99.5}}
	compare(t, "kernels", text.RatioFitPrice(text.English, q), []text.Line{
		{Label: "checks", Text: "epsilon 0.1 for the number of records, 0.1 for those outside, of the above"},
		{Label: "noise", Text: "standard deviation 12 on a sum of kernels of bandwidth 0.5"},
		{Text: "below the error of sampling from about 100 private records"},
	})
}

func TestRatioCheck(t *testing.T) {
	for verdict, want := range map[string]string{
		"off":           "the weights are OFF",
		"no help":       "the weights bring no visible improvement",
		"nothing found": "found nothing wrong, as far as the noise allows",
	} {
		c := &api.RatioCheck{Verdict: verdict, Warnings: []noren.Text{noren.Textf("w")}}
		compare(t, verdict, text.RatioCheck(text.English, c), []text.Line{{Label: "verdict", Text: want}, {Label: "warning", Text: "w"}})
	}
}

func TestRatioEstimate(t *testing.T) {
	value, se, negative := 41.5, 2.0, -0.1
	a := &api.RatioAnswer{ErrorUnit: "days", Answer: &api.RatioEstimate{Text: "2024-01-02", Value: &value, SE: &se, Carried: &negative}}
	compare(t, "a date", text.RatioEstimate(text.English, a), []text.Line{
		{Label: "value", Text: "2024-01-02"},
		{Label: "std. error", Text: "2 days; 95 % interval: 3.92 either way, if private records are like the public ones beside them, and the " +
			"tables differ in what was not released at most as much as in what was"},
		{Text: "public records NaN, privacy NaN, private records NaN, model NaN"},
		{Label: "carried", Text: "0.0% of its variation, by the columns of the weights"},
	})
	a.Answer.Text, a.ErrorUnit = "", ""
	a.Share = &api.RatioEstimate{Value: &se, SE: &se}
	if got := text.RatioEstimate(text.English, a); got[0].Text != "41.5" || got[1].Text != "2.00000, standard error 2.00000" {
		t.Errorf("got %q", got)
	}
}

func TestHarmLimit(t *testing.T) {
	for _, c := range []struct {
		at, limited bool
		want        string
	}{
		{false, false, ""},
		{false, true, ""},
		{true, false, "with these costs the least noise is the cheapest, which protects no record"},
		{true, true, "the limit decides, and not the costs: no larger scale is better"},
	} {
		best := &api.HarmOptimise{Optimum: &harm.Optimum{AtLimit: c.at}}
		if got := text.HarmLimit(text.English, best, c.limited); got != c.want {
			t.Errorf("at the limit %v, stated %v: got %q", c.at, c.limited, got)
		}
	}
}

func TestBaselines(t *testing.T) {
	got := text.Baselines(text.English, &correlated.Baselines{Plain: 2, Tanh: 3})
	if len(got) != 2 || got[0].Method.String() != "plain" || got[0].Scale != 2 || got[1].Method.String() != "tanh" {
		t.Errorf("got %+v", got)
	}
}

func TestReview(t *testing.T) {
	g := &api.Granted{Proposal: &dataset.Definition{}, Private: &api.GrantReview{Columns: []api.ColumnFit{{Name: "age", Type: "integer"}}}}
	if heading, columns, units := text.Review(text.English, g); heading != "" || len(columns) != 0 || units != "" {
		t.Errorf("a file that fits: %q, %q, %q", heading, columns, units)
	}
	g.Private.Columns = []api.ColumnFit{
		{Name: "age", Type: "integer", Misfits: 2, First: []string{"line 3", "line 9"}},
		{Name: "state", Misfits: 1, First: []string{"line 4"}},
	}
	g.Private.LargestUnit, g.Private.WithoutUnit = 1, 2
	g.Proposal.Model = &dataset.Model{Column: "state", Other: "off"}
	heading, columns, units := text.Review(text.English, g)
	if heading != "3 cells in 2 columns do not fit" || units != "the largest unit has 1 record; 2 records without a unit count in no answer" {
		t.Errorf("got %q, %q", heading, units)
	}
	if want := []string{
		"age: 2 cells are not of the type integer and count as missing, the first at line 3; line 9",
		"state: 1 cell is in no state of the model and counts as off, at line 4",
	}; !slices.Equal(columns, want) {
		t.Errorf("got %q", columns)
	}
	if got := text.Misfits(1, 1).String(); got != "1 cell in 1 column does not fit" {
		t.Errorf("got %q", got)
	}
}

func TestDataset(t *testing.T) {
	d := &api.Dataset{Account: api.Account{Name: "visits"}}
	compare(t, "nothing to say", text.Dataset(text.English, d), nil)
	d.OtherPeople, d.BeforeSchema, d.SharedWith = []string{"wards"}, 1, []string{"old"}
	compare(t, "all", text.Dataset(text.English, d), []text.Line{
		{Label: "declared", Text: "no person of visits is in data set wards"},
		{Label: "note", Text: "1 charge before this schema: its guarantee holds for the column types that its query declared"},
		{Label: "note", Text: "data set old was granted for the same file: the same persons have two budgets"},
	})
}

func TestVerified(t *testing.T) {
	r := &api.Verification{Uncounted: true}
	if got := text.Verified(text.English, r); got != "does NOT meet all requirements for records (persons: not counted)" {
		t.Errorf("got %q", got)
	}
	r.Uncounted, r.Met = false, true
	if got := text.Verified(text.English, r); got != "meets all requirements" {
		t.Errorf("got %q", got)
	}
}
