package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/store"
)

const (
	// longest is the longest line of a log.
	longest = 1 << 16
	// stride is how many entries lie between two places that are remembered.
	stride = 256
)

// Log is an open audit log. Its methods may be called by several goroutines, and
// several processes may append to one log: they take turns by the store.
type Log struct {
	path  string
	store *store.Store

	mu     sync.Mutex
	n      int64   // entries that were checked
	head   Hash    // the hash of the last one
	size   int64   // the size up to its end
	places []int64 // where entries 1, 1+stride, ... begin
	damage damage
	step   func(string) // called at each step; tests stop there
	trusts bool         // the log may be ahead of the store by any number of entries, or lack some
	lost   int64        // the last entry that the store knew and the log lacks
	retry  *time.Timer  // of [Log.Flush], while entries wait for it
	closed bool
	intent Hash // of the first entry that this process was about to write last

	last atomic.Pointer[lastEntry] // n and head, to be read without the lock

	unwritten bool         // the damage is a failed write alone: see [Log.resume]
	ready     func() error // says why writing is not tried again yet; nil without it
	put       putFunc      // writes; tests make it fail

	queueMu sync.Mutex
	queue   []*appending // entries that wait to be written
	soon    bool         // a goroutine writes them shortly
}

// Open opens the log at path, makes it with mode 0600 where there is none and the store
// knows of none, and checks it from its first entry. A last line that a crash left
// incomplete is cut, and the cut is noted in the log. Any other damage does not keep the
// log from opening: see [Log.Damage].
func Open(ctx context.Context, path string, s *store.Store) (*Log, error) {
	return open(ctx, &Log{path: path, store: s, step: func(string) {}, put: (*os.File).WriteAt})
}

// Accept is [Open] for a log that is ahead of the store by any number of entries, or lacks
// entries that the store knows: one of the two is an older one, and no newer one exists. The
// store goes on from the end of the log. [Log.Lost] says what is missing.
func Accept(ctx context.Context, path string, s *store.Store) (*Log, error) {
	return open(ctx, &Log{path: path, store: s, step: func(string) {}, put: (*os.File).WriteAt, trusts: true})
}

func open(ctx context.Context, l *Log) (*Log, error) {
	cut, err := l.catchUp(ctx)
	if err != nil {
		return nil, err
	}
	l.trusts = false
	if cut > 0 && l.Damage() == nil {
		err = l.Append(ctx, Entry{Actor: "server", Action: "audit.cut", Outcome: "ok", Detail: map[string]string{"bytes": fmt.Sprint(cut)}})
	}
	return l, err
}

// Damage is what is wrong with the log; nil where it is sound. A damaged log takes no
// further entries. A log that could not be written, and is damaged by nothing else, goes on
// by itself once it can.
func (l *Log) Damage() error { return l.damage.err() }

// damage is what is wrong with a log. It can be read while the log is written.
type damage struct{ atomic.Pointer[error] }

func (d *damage) err() error {
	if found := d.Load(); found != nil {
		return *found
	}
	return nil
}

func (d *damage) set(err error) error {
	d.Store(&err)
	return err
}

// Head is the number and the hash of the last entry.
func (l *Log) Head() (n int64, hash Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, l.head
}

// lastEntry is the last entry of a log.
type lastEntry struct {
	n    int64
	hash Hash
}

// Last is [Log.Head] as far as this process has read or written the log. It does not wait.
func (l *Log) Last() (n int64, hash Hash) {
	if last := l.last.Load(); last != nil {
		return last.n, last.hash
	}
	return 0, Hash{}
}

// Has reports whether the log has an entry of this number and hash.
func (l *Log) Has(ctx context.Context, n int64, hash Hash) (bool, error) {
	if n == 0 {
		return true, nil
	}
	items, _, err := l.Page(ctx, &Filter{}, n+1, 1)
	return len(items) == 1 && items[0].N == n && items[0].Hash == hex.EncodeToString(hash[:]), err
}

// catchUp checks what was appended since this process last looked.
func (l *Log) catchUp(ctx context.Context) (cut int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		f, err := plainfile.OpenOrMake(l.path)
		if err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be opened", Err: reason(err)}
		}
		defer func() { _ = f.Close() }()
		if cut, err = l.sync(ctx, tx, f); err != nil || l.Damage() != nil {
			return err
		}
		if l.trusts {
			if err := l.accept(ctx, tx); err != nil {
				return err
			}
		}
		if err := l.adopt(ctx, tx); err != nil {
			return err
		}
		// From now on the store keeps intents: none is known here that an entry could have.
		_, known, err := tx.AuditIntent(ctx, l.n, l.head)
		if known || ignoreNotFound(err) != nil {
			return ignoreNotFound(err)
		}
		return tx.SetAuditIntent(ctx, store.AuditIntent{Base: l.n, N: l.n + 1, First: l.head, Last: l.head}, l.head)
	})
	return cut, err
}

// accept makes the store go on from the end of the log, also where it knows other entries.
func (l *Log) accept(ctx context.Context, tx *store.Tx) error {
	known, err := tx.AuditHead(ctx)
	if err != nil || known.N < l.n || known.N == l.n && known.Hash == l.head && known.Size == l.size {
		return err
	}
	l.lost = known.N
	return tx.SetAuditHead(ctx, store.AuditHead{N: l.n, Hash: l.head, Size: l.size})
}

// Lost is the last entry that the store knew and [Accept] did not find; 0 where there is none.
func (l *Log) Lost() int64 { return l.lost }

// adopt stores the head where the log was ahead of the store, so that it is never ahead by
// more than what one process was killed with.
func (l *Log) adopt(ctx context.Context, tx *store.Tx) error {
	known, err := tx.AuditHead(ctx)
	if err != nil || known.N >= l.n {
		return err
	}
	return tx.SetAuditHead(ctx, store.AuditHead{N: l.n, Hash: l.head, Size: l.size})
}

// ErrStoreOlder is the cause of the damage of a log that is ahead of the store by more than
// a kill can leave.
var ErrStoreOlder = errors.New("server.db is older than the audit log, or missing")

// sync checks the part of the file that this process has not seen, against the chain and
// the head in the store. Damage is kept and is no error. Both locks are held.
func (l *Log) sync(ctx context.Context, tx *store.Tx, f *os.File) (cut int64, err error) {
	if l.Damage() != nil {
		return 0, nil
	}
	known, err := tx.AuditHead(ctx)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be examined", Err: reason(err)}
	}
	if info.Size() < known.Size && !l.trusts || info.Size() < l.size {
		_ = l.damage.set(damaged("expected at least %d bytes, got %d: entries at its end are missing", max(known.Size, l.size), info.Size()))
		return 0, nil
	}
	if _, err := f.Seek(l.size, io.SeekStart); err != nil {
		return 0, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be read", Err: reason(err)}
	}
	in := bufio.NewReaderSize(f, longest)
	var ahead expected
	for {
		if l.n&0xfff == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if other := l.n == known.N && l.n > 0 && (l.head != known.Hash || l.size != known.Size); other && l.trusts {
			l.lost = known.N
		} else if other {
			_ = l.damage.set(damaged("entry %d is not the one that the store knows", l.n))
			return 0, nil
		}
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			if l.n < known.N && !l.trusts {
				_ = l.damage.set(damaged("expected at least %d entries, got %d", known.N, l.n))
			}
			return 0, nil
		case errors.Is(err, io.EOF) && (l.n >= known.N || l.trusts):
			cut = int64(len(text))
			if err := f.Truncate(l.size); err != nil {
				return 0, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be written", Err: reason(err)}
			}
			return cut, f.Sync()
		case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
			_ = l.damage.set(damaged("entry %d is incomplete", l.n+1))
			return 0, nil
		case err != nil:
			return 0, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be read", Err: reason(err)}
		}
		e, h, err := decode(text[:len(text)-1], l.n+1, l.head)
		if err != nil {
			_ = l.damage.set(err)
			return 0, nil
		}
		if l.n >= known.N && !l.trusts {
			ok, err := ahead.has(ctx, tx, known.N, l.n, e, h)
			if err != nil {
				return 0, err
			}
			if !ok {
				_ = l.damage.set(&noren.Error{
					Kind: noren.NotMet, Where: noren.Phrase("audit log"),
					What: "the store knows %d {entry|entries}, and the log has more than a kill can leave", Args: []any{known.N}, Err: ErrStoreOlder,
					Hint: "put the newest copy of server.db back",
				})
				return 0, nil
			}
		}
		l.took(h, int64(len(text)))
	}
}

// expected is what a killed process may have left behind the last entry that the store knows.
type expected struct {
	intent store.AuditIntent
	kept   bool   // the store keeps intents
	at     string // the time of the entries, where it does not
}

// has reports whether a killed process may have written an entry, the one of number n+1. A
// store of before intents were kept knows of a write before the next one begins, and the
// entries of one write have one time. A store that knows no entry at all is a new one.
func (x *expected) has(ctx context.Context, tx *store.Tx, known, n int64, e *Entry, h Hash) (bool, error) {
	if n == known {
		var err error
		if x.intent, x.kept, err = tx.AuditIntent(ctx, known, h); err != nil {
			return false, ignoreNotFound(err)
		}
		x.at = e.At
	}
	if !x.kept {
		return known > 0 && e.At == x.at && n-known < mostTogether, nil
	}
	return n < x.intent.N && (n+1 < x.intent.N || h == x.intent.Last), nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// took moves the state on by one entry.
func (l *Log) took(h Hash, bytes int64) {
	if l.n%stride == 0 {
		l.places = append(l.places, l.size)
	}
	l.n, l.head, l.size = l.n+1, h, l.size+bytes
	l.last.Store(&lastEntry{l.n, h})
}

func damaged(format noren.Format, args ...any) error {
	return &noren.Error{
		Kind: noren.NotMet, Where: noren.Phrase("audit log"), What: format, Args: args,
		Hint: "keep the file as evidence; a signed export shows what it held",
	}
}

// Filter selects entries. An empty field selects all.
type Filter struct {
	Actor, Action, Object, Outcome string
	// From and To are times, RFC 3339 in UTC: entries from From on and before To.
	From, To string
}

// matches reports whether the filter selects an entry.
func (f *Filter) matches(e *Entry) bool {
	return (f.Actor == "" || f.Actor == e.Actor) && (f.Action == "" || f.Action == e.Action) &&
		(f.Object == "" || f.Object == e.Object) && (f.Outcome == "" || f.Outcome == e.Outcome) &&
		(f.From == "" || e.At >= f.From) && (f.To == "" || e.At < f.To)
}

// Item is an entry with its hash.
type Item struct {
	Entry
	Hash string `json:"hash" doc:"The hash of the entry and of all before it, in hexadecimal."`
}

// Unreadable is the action of an entry that cannot be read, in a page.
const Unreadable = "unreadable"

// Page returns up to limit entries that the filter selects, the newest first, among
// those with a number below before; 0 for all. more says that there are older entries.
func (l *Log) Page(ctx context.Context, f *Filter, before int64, limit int) (items []Item, more bool, err error) {
	l.Flush(ctx)
	if _, err := l.catchUp(ctx); err != nil {
		return nil, false, err
	}
	l.mu.Lock()
	last, places, size := l.n, l.places, l.size
	l.mu.Unlock()
	if before > 0 {
		last = min(last, before-1)
	}
	file, err := plainfile.OpenPath(l.path)
	if err != nil {
		return nil, false, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be opened", Err: reason(err)}
	}
	defer func() { _ = file.Close() }()
	for block := (last - 1) / stride; last > 0 && block >= 0; block-- {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		end := size
		if int(block)+1 < len(places) {
			end = places[block+1]
		}
		text := make([]byte, end-places[block])
		if _, err := file.ReadAt(text, places[block]); err != nil {
			return nil, false, &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be read", Err: reason(err)}
		}
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		for i := len(lines) - 1; i >= 0; i-- {
			n := block*stride + int64(i) + 1
			if n > last {
				continue
			}
			item, err := parse(lines[i])
			if err != nil || item.N != n {
				// It does not keep the others from the list: the check of the log says what is wrong.
				item = &Item{Entry: Entry{N: n, Action: Unreadable}}
			} else if !f.matches(&item.Entry) {
				continue
			}
			if len(items) == limit {
				return items, true, nil
			}
			items = append(items, *item)
		}
	}
	return items, false, nil
}

// reason drops the path from an error of the system.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Check checks the whole log again, from its first entry to the head that the store
// knows. It returns how many entries are sound, the hash of the last of them, and what is
// wrong after it.
func (l *Log) Check(ctx context.Context) (n int64, head Hash, err error) {
	l.Flush(ctx)
	again := &Log{path: l.path, store: l.store, step: func(string) {}, put: (*os.File).WriteAt}
	if _, err := again.catchUp(ctx); err != nil {
		return again.n, again.head, err
	}
	return again.n, again.head, again.Damage()
}
