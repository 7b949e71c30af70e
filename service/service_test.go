package service_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// people is a small table with its data set "people" in the ledger of the service.
func people(t *testing.T) (s *service.Service, dir string) {
	t.Helper()
	text := "age,sex\n" + strings.Repeat("31,f\n62,m\n", 30)
	return granted(t, text, &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
	}})
}

// granted is a service whose ledger holds the data set "people" of that text, with a
// budget of epsilon 1000. The notes of the service fail the test.
func granted(t *testing.T, text string, d *dataset.Definition) (s *service.Service, dir string) {
	t.Helper()
	dir = t.TempDir()
	path, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "budgets.db")
	write(t, path, text)
	ctx := t.Context()
	must(t, ledger.Create(ctx, book))
	l, err := ledger.Open(ctx, book, ledger.Options{})
	must(t, err)
	defer func() { must(t, l.Close()) }()
	complete, err := d.Complete()
	must(t, err)
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: path, Definition: complete})
	must(t, err)
	limit, err := account.ParseCost("1000", "0.01")
	must(t, err)
	_, err = release.ConfirmGrant(ctx, l, release.Grant{Name: "people", Cap: limit}, reviewed)
	must(t, err)
	s = bare(t)
	s.Ledger = book
	return s, dir
}

// bare is a service without a ledger.
func bare(t *testing.T) *service.Service {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	return &service.Service{
		Signer:  func() (ed25519.PrivateKey, error) { return key, nil },
		Tool:    certificate.Tool{Name: "test", Version: "1"},
		Analyst: "mori",
		Note:    func(n api.Note) { t.Errorf("unexpected note: %s", n.Text) },
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
