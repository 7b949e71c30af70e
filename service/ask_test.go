package service_test

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// kept is s with its ledger held open.
func kept(t *testing.T, s *service.Service) *service.Kept {
	t.Helper()
	k, err := service.Keep(t.Context(), s.Ledger, service.KeepOptions{})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	s.Kept = k
	return k
}

func threeQuestions() *api.AskRequest {
	return &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{Where: "age >= 60"}, Pay: &api.Amount{Epsilon: "0.1"}},
		{Of: kinds.Mean{Column: "age", By: []string{"sex"}}, Margin: &api.Margin{Within: 20, At: "0.90", About: 30}},
		{Of: kinds.Histogram{Column: "sex"}, Margin: &api.Margin{Within: 12}},
	}}
}

func TestAsk(t *testing.T) {
	s, dir := people(t)
	k := kept(t, s)
	quote, err := s.AskPrice(t.Context(), threeQuestions())
	must(t, err)
	if k.Reads() != 0 {
		t.Errorf("a price read the file %d times", k.Reads())
	}
	// What the quote gives back costs the same and is the same request.
	r := &api.AskRequest{Dataset: "people", Definition: quote.Definition, Most: &quote.Cost}
	for _, q := range quote.Questions {
		if q.Question.Pay == nil || q.Question.Noise() == "" {
			t.Errorf("no price: %+v", q.Question)
		}
		r.Questions = append(r.Questions, q.Question)
	}
	again, err := s.AskPrice(t.Context(), r)
	must(t, err)
	if again.Request != quote.Request || again.Cost != quote.Cost {
		t.Errorf("priced again: %s for %v, want %s for %v", again.Request, again.Cost, quote.Request, quote.Cost)
	}
	answers, err := s.Ask(t.Context(), r)
	must(t, err)
	if len(answers.Answers) != 3 || len(answers.Answers[1].Rows) != 2 || answers.Answers[1].Rows[0].Keys[0] != "f" {
		t.Errorf("%+v", answers)
	}
	if answers.Charge.Epsilon.String() != quote.Cost.Epsilon {
		t.Errorf("charged %s, the price was %s", answers.Charge.Epsilon, quote.Cost.Epsilon)
	}
	if c := answers.Certificate.Certificate; c.Mechanism.Name != "batch" || c.RequestSHA256 != quote.Request {
		t.Errorf("certificate of %s, request %s", c.Mechanism.Name, c.RequestSHA256)
	}
	if k.Reads() != 1 {
		t.Errorf("the file was read %d times", k.Reads())
	}
	// The granted version is in memory: the file is not needed any more.
	must(t, os.Remove(filepath.Join(dir, "people.csv")))
	if _, err := s.Ask(t.Context(), r); err != nil {
		t.Errorf("asked again: %v", err)
	}
	if k.Reads() != 1 {
		t.Errorf("the file was read %d times", k.Reads())
	}
}

func TestAskRefuses(t *testing.T) {
	asRead := func(text string) (q api.Question) {
		must(t, json.Unmarshal([]byte(text), &q))
		return q
	}
	s, _ := people(t)
	kept(t, s)
	for name, c := range map[string]struct {
		change func(r *api.AskRequest)
		code   string
		kind   noren.Kind
	}{
		"another schema":   {func(r *api.AskRequest) { r.Definition = "00" }, release.CodeChanged, noren.Refused},
		"too dear":         {func(r *api.AskRequest) { r.Most = &api.Amount{Epsilon: "0.1", Delta: "0"} }, release.CodeMost, noren.Refused},
		"none":             {func(r *api.AskRequest) { r.Questions = nil }, "", noren.Usage},
		"too many":         {func(r *api.AskRequest) { r.Questions = make([]api.Question, 21) }, "", noren.Usage},
		"foreign field":    {func(r *api.AskRequest) { r.Questions[0] = asRead(`{"kind":"count","k":3}`) }, "", noren.Usage},
		"no price":         {func(r *api.AskRequest) { r.Questions[0].Pay = nil }, "", noren.Usage},
		"unknown kind":     {func(r *api.AskRequest) { r.Questions[0] = asRead(`{"kind":"median"}`) }, "", noren.Usage},
		"no margin":        {func(r *api.AskRequest) { r.Questions[1].Margin.Within = 0 }, "", noren.Usage},
		"no group size":    {func(r *api.AskRequest) { r.Questions[1].Margin.About = 0 }, "", noren.Usage},
		"beyond any price": {func(r *api.AskRequest) { r.Questions[1].Margin.Within = 1e-9 }, service.CodeMargin, noren.Usage},
		"a rho":            {func(r *api.AskRequest) { r.Questions[0].Pay = &api.Amount{Rho: "0.1"} }, "", noren.Usage},
		"over the budget":  {func(r *api.AskRequest) { r.Questions[0].Pay.Epsilon = "999.99" }, "budget-refused", noren.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			r := threeQuestions()
			c.change(r)
			_, err := s.Ask(t.Context(), r)
			if noren.KindOf(err) != c.kind || c.code != "" && noren.CodeOf(err) != c.code {
				t.Errorf("%v (%s)", err, noren.CodeOf(err))
			}
		})
	}
}

// In a budget in zCDP a margin is paid with the noise that costs less: Laplace for one
// value of a large margin, Gaussian where its square root is worth more. The charge is the
// sum of the rhos.
func TestAskInZCDP(t *testing.T) {
	randtest.SkipShort(t)
	s := grantedZCDP(t)
	kept(t, s)
	by := &api.Margin{Within: 3, At: "0.99"}
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{}, Margin: by},
		{Of: kinds.Count{Noise: "laplace"}, Margin: by},
		{Of: kinds.Count{Noise: "gaussian"}, Margin: by},
		{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "0.1"}},
		{Of: kinds.Count{Noise: "laplace"}, Pay: &api.Amount{Rho: "0.005"}},
		{Of: kinds.Mean{Column: "age"}, Pay: &api.Amount{Rho: "0.01"}},
		{Of: kinds.Quantile{Column: "age"}, Margin: &api.Margin{Within: 20}},
	}}
	q, err := s.AskPrice(t.Context(), r)
	must(t, err)
	if q.Accounting != "zcdp" {
		t.Errorf("accounting %s", q.Accounting)
	}
	sum := new(big.Rat)
	for i, one := range q.Questions {
		rho, ok := new(big.Rat).SetString(one.Cost.Rho)
		if !ok || one.Cost.Epsilon != "" {
			t.Fatalf("question %d costs %+v", i+1, one.Cost)
		}
		sum.Add(sum, rho)
	}
	if total, _ := new(big.Rat).SetString(q.Cost.Rho); total == nil || total.Cmp(sum) != 0 {
		t.Errorf("costs %s, the parts %s", q.Cost.Rho, sum.FloatString(15))
	}
	chosen, laplace, gaussian := &q.Questions[0], &q.Questions[1], &q.Questions[2]
	if !chosen.Cost.Within(laplace.Cost) || !chosen.Cost.Within(gaussian.Cost) || laplace.Cost == gaussian.Cost {
		t.Errorf("chosen %s %v, laplace %v, gaussian %v", chosen.Question.Noise(), chosen.Cost, laplace.Cost, gaussian.Cost)
	}
	if pure := q.Questions[3].Cost.Rho; pure != "0.005" { // 0.1^2 / 2
		t.Errorf("epsilon 0.1 costs rho %s", pure)
	}
	if pay := q.Questions[4].Question.Pay; pay.Epsilon != "0.1" {
		t.Errorf("rho 0.005 pays %+v", pay)
	}
	again := &api.AskRequest{Dataset: "people", Definition: q.Definition, Most: &q.Cost}
	for _, one := range q.Questions {
		again.Questions = append(again.Questions, one.Question)
	}
	a, err := s.Ask(t.Context(), again)
	must(t, err)
	if a.Cost != q.Cost || a.Certificate.Certificate.RequestSHA256 != q.Request {
		t.Errorf("paid %v for %s, the quote was %v for %s", a.Cost, a.Certificate.Certificate.RequestSHA256, q.Cost, q.Request)
	}
	r.Questions = []api.Question{{Of: kinds.Count{Noise: "gaussian"}, Pay: &api.Amount{Epsilon: "0.1", Delta: "1e-9"}}}
	if _, err := s.AskPrice(t.Context(), r); noren.KindOf(err) != noren.Usage {
		t.Errorf("a delta in zCDP: %v", err)
	}
	r.Questions = []api.Question{{Of: kinds.Count{}, Pay: &api.Amount{Rho: "5"}}}
	if _, err := s.Ask(t.Context(), r); noren.CodeOf(err) != "budget-refused" || service.RefusalOf(err) == nil ||
		service.RefusalOf(err).Accounts[0].Asked.Rho != "5" {
		t.Errorf("over the budget: %v", err)
	}
}

// grantedZCDP is a service whose ledger holds the data set "people" with rho 4 at delta
// 1e-6.
func grantedZCDP(t *testing.T) *service.Service {
	t.Helper()
	s, dir := people(t)
	ctx := t.Context()
	s.Ledger = filepath.Join(dir, "zcdp.db")
	must(t, ledger.Create(ctx, s.Ledger))
	l, err := ledger.Open(ctx, s.Ledger, ledger.Options{})
	must(t, err)
	defer func() { must(t, l.Close()) }()
	d, err := (&dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}}, {Name: "sex", Type: "category", Keys: []string{"f", "m"}},
	}}).Complete()
	must(t, err)
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: filepath.Join(dir, "people.csv"), Definition: d})
	must(t, err)
	_, err = release.ConfirmGrant(ctx, l, release.Grant{
		Name: "people", Cap: account.Cost{Rho: 4 * account.RhoUnits}, Accounting: account.ZCDP, StatementDelta: account.DeltaUnits / 1_000_000,
	}, reviewed)
	must(t, err)
	return s
}
