package survey_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/table"
)

// The second line of a file of reports says what its numbers stand for.
func TestMeaningNamesTheValues(t *testing.T) {
	for _, c := range []struct {
		spec survey.Spec
		want string
	}{
		{
			survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"no", "y\"e\ts"}}},
			`the number of a randomised value: 0 = "no", 1 = "y\"e\ts"`,
		},
		{
			survey.Spec{Mechanism: "oue", Epsilon: 1, Attribute: survey.Attribute{Size: 3}},
			`a randomised 0 or 1 for each value, the last one for value 0: 0 to 2`,
		},
		{
			survey.Spec{Mechanism: "subset", Epsilon: 1, Attribute: survey.Attribute{Edges: []float64{0, 3, 10}}},
			`a randomised set of values, by their numbers: 0 = "[0, 3]", 1 = "(3, 10]"`,
		},
		{
			survey.Spec{Mechanism: "duchi", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{0, 110}}},
			`a randomised 0 or 1, and not one of the numbers from 0 to 110 themselves: many reports together give an estimate`,
		},
	} {
		if got, want := newSurvey(t, c.spec).Meaning(), "# noren ldp values: each report is "+c.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	long := survey.Spec{Mechanism: "olh", Epsilon: 1}
	for i := range 100_000 {
		long.Labels = append(long.Labels, fmt.Sprint("label ", i))
	}
	if got := newSurvey(t, long).Meaning(); len(got) > 4200 || !strings.HasSuffix(got, ", ... to 99999 as the specification names them") {
		t.Errorf("%d bytes: %s", len(got), got[len(got)-100:])
	}
}

// A file with the line is counted as one without it, wherever the line stands, for every mechanism.
func TestMeaningIsNoReport(t *testing.T) {
	for name, spec := range specs() {
		s := newSurvey(t, spec)
		tab := &table.Table{Rows: 50}
		for j := range s.Columns() {
			c := &table.Column{Dict: []string{"0", "1", "2"}, Codes: make([]uint32, tab.Rows)}
			for i := range c.Codes {
				c.Codes[i] = uint32((i + j) % 3)
			}
			tab.Columns = append(tab.Columns, c)
		}
		made, err := s.RandomiseTable(t.Context(), randtest.Source(1), tab, "table", survey.LineOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		text := string(made.Text)
		head := s.Header() + "\n" + s.Meaning() + "\n"
		reports, ok := strings.CutPrefix(text, head)
		if !ok || strings.Contains(reports, "#") {
			t.Fatalf("%s: %.300s", name, text)
		}
		for _, file := range []string{text, s.Header() + "\n" + reports, s.Meaning() + "\r\n" + head + reports + s.Meaning()} {
			c, err := s.NewCollector()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.AddLines(context.Background(), strings.NewReader(file), "file"); err != nil {
				t.Fatal(name, err)
			}
			if c.N() != int64(tab.Rows) || len(c.BadLines()) != 0 || len(c.Without()) != 0 {
				t.Errorf("%s: %d reports, %d lines that are none, %v without a specification", name, c.N(), len(c.BadLines()), c.Without())
			}
		}
	}
}
