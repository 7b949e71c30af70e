package release_test

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// BenchmarkRun is one answer from a file of n records: charging, reading,
// comparing prints, signing, settling.
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
		def, err := (&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}}).Complete()
		if err != nil {
			b.Fatal(err)
		}
		reviewed, err := release.ReviewGrant(b.Context(), l, release.Candidate{Path: path, Definition: def})
		if err == nil {
			_, err = release.ConfirmGrant(b.Context(), l, release.Grant{Name: "people", Cap: account.Cost{Epsilon: 1 << 60}}, reviewed)
		}
		if err != nil {
			b.Fatal(err)
		}
		data, err := release.Find(b.Context(), l, "people")
		if err != nil {
			b.Fatal(err)
		}
		q := release.Request{
			Mechanism: ask(1), Dataset: data, Signer: key, Tool: certificate.Tool{Name: "bench", Version: "1"},
			Budget: release.Budget{Principal: "mori"},
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
