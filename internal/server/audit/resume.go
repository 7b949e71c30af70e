package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/store"
)

// putFunc writes bytes at a place of a file.
type putFunc func(f *os.File, all []byte, at int64) (int, error)

// ResumeWhen sets what must return nil before a log that could not be written is written
// again, such as a look at the free space of its disk. It is called before the log is used.
func (l *Log) ResumeWhen(ready func() error) { l.ready = ready }

// resumeLater tries to go on after a failed write, again and again. The lock is held.
func (l *Log) resumeLater() {
	l.unwritten = true
	if l.closed {
		return
	}
	if l.retry != nil {
		l.retry.Stop()
	}
	l.retry = time.AfterFunc(retrying, l.resume)
}

// resume goes on after a failed write, if writing works again and the chain is sound from its
// first entry: the remains of the failed write are cut, since its callers got an
// error, and an entry says that the log was not written for a time.
func (l *Log) resume() {
	ctx := context.Background()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retry = nil
	if l.closed || !l.unwritten {
		return
	}
	if l.ready != nil && l.ready() != nil {
		l.resumeLater()
		return
	}
	failed := l.Damage()
	cut, err := l.cutRemains(ctx)
	if err != nil {
		var e *noren.Error
		if errors.As(err, &e) && e.Kind == noren.NotMet {
			l.unwritten = false
			_ = l.damage.set(err)
			return
		}
		l.resumeLater()
		return
	}
	l.damage.Store(nil)
	l.unwritten = false
	note := &appending{entry: Entry{
		Actor: "server", Action: "audit.resumed", Outcome: "ok",
		Detail: map[string]string{"bytes": strconv.FormatInt(cut, 10)},
	}}
	if err := l.write(ctx, []*appending{note}); err != nil {
		if l.Damage() == nil { // the store cannot be written yet
			_ = l.damage.set(failed)
			l.resumeLater()
		}
		return
	}
	if l.retry == nil {
		l.retry = time.AfterFunc(gathering, l.flushAgain) // what waited meanwhile
	}
}

// cutRemains removes what a failed write left behind the last entry, and checks the whole
// chain. Damage of another kind is an error of kind NotMet. The lock is held.
func (l *Log) cutRemains(ctx context.Context) (cut int64, err error) {
	err = l.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		f, err := plainfile.OpenFile(filepath.Dir(l.path), filepath.Base(l.path), os.O_RDWR)
		if err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be opened", Err: reason(err)}
		}
		defer func() { _ = f.Close() }()
		info, err := f.Stat()
		if err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be examined", Err: reason(err)}
		}
		known, err := tx.AuditHead(ctx)
		if err != nil {
			return err
		}
		// Another process that wrote since then has dealt with the remains.
		if known.N <= l.n && info.Size() > l.size {
			cut = info.Size() - l.size
			if err := f.Truncate(l.size); err != nil {
				return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be written", Err: reason(err)}
			}
		}
		if err := f.Sync(); err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be written", Err: reason(err)}
		}
		again := &Log{path: l.path, store: l.store, step: func(string) {}, put: (*os.File).WriteAt}
		if _, err := again.sync(ctx, tx, f); err != nil {
			return err
		}
		if err := again.Damage(); err != nil {
			return err
		}
		if again.n < l.n || again.n == l.n && !bytes.Equal(again.head[:], l.head[:]) {
			return damaged("entry %d is not the one that this server wrote", l.n)
		}
		return nil
	})
	return cut, err
}
