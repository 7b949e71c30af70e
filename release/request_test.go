package release_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// Whatever is wrong with a request by itself is said before anything is charged,
// and before the mechanism is asked.
func TestFaultyRequests(t *testing.T) {
	randtest.SkipShort(t)
	for name, test := range map[string]struct {
		change func(*release.Request, *fake)
		says   string
	}{
		"no mechanism":          {func(q *release.Request, _ *fake) { q.Mechanism = nil }, "mechanism"},
		"no data set":           {func(q *release.Request, _ *fake) { q.Dataset = nil }, "data set"},
		"no analyst":            {func(q *release.Request, _ *fake) { q.Budget.Principal = "" }, "analyst"},
		"no signer":             {func(q *release.Request, _ *fake) { q.Signer = nil }, "sign"},
		"half a signer":         {func(q *release.Request, _ *fake) { q.Signer = make(ed25519.PrivateKey, 3) }, "sign"},
		"no tool":               {func(q *release.Request, _ *fake) { q.Tool = certificate.Tool{} }, "tool"},
		"a missing column":      {func(_ *release.Request, m *fake) { m.fields[0].Name = "wage" }, "wage"},
		"nothing is guaranteed": {func(_ *release.Request, m *fake) { m.only = account.ReplaceOne }, "add-remove"},
		"no price":              {func(_ *release.Request, m *fake) { m.cost = account.Cost{} }, "epsilon"},
		"a negative price":      {func(_ *release.Request, m *fake) { m.cost = account.Cost{Epsilon: -1} }, ""},
		"no name":               {func(_ *release.Request, m *fake) { m.name = "" }, "mechanism"},
		"no object":             {func(_ *release.Request, m *fake) { m.parameters = []int{1} }, "object"},
		"no JSON":               {func(_ *release.Request, m *fake) { m.parameters = make(chan int) }, "parameters"},
		"broken text":           {func(_ *release.Request, m *fake) { m.parameters = map[string]string{"of": "\xff"} }, "parameters"},
		"too large a number":    {func(_ *release.Request, m *fake) { m.parameters = map[string]int64{"of": 1 << 60} }, "parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, 1000, ledger.Options{})
			m := ask(300)
			q := d.request(t, m)
			test.change(&q, m)
			_, err := release.Run(t.Context(), q)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v: does not say %q", err, test.says)
			}
			if kind := noren.KindOf(err); kind != noren.Usage && !strings.Contains(test.says, "parameters") && test.says != "object" {
				t.Errorf("%v: of kind %s", err, kind)
			}
			m.asked(t, 0)
			d.spent(t, 0)
		})
	}
	// All faults at once.
	_, err := release.Price(t.Context(), &release.Request{})
	for _, words := range []string{"mechanism", "data set"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: does not say %q", err, words)
		}
	}
}

func TestPrice(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	if _, err := d.ledger.GrantAnalyst(t.Context(), "people", "mori", account.Cost{Epsilon: 400 * milli}); err != nil {
		t.Fatal(err)
	}
	for cost, fits := range map[int64]bool{1: true, 400: true, 401: false, 1001: false} {
		m := ask(cost)
		q := d.request(t, m)
		q.Signer = nil // a request for the price signs nothing
		quote, err := release.Price(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		if quote.Fits != fits || quote.Cost != m.cost || quote.Dataset != "people" || quote.Unit != account.Record ||
			quote.Neighbours != account.AddRemove {
			t.Errorf("%+v", quote)
		}
		want := []ledger.Remaining{
			{Kind: "dataset", Name: "people", Left: account.Cost{Epsilon: 1000 * milli}, Accounting: account.Basic},
			{Kind: "analyst", Name: "mori", Left: account.Cost{Epsilon: 400 * milli}, Accounting: account.Basic},
		}
		if fmt.Sprint(quote.Remaining) != fmt.Sprint(want) {
			t.Errorf("%v", quote.Remaining)
		}
		m.asked(t, 0)
	}
	d.spent(t, 0)
	// What fits the data set and not the analyst is refused whole.
	m := ask(401)
	_, err := release.Run(t.Context(), d.request(t, m))
	if noren.KindOf(err) != noren.Refused || !strings.Contains(err.Error(), "analyst mori") {
		t.Error(err)
	}
	// From the first analyst's grant on, others have none.
	q := d.request(t, ask(1))
	q.Budget.Principal = "sato"
	if _, err := release.Run(t.Context(), q); !errors.Is(err, ledger.ErrNoGrant) {
		t.Error(err)
	}
	d.spent(t, 0)
	// Unaccounted, everything fits.
	u := d.unaccounted(t, ask(5000), dataset.Definition{})
	if quote, err := release.Price(t.Context(), &u); err != nil || !quote.Fits || quote.Remaining != nil || quote.Unit != account.Record {
		t.Errorf("%+v, %v", quote, err)
	}
}

// The definition's relation decides the cost.
func TestDefinitionDecides(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	other := d.dir + "/other.csv"
	if err := os.WriteFile(other, []byte("age,city\n1,Nara\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.grant(t, "other", other, 1000, dataset.Definition{Neighbours: "replace-one", Unit: "city"})
	q := d.request(t, ask(300))
	q.Dataset = d.find(t, other)
	a, err := release.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	// A replacement is a removal and an addition.
	if c := a.Certificate.Certificate; c.Charge.EpsilonNano != 600*milli || c.Guarantee.Epsilon != 0.6 ||
		c.Guarantee.Neighbours != "replace-one" || c.Guarantee.Unit != "city" {
		t.Errorf("%+v", c)
	}
}

func TestNoGrant(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	for _, name := range []string{d.dir + "/other.csv", "other"} {
		if _, err := release.Find(t.Context(), d.ledger, name); !errors.Is(err, ledger.ErrNoGrant) || noren.KindOf(err) != noren.Refused ||
			noren.CodeOf(err) != "no-dataset" {
			t.Error(err)
		}
	}
	d.spent(t, 0)
}

// A sealed ledger answers nothing, and charges nothing.
func TestSealed(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	q := d.request(t, ask(1))
	// An older copy of the database is restored under the open handle.
	if err := os.Remove(d.book + ".head"); err != nil {
		t.Fatal(err)
	}
	if _, err := release.Run(t.Context(), q); noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	if err := d.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.ledger, err = ledger.Open(t.Context(), d.book, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	var sealed *ledger.SealedError
	if _, err := release.Find(t.Context(), d.ledger, "people"); !errors.As(err, &sealed) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
}

var _ release.Mechanism = (*fake)(nil)

// An answer may use columns in another order than the file's.
func TestColumns(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(1)
	m.fields = []table.Field{{Name: "city"}, {Name: "age", Type: table.Integer}}
	if _, err := release.Run(t.Context(), d.request(t, m)); err != nil {
		t.Error(err)
	}
}

// A quote comes from public facts: it opens no file of the data set.
func TestPriceOpensNoFile(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	q := d.request(t, ask(300))
	if err := os.Remove(d.file); err != nil {
		t.Fatal(err)
	}
	q.Dataset = d.find(t, "people")
	if quote, err := release.Price(t.Context(), &q); err != nil || !quote.Fits {
		t.Errorf("%+v, %v", quote, err)
	}
}
