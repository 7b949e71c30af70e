package pg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// Off this machine every way that is left is encrypted, or there is none.
func TestEncrypted(t *testing.T) {
	for _, k := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGSERVICE", "PGSSLMODE", "PGPASSFILE"} {
		t.Setenv(k, "")
	}
	for _, c := range []struct {
		host, mode string
		ok, plain  bool
	}{
		{"db.example.org", "", true, false},
		{"db.example.org", "prefer", true, false},
		{"db.example.org", "allow", true, false},
		{"db.example.org", "require", true, false},
		{"db.example.org", "verify-full", true, false},
		{"db.example.org", "disable", false, false},
		{"10.1.2.3", "disable", false, false},
		{"localhost.example.org", "disable", false, false},
		{"db.example.org,localhost", "disable", true, true},
		{"localhost", "disable", true, true},
		{"127.0.0.9", "prefer", true, true},
		{"::1", "disable", true, true},
		{"/var/run/postgresql", "disable", true, true},
	} {
		settings := "host=" + c.host
		if c.mode != "" {
			settings += " sslmode=" + c.mode
		}
		config, err := pgconn.ParseConfig(settings)
		if err != nil {
			t.Fatal(err)
		}
		if err = encrypted(config, "pg:t"); (err == nil) != c.ok {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		if err != nil {
			if noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "example") {
				t.Errorf("%s: %v", settings, err)
			}
			continue
		}
		plain := config.TLSConfig == nil && isLocal(config.Host)
		if config.TLSConfig == nil && !isLocal(config.Host) {
			t.Errorf("%s: the first way has no encryption", settings)
		}
		for _, f := range config.Fallbacks {
			plain = plain || f.TLSConfig == nil
			if f.TLSConfig == nil && !isLocal(f.Host) {
				t.Errorf("%s: another way has no encryption", settings)
			}
		}
		if plain != c.plain {
			t.Errorf("%s: plain is %v", settings, plain)
		}
	}
}

func TestPassfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(path, []byte("localhost:*:*:u:hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSWORD", "")
	t.Setenv("PGSERVICE", "")
	t.Setenv("PGPASSFILE", path)
	c, err := pgconn.ParseConfig("host=localhost user=u")
	if err != nil || c.Password != "hidden" {
		t.Fatalf("the password file was not read: %v", err)
	}
	if err := privatePassfile(c, "pg:t"); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := privatePassfile(c, "pg:t"); noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "hidden") {
		t.Errorf("readable by others: %v", err)
	}
}

// Conditions of the server are shown by their code, and its text never is.
func TestConditions(t *testing.T) {
	for code, want := range map[string]struct {
		kind noren.Kind
		text string
	}{
		"53100": {noren.Internal, "the server's disk is full"},
		"53200": {noren.Internal, "the server has no resources left"},
		"57P01": {noren.Internal, "the server ended the connection"},
		"57P03": {noren.Internal, "the server starts or stops"},
		"53300": {noren.Internal, "no connection left"},
		"28000": {noren.Usage, "may not connect from here"},
		"28P01": {noren.Usage, "the password is wrong"},
		"42703": {noren.Usage, "a column that does not exist"},
		"42883": {noren.Usage, "a function or operator"},
		"22012": {noren.Usage, "divides by zero"},
		"40P01": {noren.Internal, "another session"},
		"57014": {noren.Internal, "the server cancelled the work"},
		"42601": {noren.Usage, "one query"},
		"42846": {noren.Usage, "the query cannot be run"},
		"22001": {noren.BadData, "a value does not fit its type"},
		"XX001": {noren.BadData, "finds its data damaged"},
		"99999": {noren.Internal, "otherwise"},
	} {
		err := failed(context.Background(), "pg:t", &pgconn.PgError{Code: code, Message: "hidden", Detail: "hidden"}, "otherwise")
		if noren.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.text) || !strings.Contains(err.Error(), code) ||
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", code, err)
		}
	}
	if err := failed(context.Background(), "pg:t", errors.New("hidden"), "otherwise"); strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}

func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"visits": {"", "visits"}, "clinic.visits": {"clinic", "visits"}, `"Odd.Name"`: {"", "Odd.Name"}, `"a""b".c`: {`a"b`, "c"},
		"来院": {"", "来院"},
	} {
		if got, err := ParseName(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", ".", "a.", ".a", "a.b.c", `"a`, `"a"b`, `""`, "postgres://u:hidden@h/db", "host=h password=hidden",
		"u:hidden@h", "a b",
	} {
		if got, err := ParseName(text); noren.KindOf(err) != noren.Usage || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"visits", `"a""b".c`, "postgres://u:p@h/db", `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		n, err := ParseName(text)
		if err != nil {
			return
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Errorf("%q became %v, then %v %v", text, n, again, err)
		}
	})
}
