package pg_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/pg"
)

// cutting passes on what is sent to the server, and cuts the connection where a statement is
// sent, before or after the server has it. Further connections are of the server alone.
func cutting(t *testing.T, statement string, reaches bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server := filepath.Join(os.Getenv("PGHOST"), ".s.PGSQL."+os.Getenv("PGPORT"))
	if _, err := os.Stat(server); err != nil {
		t.Skip("the server has no socket here")
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL."+os.Getenv("PGPORT")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("PGHOST", dir)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", server)
			if err != nil {
				_ = client.Close()
				return
			}
			go pass(to, client, nil, false)
			go pass(client, to, []byte(statement+"\x00"), reaches)
		}
	}()
}

func pass(from, to net.Conn, until []byte, reaches bool) {
	defer func() { _ = from.Close() }()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			_ = to.Close()
			return
		}
		if until != nil && bytes.Contains(buf[:n], until) {
			_ = from.Close() // the client learns nothing more
			if reaches {
				_, _ = to.Write(buf[:n])
				_, _ = to.Read(buf)
			}
			_ = to.Close()
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A connection that is lost when the transaction ends leaves it open whether the table was
// made, and the error says so. One that is lost before has made none.
func TestUncertain(t *testing.T) {
	conn, schema := server(t)
	host := os.Getenv("PGHOST")
	for _, c := range []struct {
		name, statement string
		reaches         bool
		code, tables    string
	}{
		{"before", "ALTER", false, "", "0"},
		{"not_ended", "COMMIT", false, pg.CodeUncertain, "0"},
		{"ended", "COMMIT", true, pg.CodeUncertain, "1"},
	} {
		t.Setenv("PGHOST", host)
		name := pg.Name{Schema: schema, Table: c.name}
		statement := c.statement
		if statement == "ALTER" {
			statement = `RENAME TO "` + c.name + `"`
		}
		cutting(t, statement, c.reaches)
		src, err := file.OpenStdin(t.Context(), strings.NewReader("n\n1\n2\n"), file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		to := pg.NewTarget(pg.TargetOptions{Table: name})
		if err := pour(t.Context(), src, to); err != nil {
			t.Fatal(err)
		}
		err = to.Commit(t.Context())
		if err == nil || noren.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, expected the code %q", c.name, err, c.code)
		}
		_ = src.Close()
		count := func() string {
			return ask(t, conn, "SELECT count(*) FROM pg_tables WHERE schemaname = '"+schema+"' AND tablename = '"+c.name+"'")[0][0]
		}
		// The server may still be at the COMMIT whose answer is lost.
		for deadline := time.Now().Add(10 * time.Second); c.reaches && count() != c.tables && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if got := count(); got != c.tables {
			t.Errorf("%s: %s tables, expected %s", c.name, got, c.tables)
		}
	}
}
