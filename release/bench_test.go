package release_test

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noren/account"
	"noren/certificate"
	"noren/ledger"
	"noren/release"
)

// BenchmarkRun is one answer from a file of so many records: fingerprint, charge,
// reading, fingerprint again, signing, settling.
func BenchmarkRun(b *testing.B) {
	for _, rows := range []int{10, 100_000} {
		dir := b.TempDir()
		path, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "noren.db")
		if err := os.WriteFile(path, []byte("age,city\n"+strings.Repeat("31,Nara\n", rows)), 0o600); err != nil {
			b.Fatal(err)
		}
		_, key, err := ed25519.GenerateKey(nil)
		if err == nil {
			err = ledger.Create(b.Context(), book)
		}
		if err != nil {
			b.Fatal(err)
		}
		l, err := ledger.Open(b.Context(), book, ledger.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Grant(b.Context(), ledger.Grant{Name: "people", File: path, Cap: account.Cost{Epsilon: 1 << 60}}); err != nil {
			b.Fatal(err)
		}
		q := release.Request{
			Mechanism: ask(1), File: path, Signer: key, Tool: certificate.Tool{Name: "bench", Version: "1"},
			Budget: release.Budget{Ledger: l, Principal: "mori"},
		}
		b.Run(fmt.Sprintf("records=%d", rows), func(b *testing.B) {
			for b.Loop() {
				if _, err := release.Run(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
