package ledger_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/ledger"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, file := filepath.Join(dir, "noren.db"), filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(file, []byte("age,sex\n31,F\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	// The steward, once:
	if err := ledger.Create(ctx, path); err != nil {
		fmt.Println(err)
		return
	}
	l, err := ledger.Open(ctx, path, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	limit := ledger.Cost{Epsilon: 1_000_000_000} // epsilon 1
	// Package dataset reads the file under its definition and computes the prints.
	definition := []byte(`{"columns":[{"name":"age","type":"integer"},{"name":"sex","type":"category"}]}`)
	if _, err := l.Grant(ctx, ledger.Grant{
		Name: "visits", Path: file, Cap: limit, Definition: definition, DefinitionHash: sha256.Sum256(definition),
		Print: "hmac-sha256:0001", Prints: map[string]string{"age": "hmac-sha256:0002", "sex": "hmac-sha256:0003"},
	}); err != nil {
		fmt.Println(err)
		return
	}

	// A query:
	book, err := l.Find(ctx, file) // or by name
	if err != nil {
		fmt.Println(err)
		return
	}
	mechanism := json.RawMessage(`{"mechanism":"count","epsilon":0.7}`)
	request := ledger.Request{
		Dataset: book.Name, Principal: "ana", Key: "monday", Hash: sha256.Sum256(mechanism),
		Mechanism: mechanism, Cost: ledger.Cost{Epsilon: 700_000_000}, Unit: book.Unit,
		Version: book.Version, Definition: book.DefinitionHash,
	}
	reservation, _, err := l.Reserve(ctx, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reservation.Forfeit("an error on the way") // nothing after Settle
	payload := []byte("41")                          // ... read, compute, add noise, sign ...
	if err := reservation.Settle(ctx, payload, []byte("signature"), "key"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answer", string(payload))

	_, stored, err := l.Reserve(ctx, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("again", string(stored.Payload))

	request.Key = "tuesday"
	_, _, err = l.Reserve(ctx, request)
	var refusal *ledger.Refusal
	fmt.Println(errors.As(err, &refusal), refusal)
	// Output:
	// answer 41
	// again 41
	// true data set visits: epsilon 0.7 requested, 0.3 remaining, 0.4 too much
}
