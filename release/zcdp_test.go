package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// gaussian is a fake whose loss in zCDP is known.
type gaussian struct {
	*fake
	loss account.Loss
}

func (g *gaussian) Loss(n account.Neighbours, _ string) (account.Loss, error) {
	return account.ChargeLoss(g.loss, g.only, n)
}

const milliRho = account.RhoUnits / 1000

// zcdp is a desk with two data sets in zCDP: add-remove and replace-one.
func zcdp(t *testing.T) *desk {
	t.Helper()
	d := open(t, 1000, ledger.Options{})
	for name, like := range map[string]dataset.Definition{"concentrated": {}, "replaced": {Neighbours: "replace-one", Records: 3}} {
		path := filepath.Join(d.dir, name+".csv")
		if err := os.WriteFile(path, []byte("age,city\n31,Nara\n47,Kobe\n52,"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		like.Columns = []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}
		def, err := like.Complete()
		if err != nil {
			t.Fatal(err)
		}
		reviewed, err := release.ReviewGrant(t.Context(), d.ledger, release.Candidate{Path: path, Definition: def})
		if err == nil {
			_, err = release.ConfirmGrant(t.Context(), d.ledger, release.Grant{
				Name: name, Cap: account.Cost{Rho: 100 * milliRho}, Accounting: account.ZCDP, StatementDelta: 1e12, OtherPeople: true,
			}, reviewed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestZCDPPrices(t *testing.T) {
	d := zcdp(t)
	approximate := func() *fake {
		f := ask(100)
		f.cost.Delta = 1e12
		return f
	}
	replaceOne := ask(100)
	replaceOne.only = account.ReplaceOne
	noLoss := &gaussian{approximate(), account.Loss{}}
	for _, c := range []struct {
		what, dataset string
		m             release.Mechanism
		want          account.Loss
		alone         account.Cost
		code          string
	}{
		{"pure", "concentrated", ask(100), account.Loss{Rho: 5 * milliRho, Pure: 100 * milli}, account.Cost{Epsilon: 100 * milli}, ""},
		{
			"pure in replace-one", "replaced", ask(100),
			account.Loss{Rho: 20 * milliRho, Pure: 200 * milli},
			account.Cost{Epsilon: 200 * milli},
			"",
		},
		{
			"gaussian", "concentrated", &gaussian{approximate(), account.GaussianLoss(3 * milliRho)}, account.GaussianLoss(3 * milliRho),
			account.Cost{Epsilon: 100 * milli, Delta: 1e12},
			"",
		},
		{
			"gaussian in replace-one", "replaced", &gaussian{approximate(), account.GaussianLoss(3 * milliRho)}, account.GaussianLoss(12 * milliRho),
			account.Cost{},
			"",
		},
		{"a delta", "concentrated", approximate(), account.Loss{}, account.Cost{}, release.CodeNotZCDP},
		{"no loss", "concentrated", noLoss, account.Loss{}, account.Cost{}, "-"},
		{"replace-one in add-remove", "concentrated", replaceOne, account.Loss{}, account.Cost{}, "-"},
	} {
		q := d.request(t, c.m)
		q.Dataset = d.find(t, c.dataset)
		quote, err := release.Price(t.Context(), &q)
		if c.code != "" {
			if noren.KindOf(err) != noren.Usage || c.code != "-" && noren.CodeOf(err) != c.code {
				t.Errorf("%s: %v", c.what, err)
			}
			if _, err := release.Run(t.Context(), q); noren.KindOf(err) != noren.Usage {
				t.Errorf("%s runs: %v", c.what, err)
			}
			continue
		}
		if err != nil || quote.Loss != c.want || quote.Cost != (account.Cost{Rho: c.want.Rho}) || quote.Accounting != account.ZCDP ||
			!quote.Fits || c.alone != (account.Cost{}) && quote.Alone != c.alone {
			t.Errorf("%s: %+v, %v", c.what, quote, err)
			continue
		}
		before, err := d.ledger.Book(t.Context(), c.dataset)
		if err != nil {
			t.Fatal(err)
		}
		a, err := release.Run(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		sum, err := before.Loss.Add(c.want)
		if err != nil {
			t.Fatal(err)
		}
		after, err := d.ledger.Book(t.Context(), c.dataset)
		if err != nil || after.Loss != sum || a.Remaining[0].Left != after.Remaining || a.Remaining[0].Accounting != account.ZCDP {
			t.Errorf("%s: %+v, %+v, %v", c.what, after.Loss, a.Remaining, err)
		}
		ch := a.Certificate.Certificate.Charge
		if ch.Accounting != account.ZCDP || ch.RhoFemto != c.want.Rho || ch.EpsilonNano != c.want.Pure || ch.GaussianFemto != c.want.Gaussian ||
			ch.DeltaAtto != 0 {
			t.Errorf("%s: the certificate charges %+v", c.what, ch)
		}
		if g := a.Certificate.Certificate.Guarantee; g.Epsilon != float64(quote.Alone.Epsilon)/1e9 {
			t.Errorf("%s: the certificate guarantees %v", c.what, g)
		}
	}
}

// A model of dependent records has no budget in zCDP.
func TestZCDPWithoutModel(t *testing.T) {
	d := zcdp(t)
	path := filepath.Join(d.dir, "model.csv")
	if err := os.WriteFile(path, []byte("s\n1\n0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	def, err := (&dataset.Definition{
		Columns: []dataset.Column{{Name: "s"}}, Neighbours: "replace-one", Records: 2,
		Model: &dataset.Model{
			Column: "s", States: []string{"0", "1"},
			Distribution: json.RawMessage(`{"type":"table","shape":[2,2],"p":[0.4,0.1,0.1,0.4]}`),
		},
	}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	reviewed, err := release.ReviewGrant(t.Context(), d.ledger, release.Candidate{Path: path, Definition: def})
	if err != nil {
		t.Fatal(err)
	}
	_, err = release.ConfirmGrant(t.Context(), d.ledger,
		release.Grant{Name: "model", Cap: account.Cost{Rho: milliRho}, Accounting: account.ZCDP, StatementDelta: 1e12, OtherPeople: true},
		reviewed)
	if noren.CodeOf(err) != release.CodeModel {
		t.Error(err)
	}
}

// A random source that fails gives no answer, and the charge stays.
func TestRandomSourceFails(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(100)
	m.do = func(context.Context, *table.Table) (any, error) {
		return nil, &noren.Error{What: "cannot read random bytes", Err: errors.New(secret)}
	}
	a, err := release.Run(t.Context(), d.request(t, m))
	quiet(t, err, noren.BadData)
	if a != nil {
		t.Errorf("%+v", a)
	}
	d.spent(t, 100, "forfeited")
}
