package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table/file"
)

// A certificate is removed with a release that could not be made, and stays where a database
// may have made it.
func TestWithdrawnCertificate(t *testing.T) {
	for code, stays := range map[string]bool{"": false, file.CodeUncertain: true} {
		path := filepath.Join(t.TempDir(), "certificate.json")
		f, err := atomicfile.Create(path, false)
		if err != nil {
			t.Fatal(err)
		}
		with := atomicfile.Together{f}
		if err := with.Commit(); err != nil {
			t.Fatal(err)
		}
		err = withdrawn(with, &api.AnonymizeRequest{Output: "pg:visits", Certificate: path},
			&noren.Error{Code: code, What: "the connection was lost"})
		if noren.CodeOf(err) != code {
			t.Errorf("%q: %v", code, err)
		}
		f.Discard()
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%q: there %v, expected %v", code, err == nil, stays)
		}
	}
}
