package text_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/report/text"
)

// lines are the texts of a release by their labels.
func lines(r *kanon.Result) map[string]string {
	out := map[string]string{}
	for _, l := range text.Release(text.English, r) {
		out[string(l.Label)] += l.Text + "\n"
	}
	return out
}

func TestRelease(t *testing.T) {
	r := &kanon.Result{
		K: 5, Scale: "zscore", Groups: 1234, Classes: 1200, Loss: 0.2, RefinedFrom: 0.25, LowerBound: 0.123456, Gap: 0.38271, Method: "tomobiki",
		Coarse:    4000,
		Guarantee: noren.Guarantee{Model: "k-anonymity", K: 5, Quasi: []string{"age"}},
		Bound:     kanon.Bound{Method: "simple"}, Verified: &verify.Result{},
	}
	got := lines(r)
	for label, want := range map[string]string{
		"guarantee":   "k-anonymity, k = 5 over age",
		"classes":     "1,200, of 0 to 0 records",
		"loss":        "20% of the spread of the quasi-identifiers (SSE/SST, zscore), 25% before refinement",
		"lower bound": "12.34%, by nearest neighbours; optimality gap: at most 38.28%",
		"unique":      "no column is kept as it is",
		"method":      "tomobiki in cells of 4,000 records or more",
	} {
		if !strings.HasPrefix(got[label], want) {
			t.Errorf("%s: got %q, want %q", label, got[label], want)
		}
	}
	for _, label := range []string{"merged", "persons", "free text"} {
		if got[label] != "" {
			t.Errorf("%s is shown without a reason: %q", label, got[label])
		}
	}
	r.Excluded = &publish.Excluded{
		Tight: 0.24, TightLow: 0.213, TightHigh: 0.268, Shown: 0.01, ShownLow: 0.005, ShownHigh: 0.018,
		Sampled: 1000,
	}
	if got, want := lines(r)["outsiders"], "1% (0.5% to 1.8%) of persons who are not in the table are shown not to be; 24% (21.3% to "+
		"26.8%) with tight ranges; estimated with 1,000 records, with 95 % intervals\n"; got != want {
		t.Errorf("outsiders: got %q, want %q", got, want)
	}
	for _, c := range []struct {
		large, equal, most int
		want               string
	}{
		{3, 1, 0, "3 groups of more than 50 records, 1 of equal records, which a division would leave in one class; no division of them keeps " +
			"what is required of sensitive columns, alone, with a group beside them or with records that other groups can spare"},
		{1, 1, 0, "1 group of more than 50 records, 1 of equal records, which a division would leave in one class"},
		{2, 0, 4, "2 groups of more than 50 records; the data force it: the values of the sensitive columns allow 4 groups that are diverse " +
			"at most, of 100.0 records on average"},
	} {
		r.Rows, r.Large, r.LargeEqual, r.MostGroups = 400, c.large, c.equal, c.most
		if got := lines(r)["large"]; got != c.want+"\n" {
			t.Errorf("large: got %q, want %q", got, c.want)
		}
	}
	r.Rows, r.Large, r.LargeEqual, r.MostGroups = 0, 0, 0, 0
	r.Merged, r.Bound = 2, kanon.Bound{Method: "none", Reason: noren.Textf("too large")}
	r.Unique, r.FreeText = &gate.Unique{Records: 100, Alone: 3}, []string{"note"}
	r.Verified.Unit = &verify.Persons{
		Column: "person", Persons: 50, Unassigned: 2, Linked: true, Fit: privacy.Fit{Min: 6},
		Sequences: &verify.Sequences{Pseudonyms: 9},
	}
	got = lines(r)
	for label, want := range map[string]string{
		"loss":        "20% of the spread of the quasi-identifiers (SSE/SST, zscore)\n",
		"lower bound": "not known: too large",
		"merged":      "2 groups",
		"unique":      "3 of 100 records (3%) are unique in some kept column",
		"free text":   "note: " + text.FreeTextWarning,
		"persons":     "50 by person",
		"intersect":   "an attacker who knows all records of a person is left with at least 6 candidates, 0.00 on average (5 required)",
		"pseudonyms":  "9, ",
	} {
		if !strings.HasPrefix(got[label], want) {
			t.Errorf("%s: got %q, want %q", label, got[label], want)
		}
	}
}

// Bounds are rounded so that they hold as they are printed.
func TestPercentOfBounds(t *testing.T) {
	for share, want := range map[float64][2]string{
		0: {"0%", "0%"}, 0.123456: {"12.34%", "12.35%"}, 1: {"100%", "100%"},
		0.000123456: {"0.01234%", "0.01235%"},
	} {
		if down, up := text.PercentDown(share), text.PercentUp(share); down != want[0] || up != want[1] {
			t.Errorf("%v: %s, %s; want %v", share, down, up, want)
		}
	}
}
