package release

import (
	"container/list"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/table"
)

// Tables keeps columns of private data sets in memory, so that a request does not read
// the file again. It may be shared by goroutines. Give a data set its columns with
// [Dataset.Keep].
//
// Guarantee: unchanged. A column is kept only after the print of what was read was found
// equal to the print of the grant, and it is found again by that print, its name and the
// definition: what a mechanism sees is the granted version whatever happens to the file
// afterwards. A file that changed on disk is noticed when a column is loaded from it. Who
// shares the memory of the process shares the columns: they are private.
//
// Which columns are in memory depends on the questions that were asked and on the size of
// the columns; a front end that must not show by its speed how large a table is answers at
// fixed times.
type Tables struct {
	limit int64
	reads atomic.Int64

	mu      sync.Mutex
	used    int64
	columns map[columnKey]*keptColumn
	recent  *list.List // of columnKey, the most recently used first
}

// columnKey identifies the content of a column and how it was read.
type columnKey struct {
	definition [32]byte
	print      string // keyed, of the column's name and cells
	column     string
	labels     bool // the texts of the unit, never typed
}

// keptColumn is a column in memory, or one that is being loaded.
type keptColumn struct {
	ready chan struct{} // closed when loading has ended
	err   error
	rows  int
	data  *table.Column
	memo  any // what was computed from columns, where it is no column
	size  int64
	at    *list.Element // nil while it is loaded
}

// NewTables keeps at most limit bytes of columns. A column that is larger is read for each
// request. The columns that a request in progress uses are not counted against the limit
// after they were dropped for others.
func NewTables(limit int64) *Tables {
	return &Tables{limit: limit, columns: map[columnKey]*keptColumn{}, recent: list.New()}
}

// Reads is the number of times that a private file was read.
func (k *Tables) Reads() int64 { return k.reads.Load() }

// Used is the size of the kept columns in bytes.
func (k *Tables) Used() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.used
}

// Keep makes requests to d take their columns from k. It does nothing for a data set of
// no ledger, whose content was never compared with a grant.
func (d *Dataset) Keep(k *Tables) {
	if d.ledger != nil {
		d.tables = k
	}
}

// Load reads the columns of d into the tables that it keeps, as far as they fit. It is the
// steward's: nothing is charged, and errors tell of the file.
func (d *Dataset) Load(ctx context.Context) error {
	if d.tables == nil {
		return errors.New("the data set keeps no columns")
	}
	if err := d.unchanged(ctx); err != nil {
		return err
	}
	_, err := d.tables.read(ctx, d, d.Definition.Fields())
	return err
}

// need is a column that a request reads.
type need struct {
	key   columnKey
	field table.Field
}

// needs are the columns of a request, the unit's labels last.
func (d *Dataset) needs(fields []table.Field) []need {
	var out []need
	for _, f := range fields {
		out = append(out, need{columnKey{d.hash, d.book.Prints[f.Name], f.Name, false}, f})
	}
	if u := d.Definition.Unit; d.Definition.Column(u) != nil {
		out = append(out, need{columnKey{d.hash, d.book.Prints[u], u, true}, table.Field{Name: u}})
	}
	return out
}

// holds reports whether all columns are in memory.
func (k *Tables) holds(d *Dataset, fields []table.Field) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range d.needs(fields) {
		if c := k.columns[n.key]; c == nil || c.at == nil {
			return false
		}
	}
	return true
}

// read is the table of the columns, from memory or from the file. Of several requests for
// a column that is not in memory one loads it and the others wait.
func (k *Tables) read(ctx context.Context, d *Dataset, fields []table.Field) (*table.Table, error) {
	needs := d.needs(fields)
	have := make([]*keptColumn, len(needs))
	for {
		mine, wait := k.claim(needs, have)
		if len(mine) > 0 {
			k.load(ctx, d, needs, have, mine)
			for _, i := range mine {
				if err := have[i].err; err != nil {
					return nil, err
				}
			}
			continue
		}
		if wait == nil {
			break
		}
		select {
		case <-wait.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if wait.err != nil && !interrupted(wait.err) {
			return nil, wait.err
		}
	}
	t := &table.Table{Memo: &memo{k, d}}
	for i, c := range have {
		if i > 0 && c.rows != t.Rows {
			return nil, errChanged
		}
		t.Rows = c.rows
		if needs[i].key.labels {
			t.Unit = c.data
		} else {
			t.Columns = append(t.Columns, c.data)
		}
	}
	return t, nil
}

// interrupted says that a load ended with the request that made it; another may go on.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errAbandoned)
}

var errAbandoned = errors.New("the request that loaded the column ended")

// claim takes from memory what is there, and marks what nobody loads as loaded by the
// caller (mine). Where another loads a column, wait is it. Both are empty when have is
// complete.
func (k *Tables) claim(needs []need, have []*keptColumn) (mine []int, wait *keptColumn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, n := range needs {
		if have[i] != nil && have[i].data != nil {
			continue // it stays this request's even if it was dropped for others meanwhile
		}
		switch c := k.columns[n.key]; {
		case c == nil:
			c = &keptColumn{ready: make(chan struct{})}
			k.columns[n.key], have[i] = c, c
			mine = append(mine, i)
		case c.at != nil:
			k.recent.MoveToFront(c.at)
			have[i] = c
		case wait == nil:
			wait = c
		}
	}
	return mine, wait
}

// load reads the columns that were claimed, in one pass, and compares their prints with
// those of the grant.
func (k *Tables) load(ctx context.Context, d *Dataset, needs []need, have []*keptColumn, mine []int) {
	err := errAbandoned // where reading panics
	defer func() { k.done(needs, have, mine, err) }()
	var fields []table.Field
	for _, i := range mine {
		if !needs[i].key.labels {
			fields = append(fields, needs[i].field)
		}
	}
	k.reads.Add(1)
	t, e := d.readPinned(ctx, fields)
	if e != nil {
		err = e
		if cause := context.Cause(ctx); cause != nil {
			err = errors.Join(errAbandoned, cause)
		}
		return
	}
	err = nil
	next := 0
	for _, i := range mine {
		c := have[i]
		c.rows = t.Rows
		if needs[i].key.labels {
			c.data = t.Unit
		} else {
			c.data, next = t.Columns[next], next+1
		}
		c.size = sizeOf(c.data)
	}
}

// done ends the loading of columns: they are kept, or forgotten after an error.
func (k *Tables) done(needs []need, have []*keptColumn, mine []int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, i := range mine {
		c := have[i]
		c.err = err
		if err != nil || c.size > k.limit {
			delete(k.columns, needs[i].key)
		} else {
			c.at = k.recent.PushFront(needs[i].key)
			k.used += c.size
		}
		close(c.ready)
	}
	k.drop()
}

// drop forgets what was used the longest ago until the limit is met.
func (k *Tables) drop() {
	for k.used > k.limit {
		key := k.recent.Remove(k.recent.Back()).(columnKey)
		k.used -= k.columns[key].size
		delete(k.columns, key)
	}
}

// memo keeps what was computed from a data set beside its columns, under the same limit.
type memo struct {
	tables  *Tables
	dataset *Dataset
}

func (m *memo) key(name string) columnKey {
	return columnKey{definition: m.dataset.hash, print: m.dataset.book.Fingerprint, column: "memo " + name, labels: true}
}

// Get implements [table.Memo].
func (m *memo) Get(name string) (any, bool) {
	k := m.tables
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.columns[m.key(name)]
	if c == nil {
		return nil, false
	}
	k.recent.MoveToFront(c.at)
	return c.memo, true
}

// Put implements [table.Memo].
func (m *memo) Put(name string, value any, size int64) {
	k, key := m.tables, m.key(name)
	size += int64(len(name)) + 256
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.columns[key] != nil || size > k.limit {
		return
	}
	k.columns[key] = &keptColumn{memo: value, size: size, at: k.recent.PushFront(key)}
	k.used += size
	k.drop()
}

// sizeOf is the memory of a column in bytes, nearly.
func sizeOf(c *table.Column) int64 {
	size := int64(len(c.Ints))*8 + int64(len(c.Floats))*8 + int64(len(c.Codes))*4 + int64(len(c.Dict))*16 + int64(c.Len())/8 + 256
	for _, text := range c.Dict {
		size += int64(len(text))
	}
	return size
}

// readPinned reads columns and the unit's labels from the file, and fails unless they are
// those of the version that was granted.
func (d *Dataset) readPinned(ctx context.Context, fields []table.Field) (*table.Table, error) {
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, err
	}
	src, err := dataset.Open(ctx, f, filepath.Base(d.Path), d.Definition)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	keys := dataset.KeysOf(d.ledger.Key)
	n := len(fields)
	if n == 0 {
		// A count of all records reads a column too: its print verifies the file.
		fields = d.Definition.Fields()[:1]
	}
	t, prints, err := dataset.Read(ctx, src, d.Definition, fields, &keys)
	if err != nil {
		return nil, err
	}
	t.Columns = slices.Clip(t.Columns[:n])
	for name, print := range prints {
		if d.book.Prints[name] != print {
			return nil, errChanged
		}
	}
	return t, nil
}
