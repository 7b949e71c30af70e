package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/query"
)

// zcdpStage is a stage with a data set people whose budget is in zCDP.
func zcdpStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	must(t, s.LedgerCreate(t.Context()))
	r := s.people(t)
	r.Accounting, r.Epsilon, r.Rho, r.Delta = "zcdp", "", "0.5", "1e-6"
	_, err := s.LedgerGrant(t.Context(), r)
	must(t, err)
	return s
}

func count(epsilon, delta string, noise query.Noise) *api.QueryRequest {
	return &api.QueryRequest{Ask: api.Ask{Dataset: "people", Epsilon: epsilon, Delta: delta, Analyst: "ana"}, Kind: query.Count, Noise: noise}
}

// Ten answers of epsilon 0.1 and one of Gaussian noise, from the grant to the statement.
func TestZCDPBudget(t *testing.T) {
	randtest.SkipShort(t)
	s := zcdpStage(t)
	ctx := t.Context()
	d, err := s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"})
	must(t, err)
	p := d.Datasets[0]
	if p.Accounting != "zcdp" || p.StatementDelta != "0.000001" || p.Cap != (api.Cost{Rho: "0.5"}) || p.Spent != (api.Cost{Rho: "0"}) ||
		p.Statement.Epsilon != "0" {
		t.Fatalf("%+v %+v", p, p.Statement)
	}
	for range 10 {
		a, err := s.Query(ctx, count("0.1", "", ""))
		must(t, err)
		if a.Epsilon != "0.1" || a.Charge.Rho != "0.005" || a.Charge.Epsilon != "0.1" {
			t.Fatalf("%+v %+v", a.Receipt, a.Charge)
		}
		c := a.Certificate.Certificate.Charge
		if c.Accounting != "zcdp" || c.RhoFemto != 5e12 || c.EpsilonNano != 1e8 || c.GaussianFemto != 0 || c.DeltaAtto != 0 {
			t.Fatalf("%+v", c)
		}
		if a.Remaining.Rho == "" || a.Remaining.Epsilon != "" {
			t.Fatalf("%+v", a.Remaining)
		}
	}
	d, err = s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"})
	must(t, err)
	// The sum of the epsilons is smaller than the conversion of rho 0.05, which is 1.472.
	if p := d.Datasets[0]; p.Spent != (api.Cost{Rho: "0.05"}) || p.Statement.Epsilon != "1" || p.Statement.Delta != "0" ||
		p.Statement.PureEpsilon != "1" {
		t.Fatalf("%+v %+v", p, p.Statement)
	}
	valid(t, "noren.ledger-1-show.json", d)

	price, err := s.QueryPrice(ctx, count("0.5", "1e-6", query.Gaussian))
	must(t, err)
	if price.Epsilon != "0.5" || price.Delta != "0.000001" || price.Rho == "" || price.Price.Cost().Rho != price.Rho || !price.Fits {
		t.Errorf("%+v", price.Price)
	}
	a, err := s.Query(ctx, count("0.5", "1e-6", query.Gaussian))
	must(t, err)
	if a.Charge.Rho != price.Rho || a.Charge.Epsilon != "0" || a.Charge.Delta != "0" || a.Delta != "0.000001" {
		t.Errorf("%+v %+v", a.Receipt, a.Charge)
	}
	d, err = s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"})
	must(t, err)
	if st := d.Datasets[0].Statement; st.Delta != "0.000001" || st.PureEpsilon != "1" || st.GaussianRho != price.Rho {
		t.Errorf("%+v", st)
	}

	// The cap is a filter: what passes it is refused, with the difference.
	_, err = s.Query(ctx, count("1", "", ""))
	is(t, err, noren.Refused, "", "budget-refused")
	if !strings.Contains(err.Error(), "rho 0.5 requested, 0.4") {
		t.Error(err)
	}
	raised, err := s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Rho: "1"})
	must(t, err)
	if raised.Cap != (api.Cost{Rho: "1"}) {
		t.Errorf("%+v", raised.Cap)
	}
	_, err = s.Query(ctx, count("1", "", ""))
	must(t, err)
	v, err := s.LedgerVerify(ctx)
	must(t, err)
	if v.Charges != 12 {
		t.Errorf("%+v", v)
	}
	h, err := s.LedgerHistory(ctx, &api.LedgerHistoryRequest{Dataset: "people"})
	must(t, err)
	valid(t, "noren.ledger-1-history.json", h)
	if c := h.Charges[0].Cost; c != (api.Cost{Rho: "0.005"}) {
		t.Errorf("%+v", c)
	}
}

func TestZCDPGrants(t *testing.T) {
	s := zcdpStage(t)
	ctx := t.Context()
	_, err := s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Epsilon: "1"})
	is(t, err, noren.Usage, "epsilon", "")
	_, err = s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Accounting: "epsilon", Epsilon: "1"})
	is(t, err, noren.Usage, "accounting", "fixed")
	_, err = s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Rho: "1", Delta: "1e-7"})
	is(t, err, noren.Usage, "delta", "fixed")
	_, err = s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Rho: "0.1"})
	is(t, err, noren.Usage, "data set people", "fixed")
	_, err = s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Accounting: "renyi", Rho: "0.1"})
	is(t, err, noren.Usage, "accounting", "")
	r := s.people(t)
	r.Dataset, r.Accounting, r.Epsilon, r.Rho = "others", "zcdp", "", "1"
	_, err = s.LedgerGrant(ctx, r)
	is(t, err, noren.Usage, "delta", "")
	_, err = s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Epsilon: "1"})
	is(t, err, noren.Usage, "epsilon", "")
	_, err = s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Rho: "0.01", Delta: "1e-6"})
	is(t, err, noren.Usage, "delta", "")
	g, err := s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Rho: "0.01"})
	must(t, err)
	if a := g.Analysts[0]; a.Cap != (api.Cost{Rho: "0.01"}) || a.Available != a.Cap {
		t.Errorf("%+v", a)
	}
	_, err = s.Query(ctx, count("0.2", "", ""))
	is(t, err, noren.Refused, "", "budget-refused")
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Analyst: "ana", Rho: "0.02"})
	must(t, err)
	_, err = s.Query(ctx, count("0.2", "", ""))
	must(t, err)

	// Nothing else is spent: the accounting can be replaced in neither direction now.
	r = s.people(t)
	r.Table.Replace = true
	_, err = s.LedgerGrant(ctx, r)
	is(t, err, noren.Usage, "data set people", "fixed")
}

// While nothing is spent, a grant of another accounting may replace the first. The caps
// of analysts are then 0 until they are granted anew.
func TestAccountingReplaced(t *testing.T) {
	s := zcdpStage(t)
	ctx := t.Context()
	_, err := s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Rho: "0.01"})
	must(t, err)
	for _, accounting := range []string{"", "zcdp", ""} {
		r := s.people(t)
		r.Table.Replace = true
		if accounting == "zcdp" {
			r.Accounting, r.Epsilon, r.Rho, r.Delta = "zcdp", "", "0.1", "1e-9"
		}
		g, err := s.LedgerGrant(ctx, r)
		must(t, err)
		if zero := (api.Cost{Rho: "0"}); accounting == "zcdp" && g.Analysts[0].Cap != zero || accounting == "" &&
			g.Analysts[0].Cap != (api.Cost{Epsilon: "0", Delta: "0"}) {
			t.Errorf("%q: %+v", accounting, g.Analysts[0])
		}
		_, err = s.Query(ctx, count("0.1", "", ""))
		is(t, err, noren.Refused, "", "budget-refused")
	}
	_, err = s.LedgerVerify(ctx)
	must(t, err)
	_, err = s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Epsilon: "0.5"})
	must(t, err)
	_, err = s.Query(ctx, count("0.1", "", ""))
	must(t, err)
}

func TestLedgerEntries(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	_, err := s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "ana", Epsilon: "0.5"})
	must(t, err)
	for range 3 {
		_, err := s.Query(ctx, count("0.1", "", ""))
		must(t, err)
	}
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Delta: "1e-6"})
	must(t, err)
	page, err := s.LedgerEntries(ctx, &api.LedgerEntriesRequest{Dataset: "people", Limit: 4})
	must(t, err)
	var got []string
	for _, e := range page.Entries {
		text := fmt.Sprintf("%s %s %s left %s", e.Kind, e.Analyst, e.State, e.Left)
		if e.Own != nil {
			text += " own " + e.Own.String()
		}
		got = append(got, text)
	}
	want := []string{
		"cap   left epsilon 0.7, delta 0.000001", "charge ana released left epsilon 0.7 own epsilon 0.2",
		"charge ana released left epsilon 0.8 own epsilon 0.3", "charge ana released left epsilon 0.9 own epsilon 0.4",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || page.Next == 0 {
		t.Errorf("%q", got)
	}
	page, err = s.LedgerEntries(ctx, &api.LedgerEntriesRequest{Dataset: "people", Before: page.Next})
	must(t, err)
	if len(page.Entries) != 2 || page.Entries[0].Kind != "account" || page.Entries[1].Kind != "opened" || page.Next != 0 {
		t.Errorf("%+v", page)
	}
	n, err := s.LedgerCounts(ctx, &api.LedgerCountsRequest{Dataset: "people", Analyst: "ana"})
	must(t, err)
	if n.Charges != 3 || n.Released != 3 {
		t.Errorf("%+v", n)
	}
	c, err := s.LedgerSpend(ctx, &api.LedgerSpendRequest{Dataset: "people"})
	must(t, err)
	if last := c.Points[len(c.Points)-1]; len(c.Points) != 6 || last.Analyst != "ana" || last.Spent.Epsilon != "0.3" {
		t.Errorf("%+v", c.Points)
	}
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people"})
	is(t, err, noren.Usage, "epsilon", "")
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Analyst: "eve", Epsilon: "1"})
	is(t, err, noren.Refused, "analyst eve", "no-grant")
	_, err = s.LedgerCloseAnalyst(ctx, &api.LedgerCloseAnalystRequest{Dataset: "people", Analyst: "ana"})
	must(t, err)
	_, err = s.LedgerRaise(ctx, &api.LedgerRaiseRequest{Dataset: "people", Analyst: "ana", Epsilon: "1"})
	is(t, err, noren.Refused, "analyst ana", "closed")
	if text, err := json.Marshal(page); err != nil || strings.Contains(string(text), s.dir) {
		t.Errorf("a page names a path: %s, %v", text, err)
	}
}
