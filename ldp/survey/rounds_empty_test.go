package survey

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/noise"
)

// answers are reports of n people by a mechanism with memory, one line each.
func answers(t *testing.T, m *ldp.Longitudinal, n int) string {
	t.Helper()
	src := noise.NewSource()
	var lines strings.Builder
	for i := range n {
		r, err := m.Randomise(src, i%m.Domain())
		if err != nil {
			t.Fatal(err)
		}
		lines.WriteString("p" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/182) + "\t" + m.Format(r) + "\n")
	}
	return lines.String()
}

// A round without reports is a round without reports: the others are estimated, wherever it
// stands.
func TestRoundWithoutReports(t *testing.T) {
	s, err := New(Spec{Mechanism: "longitudinal-grr", Attribute: Attribute{Labels: []string{"a", "b", "c"}}, Epsilon: 1, Lifetime: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, err := ldp.NewLongitudinalGRR(3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	some := answers(t, m, 300)
	for _, rounds := range [][]string{{"", some}, {some, ""}, {some, "", some}, {"", "\n\n", some}} {
		c, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		for _, lines := range rounds {
			if err := c.StartRound(); err != nil {
				t.Fatal(err)
			}
			if err := c.AddLines(t.Context(), strings.NewReader(lines), "round"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Estimate(t.Context(), Options{}); err != nil {
			t.Errorf("rounds %q: %v", shortened(rounds), err)
		}
	}
	c, err := s.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.StartRound(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Estimate(t.Context(), Options{}); noren.KindOf(err) != noren.BadData || strings.Contains(err.Error(), ":  ") {
		t.Errorf("no reports at all: got %v", err)
	}
}

func shortened(rounds []string) []string {
	var out []string
	for _, r := range rounds {
		out = append(out, r[:min(len(r), 6)])
	}
	return out
}

// A line that cannot be counted everywhere is counted nowhere: the estimates do not change.
func TestUncountedLineChangesNothing(t *testing.T) {
	s, err := New(Spec{Mechanism: "longitudinal-grr", Attribute: Attribute{Labels: []string{"a", "b", "c"}}, Epsilon: 1, Lifetime: 2})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	c.AllowRepeats = true
	if err := c.StartRound(); err != nil {
		t.Fatal(err)
	}
	most := 0
	for ; c.AddLine("p1\t0") == nil; most++ {
		if most > 1<<17 {
			t.Fatal("a person may have any number of reports: the test shows nothing")
		}
	}
	if c.N() != int64(most) {
		t.Errorf("%d reports are counted, and %d were taken", c.N(), most)
	}
	if err := c.AddLine("p2\t7"); err == nil || c.N() != int64(most) || c.Rejected().Malformed == 0 {
		t.Errorf("a label outside of the domain: %v, %d reports, %+v", err, c.N(), c.Rejected())
	}
}
