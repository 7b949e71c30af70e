package service_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
)

// The quotes of questions whose time of reply may depend on the data say so, from the public
// number of records alone, and no other quote does.
func TestQuotesSayWhereTimeMayTell(t *testing.T) {
	outliers := api.Question{
		Of: kinds.Outliers{
			Columns: []string{"x"},
			K:       2,
			Radius:  5,
			Step:    1,
			Box:     []float64{0, 100},
			Scale:   "bounds",
		},
		Pay: &api.Amount{Epsilon: "90"},
	}
	for _, c := range []struct {
		name, code string
		atMost     int64
		question   api.Question
	}{
		{"outliers of 2,000 records", "", 2000, outliers},
		{"outliers of 2,001 records", "time.outliers", 2001, outliers},
		{"count", "", 2001, api.Question{Of: kinds.Count{Where: "x > 3"}, Pay: &api.Amount{Epsilon: "1"}}},
		{"quantile", "", 2001, api.Question{Of: kinds.Quantile{Column: "x"}, Pay: &api.Amount{Epsilon: "1"}}},
		{"ratio", "time.ratio", 2000, api.Question{
			Of:  kinds.Ratio{Columns: []string{"x"}, Of: "mean", Column: "y"},
			Pay: &api.Amount{Epsilon: "50"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The table has 40 records in each case: the warning follows from the definition.
			s, dir := granted(t, "x\n"+strings.Repeat("10\n", 40),
				&dataset.Definition{AtMost: c.atMost, Columns: []dataset.Column{{Name: "x", Type: "integer", Bounds: []string{"0", "100"}}}})
			k := kept(t, s)
			if c.question.Name() == "ratio" {
				c.question = c.question.WithPublic(filepath.Join(dir, "public.csv"))
				write(t, c.question.Public(), "x,y\n"+strings.Repeat("10,1\n40,2\n70,3\n", 30))
			}
			q, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{c.question}})
			must(t, err)
			var got []string
			for _, w := range q.Questions[0].Warnings {
				if strings.HasPrefix(w.Code, "time.") {
					got = append(got, w.Code)
				}
			}
			if strings.Join(got, " ") != c.code {
				t.Errorf("expected %q, got %q", c.code, got)
			}
			if k.Reads() != 0 {
				t.Errorf("the quote read the file %d times", k.Reads())
			}
		})
	}
}
