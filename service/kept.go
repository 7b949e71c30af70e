package service

import (
	"context"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// Kept is an open ledger with columns of its data sets in memory, for a process that
// answers many requests. Give it to [Service.Kept]. It may be shared by goroutines.
//
// The guarantee is that of package release: what is in memory was compared with the
// prints of the grant when it was loaded ([release.Tables]). The process owns the ledger
// while it is open, and no other process should change the files of the data sets: a change
// is noticed when a column is loaded, and answers are about the granted version.
type Kept struct {
	path   string
	ledger *ledger.Ledger
	tables *release.Tables
	fault  func(step string) error

	mu    sync.Mutex
	found map[string]*release.Dataset // by name
}

// KeepOptions are the options of [Keep].
type KeepOptions struct {
	// TableMemory is the most memory that columns take, in bytes. Defaults to 256 MiB.
	TableMemory int64
	// Anchor is the file, in another folder than the ledger, that says how far the ledger has
	// come ([Service.Anchor]). Optional.
	Anchor string
	// Relative keeps the paths of tables within the folder of the ledger relative to it.
	Relative bool
	// Beside is the last entry of a log that is kept beside the ledger, which notes it with
	// each of its entries. It must not wait. Optional.
	Beside func() LogEntry
	// Fault is called where a request that pays stands: reserved, read, noise, computed,
	// settled ([release.Request.Step]). It is for tests of faults and of slowness. Optional.
	Fault func(step string) error
}

// DefaultTableMemory is the memory for columns where none is stated.
const DefaultTableMemory = 256 << 20

// Keep opens the ledger at path. The caller closes the result.
func Keep(ctx context.Context, path string, o KeepOptions) (*Kept, error) {
	if o.TableMemory < 0 {
		return nil, noren.Usagef("table-memory", "expected at least 0 bytes, got less")
	}
	if o.TableMemory == 0 {
		o.TableMemory = DefaultTableMemory
	}
	l, err := ledger.Open(ctx, path, ledger.Options{Anchor: o.Anchor, Relative: o.Relative, Beside: o.Beside})
	if err != nil {
		return nil, err
	}
	if err := l.Sound(ctx); err != nil {
		return nil, joined(err, l.Close())
	}
	return &Kept{path: path, ledger: l, tables: release.NewTables(o.TableMemory), fault: o.Fault, found: map[string]*release.Dataset{}}, nil
}

// Close closes the ledger. No request may be in progress.
func (k *Kept) Close() error { return k.ledger.Close() }

// Reads is the number of times that a private file was read for requests.
func (k *Kept) Reads() int64 { return k.tables.Reads() }

// Load reads all columns of a data set into memory, as far as they fit, so that the first
// answer does not wait for it. It is the steward's: errors tell of the file.
func (k *Kept) Load(ctx context.Context, dataset string) error {
	k.forget(dataset)
	d, err := k.find(ctx, dataset)
	if err != nil {
		return err
	}
	return d.Load(ctx)
}

// Sealed is the reason why nothing is paid, nil where there is none.
func (k *Kept) Sealed() error { return k.ledger.Sealed() }

// find is the data set of that name or path. One that was found before is taken again; if
// it has another version by now, its price is refused with the code changed ([current]).
func (k *Kept) find(ctx context.Context, nameOrPath string) (*release.Dataset, error) {
	if err := k.ledger.Sealed(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	d := k.found[nameOrPath]
	k.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := release.Find(ctx, k.ledger, nameOrPath)
	if err != nil {
		return nil, err
	}
	d.Keep(k.tables)
	if d.Name == nameOrPath {
		k.mu.Lock()
		k.found[nameOrPath] = d
		k.mu.Unlock()
	}
	return d, nil
}

// forget makes the next request find the data set anew. It reports whether one was known.
func (k *Kept) forget(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, known := k.found[name]
	delete(k.found, name)
	return known
}

// current does a request, and once more where it failed because the data set that is kept
// has another version by now. Nothing is charged by a request that fails so.
func current[T any](k *Kept, dataset string, do func() (T, error)) (T, error) {
	out, err := do()
	if k != nil && noren.CodeOf(err) == release.CodeChanged && k.forget(dataset) {
		return do()
	}
	return out, err
}
