package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren/internal/server/tables"
)

// A table of a configured database is copied, confirmed and released; the connection string
// is in no answer.
func TestDatabases(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open := file("open", "host=/nowhere password=SECRET4711\n", 0o644)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	configured := map[string]string{
		"open": open, "gone": filepath.Join(dir, "none"), "down": file("down", "host=/nowhere password=SECRET4711\n", 0o600),
		"lines": file("lines", "host=/nowhere\npassword=SECRET4711\n", 0o600), "wrong": file("wrong", "SECRET4711 =\n", 0o600),
	}
	dsn := os.Getenv("NOREN_PG_DSN")
	if dsn != "" {
		configured["clinic"] = file("clinic", dsn+"\n", 0o600)
	}
	s := start(t, func(c *Config) { c.Databases = configured }).steward(t)
	for _, name := range []string{"open", "gone", "lines", "down", "wrong"} {
		a := s.ask(t, "GET", "/api/v1/sources/databases/"+name, s.secret, nil, nil)
		if a.status != 503 && a.status != 422 || strings.Contains(a.body, "SECRET") || strings.Contains(a.body, "nowhere") ||
			strings.Contains(a.body, dir) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	table := s.add(t, tables.Source{Kind: "database", Database: "down", Table: "visits"})
	if table.State != "failed" || strings.Contains(string(table.Failure), "SECRET") || strings.Contains(string(table.Failure), "internal") {
		t.Errorf("%+v %s", table.Line, table.Failure)
	}
	if dsn == "" {
		t.Skip("needs a PostgreSQL server: NOREN_PG_DSN is not set")
	}
	conn, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	name := fmt.Sprintf("noren_serve_%d", os.Getpid())
	err = conn.Exec(t.Context(), "CREATE TABLE "+name+" AS SELECT 'p' || i AS person, 20 + i * 7 % 60 AS age, 150 + i * 11 % 40 AS height, "+
		"date '2024-01-01' + i AS day FROM generate_series(1, 60) i").Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Exec(t.Context(), "DROP TABLE "+name).Close() }()
	var listed databaseBody
	s.do(t, 200, "GET", "/sources/databases/clinic", nil, nil).decode(t, &listed)
	if len(listed.Tables) == 0 || !strings.Contains(fmt.Sprint(listed.Tables), name+" table") {
		t.Errorf("%v", listed.Tables)
	}
	for _, table := range []string{name + "; DROP TABLE " + name, "(SELECT 1)", "none." + name} {
		got := s.add(t, tables.Source{Kind: "database", Database: "clinic", Table: table})
		if got.State != "failed" {
			t.Errorf("%s: %+v", table, got.Line)
		}
	}
	table = s.confirm(t, s.add(t, tables.Source{Kind: "database", Database: "clinic", Table: name}), func(b *tables.Stated) {
		b.Unit = ""
		for i := range b.Columns {
			b.Columns[i].Role = map[string]string{
				"person": "identifier", "age": "quasi-identifier", "height": "quasi-identifier",
				"day": "other",
			}[b.Columns[i].Name]
		}
	})
	recipe := s.recipe(t, table.ID, nil)
	if recipe.Command != "noren anonymize pg:"+name+" -o "+name+"-k5.csv --spec noren.yaml" {
		t.Errorf("%s", recipe.Command)
	}
	rel := s.release(t, recipe.ID, s.preview(t, recipe.ID))
	if file := s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil); rel.Rows != 60 ||
		!strings.HasPrefix(file.body, "age,height,day\n") {
		t.Errorf("%+v %.40s", rel, file.body)
	}
}
