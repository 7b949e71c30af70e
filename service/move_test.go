package service_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
)

// A data set whose file was moved is read at its new place, and another file there is not
// taken for it.
func TestLedgerMove(t *testing.T) {
	s, dir := people(t)
	ask := func() error {
		_, err := s.Query(t.Context(), &api.QueryRequest{Ask: api.Ask{Dataset: "people", Epsilon: "0.1"}, Kind: query.Count})
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "people.csv"))
	must(t, err)
	moved := filepath.Join(t.TempDir(), "people.csv")
	must(t, os.WriteFile(moved, text, 0o600))
	must(t, os.Remove(filepath.Join(dir, "people.csv")))
	if ask() == nil {
		t.Fatal("an answer without a file")
	}
	must(t, s.LedgerMove(t.Context(), &api.LedgerMoveRequest{Dataset: "people", Path: moved}))
	must(t, ask())
	must(t, os.WriteFile(moved, append(text, "64,f\n"...), 0o600))
	if err := ask(); err == nil {
		t.Error("another file is taken for the granted one")
	}
	if err := s.LedgerMove(t.Context(), &api.LedgerMoveRequest{Dataset: "others", Path: moved}); noren.KindOf(err) == noren.Internal {
		t.Errorf("%v", err)
	}
}
