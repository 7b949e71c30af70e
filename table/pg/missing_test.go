package pg_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/pg"
)

// The error about a table that does not exist names those that do, and the one that was
// probably meant.
func TestMissingTable(t *testing.T) {
	conn, schema := server(t)
	run(t, conn, `CREATE TABLE `+schema+`.visits_of_2024 (a int); CREATE TABLE `+schema+`."Doctors" (a int)`)
	for name, want := range map[pg.Name]string{
		{Schema: schema, Table: "visits_of_2025"}:    "did you mean pg:" + schema + ".visits_of_2024?",
		{Schema: "nowhere", Table: "visits_of_2024"}: "did you mean pg:" + schema + ".visits_of_2024?",
		{Table: "doctors"}:                           "did you mean pg:" + schema + ".Doctors?",
		{Schema: schema, Table: "something"}:         schema + ".Doctors, " + schema + ".visits_of_2024",
	} {
		_, err := pg.Open(t.Context(), pg.Options{Table: name})
		if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, expected %s", name, err, want)
		}
	}
	if _, err := pg.Open(t.Context(), pg.Options{Query: "SELECT * FROM nothing", QueryName: "q.sql"}); err == nil ||
		strings.Contains(err.Error(), "visits_of_2024") {
		t.Errorf("a query: %v", err)
	}
}

// What keeps a table from being made is found before anything is read: its schema, rights
// and the state of the server.
func TestCheckFinds(t *testing.T) {
	conn, schema := server(t)
	role := schema + "_clerk"
	run(t, conn, "DROP ROLE IF EXISTS "+role+"; CREATE ROLE "+role+" LOGIN PASSWORD 'clerk'; GRANT USAGE ON SCHEMA "+schema+" TO "+role+
		"; CREATE TABLE "+schema+".owned (a int)")
	t.Cleanup(func() { run(t, conn, "REVOKE ALL ON SCHEMA "+schema+" FROM "+role+"; DROP ROLE "+role) })
	check := func(name pg.Name, replace bool, want string) {
		t.Helper()
		err := pg.Check(t.Context(), pg.TargetOptions{Table: name, Replace: replace})
		if want == "" && err != nil || want != "" && (noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: got %v, expected %q", name, err, want)
		}
	}
	check(pg.Name{Schema: schema, Table: "new"}, false, "")
	check(pg.Name{Table: schema + "_new"}, false, "")
	check(pg.Name{Schema: "No.Where", Table: "new"}, false, "the schema does not exist")
	t.Setenv("PGOPTIONS", "-c default_transaction_read_only=on")
	check(pg.Name{Schema: schema, Table: "new"}, false, "the server only reads")
	t.Setenv("PGOPTIONS", "-c search_path=nowhere")
	check(pg.Name{Table: "new"}, false, "no schema of the search path exists")
	t.Setenv("PGOPTIONS", "")
	t.Setenv("PGUSER", role)
	t.Setenv("PGPASSWORD", "clerk")
	check(pg.Name{Schema: schema, Table: "new"}, false, "may not create a table in the schema")
	t.Setenv("PGPASSWORD", "other")
	check(pg.Name{Schema: schema, Table: "new"}, false, "the password is wrong")
	t.Setenv("PGUSER", "noren_stranger")
	check(pg.Name{Schema: schema, Table: "new"}, false, "SQLSTATE 28")
	t.Setenv("PGUSER", role)
	t.Setenv("PGPASSWORD", "clerk")
	run(t, conn, "GRANT CREATE ON SCHEMA "+schema+" TO "+role)
	check(pg.Name{Schema: schema, Table: "owned"}, true, "belongs to another user")
}
