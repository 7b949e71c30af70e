package release_test

import (
	"context"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// milli is epsilon 0.001.
const milli = account.EpsilonUnits / 1000

// secret is a value of the private table, and of every error of a fake: it must
// not be seen outside.
const secret = "98765"

// fake is a mechanism whose every part a test may set.
type fake struct {
	name       string
	parameters any
	cost       account.Cost
	only       account.Neighbours // refuses add-remove when replace-one
	fields     []table.Field
	do         func(ctx context.Context, t *table.Table) (any, error)
	calls      atomic.Int32
	most       int64  // records; 0: any number
	late       func() // called whenever the columns are asked for, as before reading
}

// ask is a fake that costs some thousandths of epsilon and counts records.
func ask(cost int64) *fake {
	return &fake{
		name: "test.count", parameters: map[string]any{"of": "age"}, cost: account.Cost{Epsilon: cost * milli},
		fields: []table.Field{{Name: "age", Type: table.Integer}},
	}
}

func (f *fake) Name() string    { return f.name }
func (f *fake) Parameters() any { return f.parameters }
func (f *fake) Columns() []table.Field {
	if f.late != nil {
		f.late()
	}
	return f.fields
}

func (f *fake) Cost(n account.Neighbours, _ string) (account.Cost, error) {
	return account.Charge(f.cost, f.only, n)
}

func (f *fake) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := f.Cost(n, unit)
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	return g, err
}

func (f *fake) Covers(atMost, _ int64) error {
	if f.most > 0 && atMost > f.most {
		return &noren.Error{Kind: noren.Usage, Code: "too-many-records", What: "the mechanism answers no table of that many records"}
	}
	return nil
}

func (f *fake) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	f.calls.Add(1)
	if f.do != nil {
		return f.do(ctx, t)
	}
	word, err := src.Uint64()
	return map[string]any{"records": t.Rows, "fresh": word >> 12}, err
}

// asked fails unless Answer was called n times.
func (f *fake) asked(t *testing.T, n int32) {
	t.Helper()
	if got := f.calls.Load(); got != n {
		t.Errorf("Answer was called %d times, not %d", got, n)
	}
}

// desk is a private file with a budget, and a key to sign with.
type desk struct {
	dir, file, book string
	ledger          *ledger.Ledger
	key             ed25519.PrivateKey
}

const people = "age,city\n31," + secret + "\n47,Kobe\n52,Nara\n"

// open grants thousandths of epsilon to a small file.
func open(t *testing.T, limit int64, o ledger.Options) *desk {
	t.Helper()
	dir := t.TempDir()
	d := &desk{dir: dir, file: filepath.Join(dir, "people.csv"), book: filepath.Join(dir, "noren.db")}
	d.write(t, people)
	_, key, err := ed25519.GenerateKey(nil)
	if err == nil {
		err = ledger.Create(t.Context(), d.book)
	}
	if err == nil {
		d.ledger, err = ledger.Open(t.Context(), d.book, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.grant(t, "people", d.file, limit, dataset.Definition{})
	d.key = key
	t.Cleanup(func() { _ = d.ledger.Close() })
	return d
}

// grant pins a definition of ages and cities; like says what else is in it.
func (d *desk) grant(t *testing.T, name, path string, limit int64, like dataset.Definition) {
	t.Helper()
	like.Columns = []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}
	def, err := like.Complete()
	if err != nil {
		t.Fatal(err)
	}
	reviewed, err := release.ReviewGrant(t.Context(), d.ledger, release.Candidate{Path: path, Definition: def})
	if err == nil {
		_, err = release.ConfirmGrant(t.Context(), d.ledger, release.Grant{
			Name: name, Cap: account.Cost{Epsilon: limit * milli},
			OtherPeople: true,
		}, reviewed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// find opens a data set of the ledger.
func (d *desk) find(t *testing.T, name string) *release.Dataset {
	t.Helper()
	data, err := release.Find(t.Context(), d.ledger, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (d *desk) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) request(t *testing.T, m release.Mechanism) release.Request {
	t.Helper()
	return release.Request{
		Mechanism: m, Dataset: d.find(t, "people"), Signer: d.key, Tool: certificate.Tool{Name: "test", Version: "1"},
		Budget: release.Budget{Principal: "mori"},
	}
}

// unaccounted is a request to a file that no ledger knows.
func (d *desk) unaccounted(t *testing.T, m release.Mechanism, like dataset.Definition) release.Request {
	t.Helper()
	path := filepath.Join(d.dir, "unknown.csv")
	if err := os.WriteFile(path, []byte("age,city\n1,Nara\n2,Kobe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	like.Columns = []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}
	def, err := like.Complete()
	if err != nil {
		t.Fatal(err)
	}
	q := d.request(t, m)
	q.Budget = release.Budget{}
	if q.Dataset, err = release.Unaccounted(t.Context(), path, def, []*ledger.Ledger{d.ledger}); err != nil {
		t.Fatal(err)
	}
	return q
}

// spent fails unless these thousandths are spent, on that many charges in the
// given states, in what a second handle on the ledger sees.
func (d *desk) spent(t *testing.T, want int64, states ...string) {
	t.Helper()
	l, err := ledger.Open(t.Context(), d.book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	book, err := l.Book(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	if book.Spent.Epsilon != want*milli {
		t.Errorf("spent %s, not %d thousandths", book.Spent, want)
	}
	var got []string
	if err := l.History(t.Context(), ledger.HistoryOptions{Dataset: "people"}, func(e ledger.Entry) error {
		got = append(got, e.State)
		if strings.Contains(e.Reason, secret) {
			t.Errorf("the history tells %q", e.Reason)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != strings.Join(states, " ") {
		t.Errorf("charges are %v, not %v", got, states)
	}
	r, err := l.Verify(t.Context())
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Errorf("the ledger is not sound: %v", err)
	}
}

// quiet fails when an error tells more than it may, or is of another kind.
func quiet(t *testing.T, err error, kind noren.Kind) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if got := noren.KindOf(err); got != kind {
		t.Errorf("%v: of kind %s, not %s", err, got, kind)
	}
	// The name of a temporary folder has random digits.
	text := regexp.MustCompile(`\S*noren\.db`).ReplaceAllString(err.Error(), "noren.db")
	for _, word := range []string{secret, "line", "record 1", "Kobe", "column 1"} {
		if strings.Contains(text, word) {
			t.Errorf("%v: tells %q", err, word)
		}
	}
}
