package pg_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren/table/pg"
)

// The tables and views of a schema are found by a connection string alone, and their texts
// are names again.
func TestList(t *testing.T) {
	conn, schema := server(t)
	for name := range map[string]bool{"PGHOST": true, "PGPORT": true, "PGUSER": true, "PGDATABASE": true, "PGPASSWORD": true} {
		t.Setenv(name, "")
	}
	run(t, conn, `CREATE TABLE `+schema+`.visits (a int); CREATE VIEW `+schema+`.young AS SELECT a FROM `+schema+`.visits; CREATE TABLE `+
		schema+`."A.b ""c""" (a int)`)
	found, err := pg.List(t.Context(), pg.Options{Connection: os.Getenv("NOREN_PG_DSN")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, l := range found {
		if l.Name.Schema != schema {
			continue
		}
		again, err := pg.ParseName(l.Name.Text())
		if err != nil || again != l.Name {
			t.Errorf("%s is read as %v, %v", l.Name.Text(), again, err)
		}
		got[l.Name.Table] = l.View
		src, err := pg.Open(t.Context(), pg.Options{Table: l.Name, Connection: os.Getenv("NOREN_PG_DSN")})
		if err != nil {
			t.Errorf("%s: %v", l.Name.Text(), err)
			continue
		}
		_ = src.Close()
	}
	if d := cmp.Diff(map[string]bool{"visits": false, "young": true, `A.b "c"`: false}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
