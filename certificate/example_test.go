package certificate_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
)

func Example() {
	// In earnest: certificate.LoadOrCreateKey(path).
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	file := []byte("age,sex\n30-39,F\n30-39,F\n")

	released := certificate.Answer(file)
	released.Kind, released.Name = "file", "out.csv"
	signed, err := certificate.Sign(key, certificate.Certificate{
		Released:   released,
		Mechanism:  certificate.Mechanism{Name: "anonymize"},
		Guarantee:  noren.Guarantee{Model: "k-anonymity", K: 2, Quasi: []string{"age", "sex"}},
		Accounting: certificate.NoBudget,
		Tool:       certificate.Tool{Name: "noren", Version: "1.0.0"},
		Time:       "2026-11-21T07:00:00Z",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := signed.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}

	// Elsewhere, with the signer's public key at hand:
	received, err := certificate.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	public := key.Public().(ed25519.PublicKey)
	result, err := certificate.Check(context.Background(), received, bytes.NewReader(file), public)
	fmt.Println(received.Certificate.Guarantee, result.Trusted, err)

	file[8] = '4'
	_, err = certificate.Check(context.Background(), received, bytes.NewReader(file), public)
	fmt.Println(err)
	// Output:
	// k-anonymity, k = 2 over age, sex true <nil>
	// certificate: the file is not the one that was released (it was changed, or the certificate belongs to another)
}

func ExampleCanonical() {
	text, err := certificate.Canonical([]byte(`{ "scale": 2.50, "epsilon": 1e0, "note": "a\u0062" }`))
	fmt.Println(string(text), err)
	// Output: {"epsilon":1,"note":"ab","scale":2.5} <nil>
}
