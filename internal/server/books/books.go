package books

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/service"
)

// Config holds what books need.
type Config struct {
	// Dir is the folder of the books' files. Required.
	Dir string
	// Store keeps what the ledger does not know. Required.
	Store *store.Store
	// Tables are the tables that books are opened for. Required.
	Tables *tables.Tables
	// Jobs run what takes long. Required.
	Jobs *jobs.Manager
	// Host is the server around the books. Required.
	Host Host
	// Public are the files of public tables, by name.
	Public map[string]string
}

// Host is the server around the books. Its methods are called by goroutines of requests and of jobs, at the same time.
type Host interface {
	// Service makes the operations of the ledger.
	Service() *service.Service
	// Name is the name of a principal.
	Name(ctx context.Context, id string) string
	// Sealed says why nothing is paid; "" where it is.
	Sealed() noren.Phrase
	// Note writes an act to the audit log. Jobs call it, and what looks for alerts.
	Note(ctx context.Context, by, action, object string, detail map[string]string) error
	// Hidden reports whether the reply of the charge with a request key has not left yet:
	// the charge is shown as reserved.
	Hidden(key string) bool
	// AskingEnded reports whether the paid questions of a principal in a book have ended.
	AskingEnded(book, principal string) bool
	// Load reads the columns of a data set into memory, so that the first answer does not
	// wait for that. Jobs call it, and the start of the server.
	Load(ctx context.Context, dataset string) error
}

// Books keeps books. Make one with [New].
type Books struct {
	config Config

	mu      sync.RWMutex
	byID    map[string]*document
	checks  map[string]*LedgerCheck          // the latest check of a book, by id
	caps    map[string]map[string]api.Amount // caps as they were last read, by data set and principal
	alerted map[alertKey]bool                // alerts that are stored
	looked  map[string]looked                // the last look at the file of a book, by id

	refused refusals
}

// The states of a book.
const (
	opening = "opening"
	open    = "open"
	// unreadable is a book whose document cannot be read: lists mark it, and its files stay.
	unreadable = "unreadable"
)

// document is a book as it is stored. It is never changed in place: a change stores a new
// one.
type document struct {
	State     string    `json:"state"`
	Table     string    `json:"table"`
	TableName string    `json:"table_name"`
	Name      string    `json:"name"`
	Opened    time.Time `json:"opened"`
	By        string    `json:"by"`
	Share     bool      `json:"share_answers"`
	MaxRows   int64     `json:"max_rows,omitempty"`
	Records   int64     `json:"records,omitempty"`
	// Cap is what the opener's account gets too.
	Cap api.Amount `json:"cap"`
	// Source is the SHA-256 of the table's file that the current version was made of, and
	// Columns that of what was confirmed of its columns.
	Source  string `json:"source"`
	Columns string `json:"columns"`
	// Gone says that the table is deleted: nothing can be asked.
	Gone bool `json:"gone,omitempty"`
	// Folder is the folder of the current version's file, in that of the book.
	Folder string `json:"folder"`

	id  string
	row *store.Resource
}

// New opens the books of a store, and ends or undoes the openings that a killed process
// left.
func New(ctx context.Context, config Config) (*Books, error) {
	if config.Dir == "" || config.Store == nil || config.Tables == nil || config.Jobs == nil || config.Host == nil {
		return nil, noren.Bug("books: expected all fields of Config but Public")
	}
	b := &Books{
		config: config, byID: map[string]*document{}, checks: map[string]*LedgerCheck{}, alerted: map[alertKey]bool{},
		caps: map[string]map[string]api.Amount{}, looked: map[string]looked{},
	}
	rows, err := config.Store.Resources(ctx, store.KindBook, "", 0, 1<<20)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		d, err := decode(&rows[i])
		if err != nil {
			b.byID[rows[i].ID] = &document{State: unreadable, Table: rows[i].Parent, id: rows[i].ID, row: &rows[i]}
			continue
		}
		if d.State == opening {
			if d, err = b.recover(ctx, d); err != nil {
				return nil, err
			}
		}
		if d != nil {
			b.byID[d.id] = d
		}
	}
	if config.Host.Sealed() != "" {
		return b, nil // nothing is removed: the store may be an older one
	}
	if err := b.mendPaths(ctx); err != nil {
		return nil, err
	}
	for _, d := range b.list() {
		if _, err := config.Tables.Get(ctx, d.Table); isNotFound(err) && !d.Gone {
			if err := b.TableDeleted(ctx, d.Table); err != nil {
				return nil, err
			}
		}
	}
	if err := b.clean(); err != nil {
		return nil, err
	}
	return b, nil
}

// DataSets are the data sets of the books of a store, by the id of the book.
func DataSets(ctx context.Context, s *store.Store) (map[string]string, error) {
	rows, err := s.Resources(ctx, store.KindBook, "", 0, 1<<20)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i := range rows {
		if d, err := decode(&rows[i]); err == nil {
			out[d.id] = d.Name
		}
	}
	return out, nil
}

// recover ends the opening of a book that the ledger knows, and undoes another.
func (b *Books) recover(ctx context.Context, d *document) (*document, error) {
	if b.config.Host.Sealed() != "" { // the ledger, or the store, may be an older one
		return d, nil
	}
	_, err := b.dataset(ctx, d.Name)
	switch {
	case noren.CodeOf(err) == "no-dataset":
		return nil, b.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.DropResource(ctx, store.KindBook, d.id) })
	case err != nil:
		return nil, err
	}
	return b.finish(ctx, d)
}

// mendPaths makes the ledger read each book's file in the folder of this server, by a path
// relative to it. An older ledger has absolute paths, which lead to where its folder was
// when they were written: to another place, or to the folder of which this one is a copy.
func (b *Books) mendPaths(ctx context.Context) error {
	dir, err := filepath.EvalSymlinks(b.config.Dir)
	if err != nil {
		return tables.FileError(err)
	}
	for _, d := range b.list() {
		if d.Gone {
			continue
		}
		set, err := b.dataset(ctx, d.Name)
		if noren.CodeOf(err) == "no-dataset" {
			continue // health says so
		}
		if err != nil {
			return err
		}
		// The folder of a version that was granted and not noted is another than d has.
		folder := d.Folder
		if at := filepath.Dir(set.File); filepath.Base(filepath.Dir(at)) == d.id {
			folder = filepath.Base(at)
		}
		own := filepath.Join(dir, d.id, folder, filepath.Base(set.File))
		if err := b.config.Host.Service().LedgerMove(ctx, &api.LedgerMoveRequest{Dataset: d.Name, Path: own}); err != nil {
			return err
		}
	}
	return nil
}

// clean removes folders of files that no book names.
func (b *Books) clean() error {
	entries, err := os.ReadDir(b.config.Dir)
	if err != nil {
		return tables.FileError(err)
	}
	for _, entry := range entries {
		path := filepath.Join(b.config.Dir, entry.Name())
		d := b.byID[entry.Name()]
		if d != nil && d.State == unreadable {
			continue
		}
		if d == nil || d.Gone {
			if err := os.RemoveAll(path); err != nil {
				return tables.FileError(err)
			}
			continue
		}
		inside, err := os.ReadDir(path)
		if err != nil {
			return tables.FileError(err)
		}
		for _, x := range inside {
			if x.Name() != d.Folder {
				if err := os.RemoveAll(filepath.Join(path, x.Name())); err != nil {
					return tables.FileError(err)
				}
			}
		}
	}
	return nil
}

func decode(row *store.Resource) (*document, error) {
	d := &document{id: row.ID, row: row}
	if err := json.Unmarshal(row.Doc, d); err != nil {
		return nil, errors.New("books: the store holds a book that cannot be read")
	}
	return d, nil
}

// save stores a document in place of the one that was read.
func (b *Books) save(ctx context.Context, d *document) error {
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	row := *d.row
	row.Doc = doc
	if err := b.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ChangeResource(ctx, &row) }); err != nil {
		return err
	}
	d.row = &row
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID[d.id] = d
	return nil
}

// find is an open book.
func (b *Books) find(id string) (*document, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	d := b.byID[id]
	if d == nil || d.State != open {
		return nil, problem.NotFound()
	}
	return d, nil
}

// TableOf is the table that decides who may see a book; [store.ErrNotFound] for an id of
// none.
func (b *Books) TableOf(_ context.Context, id string) (string, error) {
	d, err := b.find(id)
	if err != nil {
		return "", store.ErrNotFound
	}
	return d.Table, nil
}

// Of is the id of the open book of a table.
func (b *Books) Of(table string) (id string, ok bool) {
	for _, d := range b.list() {
		if d.Table == table {
			return d.id, true
		}
	}
	return "", false
}

// Held is a book as questions need it.
type Held struct {
	// ID is that of the book, Table that of its table, Dataset its name in the ledger.
	ID, Table, Dataset, TableName string
	// Share says that analysts of the table may read the answers of others.
	Share bool
	// MaxRows is the number of records of one person that count where a question states
	// none.
	MaxRows int64
	// Records is about how many records count, as the steward stated it; 0 for unstated.
	Records int64
	// Gone says that the table is deleted: nothing can be asked.
	Gone bool
}

// Hold is an open book.
func (b *Books) Hold(id string) (*Held, error) {
	d, err := b.find(id)
	if err != nil {
		return nil, err
	}
	return &Held{d.id, d.Table, d.Name, d.TableName, d.Share, d.MaxRows, d.Records, d.Gone}, nil
}

// list is all open books.
func (b *Books) list() []*document { return b.listed(open) }

// listed is all books in one of the states.
func (b *Books) listed(states ...string) []*document {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make([]*document, 0, len(b.byID))
	for _, d := range b.byID {
		if slices.Contains(states, d.State) {
			all = append(all, d)
		}
	}
	return all
}

// exists reports whether a table has a book that is open or being opened, and named
// whether one has a name.
func (b *Books) exists(table, name string) (has, named bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, d := range b.byID {
		has = has || d.Table == table
		named = named || d.Name == name
	}
	return has, named
}

func (b *Books) folder(id string) string { return filepath.Join(b.config.Dir, id) }

// longestName is the length of the longest name of a book.
const longestName = 64

// TableDeleted ends the questions to the book of a deleted table, and removes its copy of
// the file. Its entries, answers and certificates stay.
func (b *Books) TableDeleted(ctx context.Context, table string) error {
	id, ok := b.Of(table)
	if !ok {
		return nil
	}
	d, err := b.find(id)
	if err != nil {
		return err
	}
	next := *d
	next.Gone = true
	if err := b.save(ctx, &next); err != nil {
		return err
	}
	return removed(os.RemoveAll(b.folder(id)))
}

func removed(err error) error {
	if err != nil {
		return tables.FileError(err)
	}
	return nil
}

// LoadAll reads the columns of all open books into memory, until ctx ends. A book whose
// file cannot be read says so when it is asked.
func (b *Books) LoadAll(ctx context.Context) {
	for _, d := range b.list() {
		if ctx.Err() != nil {
			return
		}
		if !d.Gone {
			_ = b.config.Host.Load(ctx, d.Name)
		}
	}
}

// validName reports whether a book can have a name.
func validName(name string) bool {
	return name != "" && len(name) <= longestName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// proposeName makes a name of that of a table which no book has.
func (b *Books) proposeName(table string) string {
	var s strings.Builder
	for _, r := range strings.ToLower(strings.TrimSuffix(table, filepath.Ext(table))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			s.WriteRune(r)
		case s.Len() > 0 && !strings.HasSuffix(s.String(), "-"):
			s.WriteByte('-')
		}
		if s.Len() >= longestName-5 {
			break
		}
	}
	base := strings.Trim(s.String(), "-")
	if base == "" {
		base = "table"
	}
	name := base
	for i := 2; ; i++ {
		if _, taken := b.exists("", name); !taken {
			return name
		}
		name = base + "-" + strconv.Itoa(i)
	}
}

// Close stores refusals that are not stored yet.
func (b *Books) Close() {
	b.refused.close()
	b.storeRefusals()
}
