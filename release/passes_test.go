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

// A charged answer reads its file once, with what the ledger reads beside it: the file is
// the one that was seen last, by its size and time of change, and the prints are made of
// the records that are read for the answer.
func TestAnswerReadsTheFileOnce(t *testing.T) {
	if _, err := readSoFar(); err != nil {
		t.Skip("the system does not count the bytes that a process reads")
	}
	dir := t.TempDir()
	path, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "noren.db")
	text := "age,city\n" + strings.Repeat("31,Nara\n", 500_000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err == nil {
		err = ledger.Create(t.Context(), book)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	def, err := (&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: def})
	if err == nil {
		_, err = release.ConfirmGrant(t.Context(), l, release.Grant{Name: "people", Cap: account.Cost{Epsilon: 1 << 60}}, reviewed)
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := readSoFar()
	if err != nil {
		t.Fatal(err)
	}
	data, err := release.Find(t.Context(), l, "people")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Run(t.Context(), release.Request{
		Mechanism: ask(1), Dataset: data, Signer: key, Tool: certificate.Tool{Name: "test", Version: "1"},
		Budget: release.Budget{Principal: "mori"},
	}); err != nil {
		t.Fatal(err)
	}
	after, err := readSoFar()
	if err != nil {
		t.Fatal(err)
	}
	if passes := float64(after-before) / float64(len(text)); passes < 1 || passes > 1.3 {
		t.Errorf("an answer reads %.2f times the size of its file", passes)
	}
}

// readSoFar is the number of bytes that this process has asked files for.
func readSoFar() (n int64, err error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscanf(string(text), "rchar: %d", &n)
	return n, err
}
