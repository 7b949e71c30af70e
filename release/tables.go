package release

import (
	"container/list"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/table"
)

// Tables keeps columns of private data sets in memory, and what was computed of them, so
// that a request reads and computes neither again. It may be shared by goroutines. Give a
// data set its columns with [Dataset.Keep].
//
// Guarantee: unchanged. What is kept belongs to one version of one data set, and is found by
// the identity of that version alone: ledger, name, version, definition, and the keyed
// prints of the table and of each column in its order. A column is kept only after the print
// of what was read was found equal to that of the grant, so that what a mechanism sees is the
// granted version whatever happens to the file afterwards, and row i of one column is row i
// of every other and of what was computed. When a later version is asked, what is kept of an
// earlier one ends. A file that changed on disk is noticed when a column is loaded from it.
// Who shares the memory of the process shares the columns: they are private.
//
// Which columns are in memory depends on the questions that were asked and on the size of
// the columns; a front end that must not show by its speed how large a table is answers at
// fixed times.
type Tables struct {
	limit int64
	reads atomic.Int64

	mu       sync.Mutex
	used     int64
	versions map[identity.ID]*version
	newest   map[string]*version // of each data set
	recent   *list.List          // of *kept, the most recently used first
}

// version is a version of a data set, as far as it is in memory. It holds all that is kept
// of it, and nothing else does.
type version struct {
	number int
	things map[thing]*kept
	ended  bool // a later version was asked: nothing more is kept
}

// thing names what is kept of a version.
type thing struct {
	column string // its values, as the definition types it
	labels bool   // or the texts of the unit, never typed
	memo   string // or what was computed, by the name that its maker gave it
}

// kept is a column in memory, or one that is being loaded, or what was computed.
type kept struct {
	of    *version
	key   thing
	ready chan struct{} // closed when loading has ended
	err   error
	rows  int
	data  *table.Column
	memo  any // where it is no column
	size  int64
	at    *list.Element // nil while it is loaded
}

// NewTables keeps at most limit bytes of columns. A column that is larger is read for each
// request. The columns that a request in progress uses are not counted against the limit
// after they were dropped for others.
func NewTables(limit int64) *Tables {
	return &Tables{limit: limit, versions: map[identity.ID]*version{}, newest: map[string]*version{}, recent: list.New()}
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
// no ledger, whose content was never compared with a grant, and for one in several files,
// which is read by tasks.
func (d *Dataset) Keep(k *Tables) {
	if d.ledger == nil || d.Definition.File.Sharded {
		return
	}
	id, err := d.version()
	if err != nil {
		return // every request reads the file
	}
	d.tables, d.id = k, id
}

// version is the identity of the version of d, in memory: the prints are keyed, and leave
// the process in certificates alone.
func (d *Dataset) version() (identity.ID, error) {
	return identity.Of("noren.release.version/1", struct {
		Ledger     string            `json:"ledger"`
		Dataset    string            `json:"dataset"`
		Version    int               `json:"version"`
		Definition string            `json:"definition_sha256"`
		Table      string            `json:"print"`
		Columns    map[string]string `json:"columns"`
	}{d.ledger.ID(), d.Name, d.Version, d.Hash(), d.book.Fingerprint, d.book.Prints})
}

// of is the place of d's version. The lock is held.
func (k *Tables) of(d *Dataset) *version {
	if v := k.versions[d.id]; v != nil {
		return v
	}
	v := &version{number: d.Version, things: map[thing]*kept{}}
	name := d.ledger.ID() + " " + d.Name
	switch last := k.newest[name]; {
	case last != nil && last.number > v.number:
		v.ended = true // a request that began before the later version: nothing is kept for it
		return v
	case last != nil:
		k.end(last)
	}
	k.versions[d.id], k.newest[name] = v, v
	return v
}

// end forgets all that is kept of a version. The lock is held.
func (k *Tables) end(v *version) {
	v.ended = true
	for key, c := range v.things {
		if c.at != nil {
			k.recent.Remove(c.at)
			k.used -= c.size
			delete(v.things, key)
		}
	}
	maps.DeleteFunc(k.versions, func(_ identity.ID, one *version) bool { return one == v })
}

// Load reads the columns of d into the tables that it keeps, as far as they fit. It is the
// steward's: nothing is charged, and errors tell of the file.
func (d *Dataset) Load(ctx context.Context) error {
	if d.tables == nil {
		return noren.Bug("the data set keeps no columns")
	}
	if err := d.unchanged(ctx); err != nil {
		return err
	}
	_, err := d.tables.read(ctx, d, d.Definition.Fields())
	return err
}

// need is a column that a request reads.
type need struct {
	key   thing
	field table.Field
}

// needs are the columns of a request, as the definition types them, the unit's labels last.
// A request that reads no column needs the first: its print verifies the file.
func (d *Dataset) needs(fields []table.Field) []need {
	if len(fields) == 0 {
		fields = d.Definition.Fields()[:1]
	}
	var out []need
	for _, f := range fields {
		if own, err := d.Definition.Field(f.Name); err == nil {
			f = own
		}
		out = append(out, need{thing{column: f.Name}, f})
	}
	if u := d.Definition.Unit; d.Definition.Column(u) != nil {
		out = append(out, need{thing{column: u, labels: true}, table.Field{Name: u}})
	}
	return out
}

// holds reports whether all columns are in memory.
func (k *Tables) holds(d *Dataset, fields []table.Field) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	v := k.versions[d.id]
	if v == nil {
		return false
	}
	for _, n := range d.needs(fields) {
		if c := v.things[n.key]; c == nil || c.at == nil {
			return false
		}
	}
	return true
}

// read is the table of the columns, from memory or from the file. Of several requests for
// a column that is not in memory one loads it and the others wait.
func (k *Tables) read(ctx context.Context, d *Dataset, fields []table.Field) (*table.Table, error) {
	k.mu.Lock()
	v := k.of(d)
	k.mu.Unlock()
	needs := d.needs(fields)
	have := make([]*kept, len(needs))
	for {
		mine, wait := k.claim(v, needs, have)
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
	t := &table.Table{Memo: &memo{k, v}}
	for i, c := range have {
		if i > 0 && c.rows != t.Rows {
			return nil, errChanged
		}
		t.Rows = c.rows
		switch {
		case needs[i].key.labels:
			t.Unit = c.data
		case len(fields) > 0:
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

// claim takes from memory what is there, and marks what no request loads as loaded by
// the caller (mine). Where another loads a column, wait is it. Both are empty when have is
// complete.
func (k *Tables) claim(v *version, needs []need, have []*kept) (mine []int, wait *kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, n := range needs {
		if have[i] != nil && have[i].data != nil {
			continue // it stays this request's even if it was dropped for others meanwhile
		}
		switch c := v.things[n.key]; {
		case c == nil:
			c = &kept{of: v, key: n.key, ready: make(chan struct{})}
			v.things[n.key], have[i] = c, c
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
func (k *Tables) load(ctx context.Context, d *Dataset, needs []need, have []*kept, mine []int) {
	err := errAbandoned // where reading panics
	defer func() { k.done(have, mine, err) }()
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
func (k *Tables) done(have []*kept, mine []int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, i := range mine {
		c := have[i]
		c.err = err
		if err != nil || c.size > k.limit || c.of.ended {
			delete(c.of.things, c.key)
		} else {
			c.at = k.recent.PushFront(c)
			k.used += c.size
		}
		close(c.ready)
	}
	k.drop()
}

// drop forgets what was used the longest ago until the limit is met.
func (k *Tables) drop() {
	for k.used > k.limit {
		c := k.recent.Remove(k.recent.Back()).(*kept)
		k.used -= c.size
		delete(c.of.things, c.key)
	}
}

// memo keeps what was computed from a version beside its columns, under the same limit. It
// is that version's, and ends with it.
type memo struct {
	tables *Tables
	of     *version
}

// Get implements [table.Memo].
func (m *memo) Get(name string) (any, bool) {
	k := m.tables
	k.mu.Lock()
	defer k.mu.Unlock()
	c := m.of.things[thing{memo: name}]
	if c == nil {
		return nil, false
	}
	k.recent.MoveToFront(c.at)
	return c.memo, true
}

// Put implements [table.Memo].
func (m *memo) Put(name string, value any, size int64) {
	k, key := m.tables, thing{memo: name}
	size += int64(len(name)) + 256
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.of.ended || m.of.things[key] != nil || size > k.limit {
		return
	}
	c := &kept{of: m.of, key: key, memo: value, size: size}
	c.at = k.recent.PushFront(c)
	m.of.things[key] = c
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
	f, err := d.open()
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
