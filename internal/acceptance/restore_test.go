package acceptance

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that was restored from a copy, while the anchor outside of it knows more, opens
// sealed: it says so, pays nothing, and goes on to be read.
func TestRestoredBackup(t *testing.T) {
	short(t)
	anchor := filepath.Join(t.TempDir(), "anchor")
	s := serve(t, "--anchor", anchor)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), nil).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "10"})
	q := analyst.quote(t, quoting(book, "0.5", question{"kind": "count"}))
	paid := func(key string) *reply {
		r := analyst.pay(t.Context(), q, key)
		if r.err != nil || r.status != 200 {
			t.Fatalf("%s: %s", key, r)
		}
		return r
	}
	first := paid("before the copy")
	s.stop(t)
	backup := filepath.Join(filepath.Dir(s.dir), "backup")
	if err := os.CopyFS(backup, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	paid("after the copy")
	s.stop(t)

	// The restored folder has spent 0.5 of what was 1.0.
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	private(t, backup)
	if err := os.Rename(backup, s.dir); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	if b := u.book(t, book); !b.Sealed {
		t.Error("the book does not say that it is sealed")
	}
	var session struct {
		Server struct {
			Sealed bool
			Reason string `json:"sealed_reason"`
		}
	}
	if analyst.must(t, 200, "GET", "/session", nil, &session); !session.Server.Sealed || session.Server.Reason == "" {
		t.Error("the session does not say that the server is sealed, and why")
	}
	for _, key := range []string{"after the copy", "a new request"} {
		if r := analyst.pay(t.Context(), q, key); r.err != nil || r.status != 503 || r.code() != "sealed" {
			t.Errorf("%s on a sealed server: %s", key, r)
		}
	}
	if b := u.book(t, book); nano(t, b.Spent.Epsilon) != 500_000_000 {
		t.Errorf("a sealed server has charged: %s are spent", b.Spent.Epsilon)
	}
	var a struct{ ID string }
	first.decode(t, &a)
	analyst.must(t, 200, "GET", "/answers/"+a.ID, nil, nil)
	analyst.must(t, 200, "GET", "/books/"+book+"/entries", nil, nil)
	s.stop(t)

	// Without the anchor the folder is not opened as one that never had an anchor.
	if err := os.Remove(anchor); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	if r := analyst.pay(t.Context(), q, "without the anchor"); r.err != nil || r.code() != "sealed" {
		t.Errorf("with a deleted anchor: %s", r)
	}
}

// private sets the modes that a copy by an operator keeps.
func private(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
