package release_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// The ledger knows the bytes that were reviewed, also where other bytes are in their place before the
// grant; bytes that are exchanged while they are reviewed are refused.
func TestGrantOfWhatWasReviewed(t *testing.T) {
	const reviewed, later = "age,town\n31,Nara\n47,Kobe\n52,Nara\n", "age,town\n18,Kobe\n19,Kobe\n20,Kobe\n21,Kobe\n"
	for name, sharded := range map[string]bool{"file": false, "shards": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			book, copied := filepath.Join(t.TempDir(), "l.db"), filepath.Join(t.TempDir(), "people.xlsx")
			file := filepath.Join(dir, "people.csv")
			path := file
			if sharded {
				path = dir
			}
			put := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(file, reviewed)
			put(copied, "the workbook")
			if err := ledger.Create(t.Context(), book); err != nil {
				t.Fatal(err)
			}
			l, err := ledger.Open(t.Context(), book, ledger.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			d, err := (&dataset.Definition{
				File: dataset.File{Sharded: sharded}, AtMost: 100,
				Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "town"}},
			}).Complete()
			if err != nil {
				t.Fatal(err)
			}
			review := func(during func()) (*release.Reviewed, error) {
				files, err := release.FilesAt(t.Context(), copied)
				if err != nil {
					t.Fatal(err)
				}
				return release.ReviewGrant(t.Context(), l,
					release.Candidate{Path: path, Definition: d, Copied: files, Progress: func(string, int64, int64) { during() }})
			}
			for _, changed := range []string{file, copied} {
				if _, err := review(func() { put(changed, later) }); noren.KindOf(err) != noren.BadData {
					t.Errorf("%s changes during the review: got %v", changed, err)
				}
				put(file, reviewed)
				put(copied, "the workbook")
			}
			if sharded {
				if _, err := review(func() { put(filepath.Join(dir, "more.csv"), later) }); noren.KindOf(err) != noren.BadData {
					t.Errorf("a file comes during the review: got %v", err)
				}
				if err := os.Remove(filepath.Join(dir, "more.csv")); err != nil {
					t.Fatal(err)
				}
			}
			r, err := review(func() {})
			if err != nil {
				t.Fatal(err)
			}
			put(file, later)
			put(copied, "another workbook")
			if _, err := release.ConfirmGrant(t.Context(), l, release.Grant{Name: "people", Cap: account.Cost{Epsilon: milli}}, r); err != nil {
				t.Fatal(err)
			}
			for text, want := range map[string]string{reviewed: "people", "the workbook": "people", later: "", "another workbook": ""} {
				h := l.NewFileHash()
				_, _ = h.Write([]byte(text))
				if name, err := l.KnowsFile(t.Context(), h.Sum()); err != nil || name != want {
					t.Errorf("the bytes %q are those of %q, %v; expected %q", text, name, err, want)
				}
			}
		})
	}
}
