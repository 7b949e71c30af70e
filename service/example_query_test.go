package service_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// A query is charged to the budget of its data set before the data is read. The answer
// is typed, and has its guarantee, its charge and a signed certificate.
func ExampleService_Query() {
	budgets, key, remove := exampleLedger() // the steward granted the data set visits epsilon 1
	defer remove()

	s := &service.Service{Ledger: budgets, Analyst: "mori", Signer: key, Tool: certificate.Tool{Name: "example", Version: "1"}}
	answer, err := s.Query(context.Background(), &api.QueryRequest{
		Ask:  api.Ask{Dataset: "visits", Epsilon: "0.1"},
		Kind: query.Count, Where: "age >= 65",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Guarantee)
	fmt.Println("remaining:", answer.Remaining.Cost)
	_, _ = *answer.Value, *answer.Interval // the noisy count, and an interval of the true one
	// Output:
	// differential privacy, epsilon = 0.1, neighbours add-remove of one record
	// remaining: epsilon 0.9
}

// exampleLedger creates a ledger, and grants a small table a budget of epsilon 1.
func exampleLedger() (budgets string, key func() (ed25519.PrivateKey, error), remove func()) {
	dir, err := os.MkdirTemp("", "noren-example-*")
	check(err)
	path, budgets := filepath.Join(dir, "visits.csv"), filepath.Join(dir, "budgets.db")
	check(os.WriteFile(path, []byte("age,ward\n70,A\n35,B\n81,A\n"), 0o600))
	ctx := context.Background()
	check(ledger.Create(ctx, budgets))
	l, err := ledger.Open(ctx, budgets, ledger.Options{})
	check(err)
	defer func() { check(l.Close()) }()
	definition, err := (&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "ward"}}}).Complete()
	check(err)
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: path, Definition: definition})
	check(err)
	limit, err := account.ParseCost("1")
	check(err)
	_, err = release.ConfirmGrant(ctx, l, release.Grant{Name: "visits", Cap: limit}, reviewed)
	check(err)
	_, private, err := ed25519.GenerateKey(nil)
	check(err)
	return budgets, func() (ed25519.PrivateKey, error) { return private, nil }, func() { check(os.RemoveAll(dir)) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
