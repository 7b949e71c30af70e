package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
)

// Lock is the claim of one process to a folder. The system ends it with the process,
// however that ends.
type Lock struct {
	db *sql.DB
	tx *sql.Tx
}

// NewLock takes the lock file at path, and makes it with mode 0600. If another process
// holds it, the error is of kind Usage.
func NewLock(ctx context.Context, path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, failed("the lock cannot be taken", err)
	}
	if err := f.Close(); err != nil {
		return nil, failed("the lock cannot be taken", err)
	}
	db, err := openDB(path, true, 1)
	if err != nil {
		return nil, failed("the lock cannot be taken", err)
	}
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil) // the end of ctx would end it
	if err == nil {
		return &Lock{db, tx}, nil
	}
	_ = db.Close()
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return nil, noren.Usagef(filepath.Dir(path), "another server uses this folder").Hinted("stop that server, or choose another folder")
	}
	return nil, failed("the lock cannot be taken", err)
}

// Close gives the lock back.
func (l *Lock) Close() error {
	return errors.Join(l.tx.Rollback(), l.db.Close())
}
