package release_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// adults counts the records with an age of 18 and more: a mechanism of its own.
type adults struct{ cost account.Cost }

func (adults) Name() string           { return "example.adults" }
func (m adults) Parameters() any      { return map[string]any{"epsilon_nano": m.cost.Epsilon} }
func (adults) Columns() []table.Field { return []table.Field{{Name: "age", Type: table.Integer}} }

func (m adults) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	if unit != account.Record {
		return account.Cost{}, &noren.Error{Kind: noren.Usage, What: "one record is all that it protects"}
	}
	// One record more or less changes the count by at most one.
	return account.Charge(m.cost, account.AddRemove, n)
}

func (m adults) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := m.Cost(n, unit)
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	return g, err
}

func (adults) Covers(int64, int64) error { return nil }
func (m adults) Answer(_ context.Context, t *table.Table, src *noise.Source) (any, error) {
	count := int64(0)
	for i := range t.Rows {
		if !t.Columns[0].IsMissing(i) && t.Columns[0].Number(i) >= 18 {
			count++
		}
	}
	scale, err := noise.ScaleFor(big.NewRat(1, 1), m.cost.Epsilon)
	if err != nil {
		return nil, err
	}
	laplace, err := noise.NewLaplace(scale)
	if err != nil {
		return nil, err
	}
	z, err := laplace.Draw(src)
	if err != nil {
		return nil, err
	}
	return map[string]int64{"adults": noise.AddSaturating(count, z)}, nil
}

// A steward grants a budget; an analyst asks, checks the answer, and is refused the
// next one.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	people, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "noren.db")
	if err := os.WriteFile(people, []byte("age\n31\n17\n52\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	// The steward, once.
	if err := ledger.Create(ctx, book); err != nil {
		fmt.Println(err)
		return
	}
	l, err := ledger.Open(ctx, book, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = l.Close() }()
	definition, err := (&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}}}).Complete()
	if err != nil {
		fmt.Println(err)
		return
	}
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: people, Definition: definition})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := release.ConfirmGrant(ctx, l, release.Grant{Name: "people", Cap: account.Cost{Epsilon: account.EpsilonUnits}},
		reviewed); err != nil {
		fmt.Println(err)
		return
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The analyst.
	data, err := release.Find(ctx, l, "people")
	if err != nil {
		fmt.Println(err)
		return
	}
	q := release.Request{
		Mechanism: adults{account.Cost{Epsilon: 600_000_000}}, Dataset: data,
		Budget: release.Budget{Principal: "mori"},
		Signer: key, Tool: certificate.Tool{Name: "example", Version: "1"},
	}
	quote, err := release.Price(ctx, &q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("price:", quote.Cost, "fits:", quote.Fits)
	a, err := release.Run(ctx, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	var answer map[string]int64
	fmt.Println("answered:", json.Unmarshal(a.Payload, &answer) == nil, "left:", a.Remaining[0].Left)
	_, err = certificate.Check(ctx, a.Certificate, bytes.NewReader(a.Payload))
	fmt.Println("certified:", a.Certificate.Certificate.Guarantee, err)
	_, err = release.Run(ctx, q)
	var short *ledger.Refusal
	fmt.Println(errors.As(err, &short), short)
	// Output:
	// price: epsilon 0.6 fits: true
	// answered: true left: epsilon 0.4
	// certified: differential privacy, epsilon = 0.6, neighbours add-remove of one record <nil>
	// true data set people: epsilon 0.6 requested, 0.4 remaining, 0.2 too much
}
