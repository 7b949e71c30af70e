package file_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/file"
)

// The file of a database without its prefix, and a table that does not exist, are errors
// that say what to write.
func TestNamesOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clinic.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE visits (n INTEGER); CREATE TABLE doctors (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		path:                              "sqlite:" + path,
		"sqlite:" + path + "?table=visit": "did you mean sqlite:" + path + "?table=visits?",
		"sqlite:" + path + "?table=other": "only doctors, visits",
	} {
		_, err := file.Open(t.Context(), name, file.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %s", name, err, want)
		}
	}
	if _, err := file.Open(t.Context(), path, file.Options{Name: "upload.db"}); noren.KindOf(err) != noren.BadData ||
		strings.Contains(err.Error(), path) {
		t.Errorf("under another name: %v", err)
	}
	for _, target := range []string{"sqlite:" + path + "?table=new", "sqlite:other.db"} {
		if err := file.CheckTarget(t.Context(), target, false); noren.KindOf(err) != noren.Usage ||
			!strings.Contains(err.Error(), "are read and not written") {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, err := file.Open(t.Context(), "postgres://steward:secret@host/clinic", file.Options{}); noren.KindOf(err) != noren.Usage ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("a connection string: %v", err)
	}
}
