package names_test

import (
	"testing"

	"github.com/noren-privacy/noren/internal/names"
)

// Connection strings in the forms of the usual programs are found; names of tables, files,
// columns and conditions are none.
func TestConnection(t *testing.T) {
	for _, text := range []string{
		"postgres://steward:secret@host/clinic", "postgres:/steward:secret@host/clinic", "POSTGRESQL://host/clinic?user=a",
		"postgresql+psycopg2://a:b@host/c",
		"--file=postgres://a:b@c/d", "pg:postgres://a:b@c/d", "mysql://a:b@c/d", "mongodb+srv://a:b@c",
		"jdbc:postgresql://c/d?user=a&password=b",
		"jdbc:oracle:thin:scott/tiger@//db:1521/x", "https://u:secret@host/visits.csv", "ftp://u:s/e@c@host/x",
		"host=db user=steward password=secret", "password=secret dbname=clinic", "Server=db;User Id=sa;Pwd=secret",
		"Driver={ODBC};SERVER=db;PWD=secret",
		"steward:secret@host/clinic", "steward:secret@db.example.org:5432/clinic", "pg:steward:secret@host/clinic",
		"-o=steward:secret@host/clinic",
		"pg:visits?password=secret",
	} {
		if !names.Connection(text) {
			t.Errorf("%s: is taken for no connection string", text)
		}
	}
	for _, text := range []string{
		"visits.csv", "pg:clinic.visits", "pg:visits?service=clinic", "sqlite:clinic.db?table=visits",
		"sqlite:data@2024/clinic.db", `C:\data\a@b`, "C:/a@b.csv",
		"visits.xlsx?sheet=2024", "password = 1", "password=text", "age=20:80", "a@b.csv", "dose:@home",
		"https://host/visits.csv", "host = 'a'", "12:30@ward b", "mailto:ann@example.org", "team:ann@example.org",
	} {
		if names.Connection(text) {
			t.Errorf("%s: is taken for a connection string", text)
		}
	}
}

// Connection strings in values of a YAML file are found by their line, and those of comments
// are left alone.
func TestConnectionLine(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb: postgres://a:b@c/d\n":                     2,
		"a: 1\nb:\n  hierarchy: \"steward:secret@host/db\"": 3,
		"- 'host=a password=b'":                             1,
		"# postgres://a:b@c/d\na: 1 # jdbc:a:b\n":           0,
		"a: x@y.z\nb: age=20\nc: sqlite:/a/b@c\n":           0,
		"": 0,
	} {
		if got := names.ConnectionLine([]byte(text)); got != want {
			t.Errorf("%q: line %d, expected %d", text, got, want)
		}
	}
}
