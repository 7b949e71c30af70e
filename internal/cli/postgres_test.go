package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"
)

// postgresEnv gives the script that needs a server its environment and a schema of
// its own, $SCHEMA, which is dropped at the end.
func postgresEnv(env *testscript.Env) error {
	dsn := os.Getenv("NOREN_PG_DSN")
	if dsn == "" || !strings.HasSuffix(env.WorkDir, "script-postgres") {
		return nil
	}
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	schema := "noren_script"
	if err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema).Close(); err != nil {
		return err
	}
	// The file of random.sql names the schema.
	if err := os.WriteFile(filepath.Join(env.WorkDir, "random.sql"), []byte("SELECT * FROM "+schema+".people ORDER BY random()"),
		0o600); err != nil {
		return err
	}
	env.Defer(func() {
		if conn, err := pgconn.Connect(ctx, dsn); err == nil {
			_ = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE").Close()
			_ = conn.Close(ctx)
		}
	})
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return err
	}
	service := "[clinic]\nhost=" + c.Host + "\nport=" + strconv.Itoa(int(c.Port)) + "\nuser=" + c.User + "\ndbname=" + c.Database + "\n"
	file := filepath.Join(env.WorkDir, ".pg_service.conf")
	if err := os.WriteFile(file, []byte(service), 0o600); err != nil {
		return err
	}
	for name, value := range map[string]string{"PGSERVICEFILE": file, "PGSERVICE": "clinic", "PGPASSWORD": c.Password, "SCHEMA": schema} {
		env.Setenv(name, value)
	}
	return nil
}
