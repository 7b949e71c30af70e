package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/store"
)

// mostTogether is the largest number of entries that are written with one synchronisation
// of the disk.
const mostTogether = 512

// appending is an entry that waits to be written.
type appending struct {
	entry Entry
	soon  bool // no goroutine waits for it
	done  bool // guarded by the lock of the log
	err   error
}

// Append writes an entry, which is on disk when it returns. Number and time are set here.
// After a failure of the disk the log is damaged: it is not known what was written. It goes
// on by itself when that is known and writing works again (see [Log.ResumeWhen]).
//
// Entries of several goroutines are written together: the first that gets the lock writes
// those of all that wait.
func (l *Log) Append(ctx context.Context, e Entry) error {
	own := &appending{entry: e}
	l.queueMu.Lock()
	l.queue = append(l.queue, own)
	l.queueMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !own.done {
		l.writeGroup(ctx)
	}
	return own.err
}

// gathering is how long entries wait for others that need not be on disk at once.
const gathering = 20 * time.Millisecond

// AppendSoon writes an entry within moments, together with others. A process that is killed
// meanwhile has not written it: it is for refusals, which changed nothing and released
// nothing. While the store cannot be written, it is tried again.
func (l *Log) AppendSoon(e Entry) {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	l.queue = append(l.queue, &appending{entry: e, soon: true})
	if l.soon {
		return
	}
	l.soon = true
	time.AfterFunc(gathering, func() { l.Flush(context.Background()) })
}

// retrying is how long entries wait after the store could not be written, and mostRetried
// how many of them wait at most.
const (
	retrying    = time.Second
	mostRetried = 100_000
)

// Flush writes all entries that wait. Those that cannot be written now are tried again,
// unless the log is damaged.
func (l *Log) Flush(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.waiting() {
		if !l.writeGroup(ctx) {
			if l.retry == nil && !l.closed {
				l.retry = time.AfterFunc(retrying, l.flushAgain)
			}
			return
		}
	}
}

func (l *Log) flushAgain() {
	l.mu.Lock()
	l.retry = nil
	l.mu.Unlock()
	l.Flush(context.Background())
}

// Close writes all entries that wait, as far as the store can be written, and tries no more.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	if l.retry != nil {
		l.retry.Stop()
	}
	l.mu.Unlock()
	l.Flush(context.Background())
}

// waiting reports whether entries wait to be written. If none do, the next one that can wait
// begins to.
func (l *Log) waiting() bool {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	if len(l.queue) == 0 {
		l.soon = false
	}
	return len(l.queue) > 0
}

// writeGroup writes the first entries that wait. It returns false where some that no caller
// waits for could not be written and wait again. The lock is held.
func (l *Log) writeGroup(ctx context.Context) bool {
	group := l.take()
	// An entry about a request that was ended by its client is written all the same.
	err := l.write(context.WithoutCancel(ctx), group)
	var again []*appending
	for _, a := range group {
		if err != nil && a.soon && a.err == nil && l.Damage() == nil {
			again = append(again, a)
			continue
		}
		a.done = true
		if a.err == nil {
			a.err = err
		}
	}
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	if len(l.queue)+len(again) <= mostRetried {
		l.queue = append(again, l.queue...)
	}
	return len(again) == 0
}

// take removes the next group from the queue.
func (l *Log) take() []*appending {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	n := min(len(l.queue), mostTogether)
	group := l.queue[:n:n]
	l.queue = l.queue[n:]
	return group
}

// write writes the entries of a group. One that cannot be encoded has an error of its own,
// and the others are written. The lock is held.
func (l *Log) write(ctx context.Context, group []*appending) error {
	for {
		again, err := l.writeOnce(ctx, group)
		if !again || err != nil {
			return err
		}
	}
}

// writeOnce is write. It reports again, and has written nothing, where another process has
// written entries since this one looked, or was killed after it wrote some: the store first
// gets to know of those.
//
// The store holds what is about to be written before it is: entries that it does not
// know are those of a killed process, or the store is an older one (see [Log.expected]).
func (l *Log) writeOnce(ctx context.Context, group []*appending) (again bool, err error) {
	var lines []encoded
	err = l.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		f, err := l.open()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if _, err := l.sync(ctx, tx, f); err != nil {
			return err
		}
		if err := l.Damage(); err != nil {
			return err
		}
		known, err := tx.AuditHead(ctx)
		if err != nil {
			return err
		}
		again = known.N < l.n
		if again {
			return l.adopt(ctx, tx)
		}
		lines = encodeAll(group, l.n, l.head, time.UnixMilli(tx.Now))
		if len(lines) == 0 {
			return nil
		}
		first, last := lines[0].hash, lines[len(lines)-1].hash
		err = tx.SetAuditIntent(ctx, store.AuditIntent{Base: l.n, N: l.n + int64(len(lines)), First: first, Last: last}, l.intent)
		l.intent = first
		return err
	})
	if err != nil || again || len(lines) == 0 {
		return again, err
	}
	l.step("intended")
	err = l.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		f, err := l.open()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		known, err := tx.AuditHead(ctx)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return l.damage.set(&noren.Error{Where: noren.Phrase("audit log"), What: "cannot be examined", Err: reason(err)})
		}
		again = known.N != l.n || info.Size() != l.size
		if again {
			return nil
		}
		var all []byte
		for _, line := range lines {
			all = append(all, line.text...)
		}
		l.step("write")
		_, err = l.put(f, all, l.size)
		l.step("written")
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			l.resumeLater()
			return l.damage.set(&noren.Error{
				Where: noren.Phrase("audit log"), What: "cannot be written", Hint: "free space on its disk",
				Err: reason(err),
			})
		}
		l.step("synced")
		// The entries are there, whether or not the store gets to know of them: what lies
		// beyond the head in the store is adopted where it was intended.
		for _, line := range lines {
			l.took(line.hash, int64(len(line.text)))
		}
		return tx.SetAuditHead(ctx, store.AuditHead{N: l.n, Hash: l.head, Size: l.size})
	})
	return again, err
}

// open opens the file of the log for writing. The lock is held.
func (l *Log) open() (*os.File, error) {
	f, err := plainfile.OpenFile(filepath.Dir(l.path), filepath.Base(l.path), os.O_RDWR)
	if err != nil {
		return nil, l.damage.set(&noren.Error{Where: noren.Phrase("audit log"), What: "cannot be opened", Err: reason(err)})
	}
	return f, nil
}

// encoded is an entry as it is written.
type encoded struct {
	text []byte
	hash Hash
}

// encodeAll chains the entries of a group to the entry of number n.
func encodeAll(group []*appending, n int64, head Hash, now time.Time) []encoded {
	var lines []encoded
	for _, a := range group {
		a.entry.N, a.entry.At = n+1, now.UTC().Format(time.RFC3339)
		text, h, err := encode(&a.entry, head)
		if err == nil && len(text) > longest {
			err = errors.New("the entry is too long")
		}
		if err != nil {
			a.err = &noren.Error{Where: noren.Phrase("audit log"), What: "an entry cannot be written", Err: err}
			continue
		}
		lines = append(lines, encoded{text, h})
		n, head = n+1, h
	}
	return lines
}
