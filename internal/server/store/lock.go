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
	"github.com/noren-privacy/noren/internal/plainfile"
)

// Lock is the claim of one process to a folder. The system ends it with the process,
// however that ends.
type Lock struct {
	db     *sql.DB
	tx     *sql.Tx
	folder *os.File // nil where the system has no locks of folders
}

// NewLock takes the lock of the folder of path and the lock file at path, which it makes
// with mode 0600. If another process holds one of them, the error is of kind Usage. The
// folder's own lock holds where the file is deleted meanwhile; the file's is that of older
// programs.
func NewLock(ctx context.Context, path string) (_ *Lock, err error) {
	folder, err := holdFolder(filepath.Dir(path))
	if errors.Is(err, errHeld) {
		return nil, held(path)
	}
	if err != nil {
		return nil, failed("the lock cannot be taken", err)
	}
	defer func() {
		if err != nil && folder != nil {
			_ = letFolder(folder)
		}
	}()
	// A link is not followed: what it leads to would become the lock.
	f, err := plainfile.OpenOrMake(path)
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
		return &Lock{db, tx, folder}, nil
	}
	_ = db.Close()
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return nil, held(path)
	}
	return nil, failed("the lock cannot be taken", err)
}

// Close gives the lock back.
func (l *Lock) Close() error {
	err := errors.Join(l.tx.Rollback(), l.db.Close())
	if l.folder != nil {
		err = errors.Join(err, letFolder(l.folder))
	}
	return err
}

func held(path string) error {
	return noren.Usagef(noren.File(filepath.Dir(path)), "another server uses this folder").Hinted("stop that server, or choose another folder")
}
