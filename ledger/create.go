package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as a ledger ("NORN").
const applicationID = 0x4e4f524e

func migrator(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, dir,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
}

// Create makes a new, empty ledger at path and its head file beside it, both of
// mode 0600. Nothing may stand there yet, nor a head file left from a ledger
// that was there before (kind Usage).
func Create(ctx context.Context, path string) error {
	return create(ctx, path, systemClock())
}

func create(ctx context.Context, path string, c clock) (err error) {
	dir := filepath.Dir(path)
	if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
		return noren.Usagef(noren.File(path), "its folder does not exist").Hinted("make the folder %s first", noren.File(dir))
	}
	if _, statErr := os.Lstat(path); statErr == nil {
		return noren.Usagef(noren.File(path), "exists already").Hinted("a ledger is made once: open it, or choose another name")
	}
	if _, statErr := os.Lstat(headPath(path)); statErr == nil {
		return noren.Usagef(noren.File(path), "a ledger was here: its head file %s still is", noren.File(headPath(path))).
			Hinted("put the ledger back; only if all that it knew may be forgotten, move the head file away")
	}
	// It is made under another name and appears whole. What a crash leaves is
	// a temporary folder and nothing that could be taken for a ledger.
	tmp, err := tempfile.CreateFolder(dir)
	if err != nil {
		return fileError(path, "cannot be made", err)
	}
	defer tmp.Close()
	defer os.RemoveAll(tmp.Path)
	name := filepath.Join(tmp.Path, "new")
	fresh, err := empty()
	if err != nil {
		return fail(path, "cannot be made", err)
	}
	if err := os.WriteFile(name, fresh.file, 0o600); err != nil {
		return fileError(path, "cannot be made", err)
	}
	head, err := fill(ctx, name, c)
	if err != nil {
		return fail(path, "cannot be made", err)
	}
	if err := tempfile.Publish(name, path); errors.Is(err, fs.ErrExist) {
		return noren.Usagef(noren.File(path), "was created by another process in the meantime").Hinted("open it")
	} else if err != nil {
		return fileError(path, "cannot be made", err)
	}
	// A ledger that holds its first entry alone is given its head file when it
	// is opened, if the machine stops here.
	if err := rewriteHead(path, head); err != nil {
		return err
	}
	return syncDir(dir)
}

// fill gives the ledger without any entry its secret and its first entry, and
// returns the head file's line.
func fill(ctx context.Context, name string, c clock) ([]byte, error) {
	db, err := openDB(name)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	l := &Ledger{id: randomID(), secret: secret}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	now := c.wall().UnixMilli()
	if _, err := tx.ExecContext(ctx, "INSERT INTO ledger VALUES (1, ?, ?, ?, ?)", l.id, secret, now, now); err != nil {
		return nil, err
	}
	first, err := l.appendLink(ctx, tx, kindCreate, createBody{Ledger: l.id, Time: now})
	if err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	// WAL last: it stays in the file. Closing the only connection then leaves
	// one whole file that can be given its name.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return l.headLine(first)
}

// tables are those of a ledger without any entry.
type tables struct {
	file   []byte            // the database file
	schema map[string]string // see schemaText
}

// empty makes the tables in memory, once in a process: they are the same for
// every ledger, and to write the file is faster than to migrate it.
var empty = sync.OnceValues(func() (tables, error) {
	ctx := context.Background()
	connector, err := sqlite.NewConnector(":memory:")
	if err != nil {
		return tables{}, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would be a database of its own
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return tables{}, err
	}
	m, err := migrator(db)
	if err != nil {
		return tables{}, err
	}
	if _, err := m.Up(ctx); err != nil {
		return tables{}, err
	}
	schema, err := schemaText(ctx, db)
	if err != nil {
		return tables{}, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return tables{}, err
	}
	defer conn.Close()
	var file []byte
	err = conn.Raw(func(c any) error {
		s, ok := c.(interface{ Serialize() ([]byte, error) })
		if !ok {
			return errors.ErrUnsupported
		}
		file, err = s.Serialize()
		return err
	})
	return tables{file, schema}, err
})
