package text_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
)

// What a release guarantees is said in both languages, with all that was asked for.
func TestStated(t *testing.T) {
	rel := &kanon.Result{K: 5, Classes: 816}
	rel.Guarantee = noren.Guarantee{
		Model: "k-anonymity", K: 5, Quasi: []string{"age", "cannot be written"}, Unit: "none", Linkage: "all",
		Diversity: []noren.Diversity{{Column: "illness", Model: "distinct", L: 2}},
	}
	rel.Unit = "none"
	rel.Verified = &verify.Result{}
	rel.Verified.Unit = &verify.Persons{Column: "none", Persons: 1387, Linked: true, Sequences: &verify.Sequences{Pseudonyms: 7, Min: 6}}
	rel.Verified.Unit.Fit.Min, rel.Verified.Unit.Fit.Mean = 6, 7.5
	want := map[string][]string{
		"promise":    {"cannot be written", "illness", "none"},
		"classes":    {"816"},
		"persons":    {"1,387", "none"},
		"intersect":  {"6", "7.50", "5"},
		"pseudonyms": {"7", "6"},
	}
	for _, m := range text.Stated(rel) {
		for _, l := range lang.All() {
			said := m.In(l).Text
			for _, part := range want[m.Code] {
				if !strings.Contains(said, part) {
					t.Errorf("%s in %s: %q is not in %q", m.Code, l, part, said)
				}
			}
			if l == lang.Japanese && (said == m.Text || strings.Contains(said, " of ")) {
				t.Errorf("%s: %q is not Japanese", m.Code, said)
			}
		}
		delete(want, m.Code)
	}
	if len(want) > 0 {
		t.Errorf("not said: %v", want)
	}
}
