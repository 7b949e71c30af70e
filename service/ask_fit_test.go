package service_test

import (
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
)

// What would fit does fit: each change is priced within what is left, and asking it costs
// that.
func TestWhatWouldFit(t *testing.T) {
	s, _ := people(t) // epsilon 1000
	kept(t, s)
	dear := func(q api.Question) *api.AskRequest {
		return &api.AskRequest{Dataset: "people", Questions: []api.Question{
			{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "940"}}, q,
		}}
	}
	for name, c := range map[string]struct {
		q    api.Question
		want []string
	}{
		"mean by groups": {
			api.Question{Of: kinds.Mean{Column: "age", By: []string{"sex"}}, Margin: &api.Margin{Within: 0.84, About: 15}},
			[]string{"change.pay", "change.margin", "change.bounds", "change.by", "change.drop"},
		},
		"count": {api.Question{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "80"}}, []string{"change.pay", "change.drop"}},
	} {
		t.Run(name, func(t *testing.T) {
			quote, err := s.AskPrice(t.Context(), dear(c.q))
			must(t, err)
			if quote.Fits || quote.Short == nil || quote.Accounts[0].After != nil {
				t.Fatalf("fits: %+v", quote.Cost)
			}
			found := map[string]bool{}
			for _, change := range quote.FitsWith {
				found[change.Change.Code] = true
				again, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: change.Questions})
				must(t, err)
				if !again.Fits || again.Cost != change.Cost || !change.Cost.Within(quote.Accounts[0].Left) {
					t.Errorf("%s: costs %v, said %v", change.Change.Text, again.Cost, change.Cost)
				}
			}
			for _, code := range c.want {
				if !found[code] {
					t.Errorf("no %s among %s", code, asJSON(t, quote.FitsWith))
				}
			}
		})
	}
}
