package release

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// Dataset is a private table with the definition by which it is read. Make one
// with [Find] or [Unaccounted].
type Dataset struct {
	// Name and Version are those of the ledger; empty and 0 when unaccounted.
	Name    string
	Version int
	// Path is where the file lies.
	Path string
	// Definition is public: columns, types, relation of neighbours, unit.
	Definition *dataset.Definition

	hash      [32]byte              // of the definition
	model     *correlated.ModelFile // nil where the definition has none
	modelHash string
	ledger    *ledger.Ledger // nil when unaccounted
	book      *ledger.Book
	tables    *Tables     // that keep its columns; nil where every request reads the file
	id        identity.ID // of the version that they keep
}

// newDataset reads the model of the definition, where it has one.
func newDataset(path string, d *dataset.Definition) (*Dataset, error) {
	out := &Dataset{Path: path, Definition: d}
	var err error
	if out.hash, err = d.Hash(); err != nil {
		return nil, err
	}
	if d.Model == nil {
		return out, nil
	}
	if out.model, err = correlated.ParseGranted(bytes.NewReader(d.Model.Distribution), "model"); err != nil {
		return nil, err
	}
	out.modelHash, err = out.model.Hash()
	return out, err
}

// Model is the model of dependent records that the data set was granted under, nil
// where there is none.
func (d *Dataset) Model() *correlated.ModelFile { return d.model }

// Find returns the data set of that name, or the one whose file lies at that
// path. It opens no file. Errors are of kind Refused: no-dataset, no-schema (the
// steward has granted no definition yet) and a sealed ledger.
func Find(ctx context.Context, l *ledger.Ledger, nameOrPath string) (*Dataset, error) {
	if err := l.Sealed(); err != nil {
		return nil, err
	}
	book, err := l.Find(ctx, nameOrPath)
	if err != nil {
		return nil, err
	}
	if book.Version == 0 {
		return nil, noSchema(book.Name)
	}
	d, err := dataset.Parse(book.Definition)
	if err != nil {
		return nil, &noren.Error{Where: noren.Textf("data set %s", book.Name), What: "its definition cannot be read", Err: err}
	}
	out, err := newDataset(book.Path, d)
	if err != nil {
		return nil, err
	}
	if out.hash != book.DefinitionHash {
		return nil, &noren.Error{Where: noren.Textf("data set %s", book.Name), What: "its definition is not the one that was granted"}
	}
	out.Name, out.Version, out.ledger, out.book = book.Name, book.Version, l, book
	return out, nil
}

// Unaccounted is a file that no ledger knows, read by a definition of the
// caller's. A file that one of the ledgers holds or held is refused as by
// [Unknown].
func Unaccounted(ctx context.Context, path string, d *dataset.Definition, ledgers []*ledger.Ledger) (*Dataset, error) {
	if err := Unknown(ctx, path, d.File, ledgers); err != nil {
		return nil, err
	}
	return newDataset(path, d)
}

// Unknown refuses a file that one of the ledgers holds or held, by its path or by
// its content in any usual form (code known): its answers must be charged. form is
// how the caller would read it. A caller that looks at the file to make a
// definition asks this first: how a private file fails to be read under a form of
// the caller's choice depends on its records.
func Unknown(ctx context.Context, path string, form dataset.File, ledgers []*ledger.Ledger) error {
	for _, l := range ledgers {
		name, err := known(ctx, l, path, form)
		if err != nil {
			return err
		}
		if name != "" {
			return &noren.Error{
				Kind: noren.Refused, Code: CodeKnown, Where: noren.File(path), What: "belongs to data set %s; an unaccounted answer is refused",
				Args: []any{name},
				Hint: "ask the data set: its budget is charged",
			}
		}
	}
	return nil
}

// usual are the forms that tables are kept in.
func usual() []dataset.File {
	forms := []dataset.File{{Kind: "parquet"}}
	for _, delimiter := range []string{",", ";", "\t", "|"} {
		for _, encoding := range []string{"utf-8", "shift_jis"} {
			forms = append(forms, dataset.File{Kind: "csv", Delimiter: delimiter, Encoding: encoding})
		}
	}
	return forms
}

// known names the data set of l that holds or held the file, "" if there is
// none. The content is looked at under every usual form (delimiter, encoding), the
// forms that data sets of l are read in, and the caller's, as a form alone could
// hide it. A form under which the file has the columns of no data set costs a look
// at its header.
func known(ctx context.Context, l *ledger.Ledger, path string, form dataset.File) (string, error) {
	if name, err := l.Knows(ctx, path); err != nil || name != "" {
		return name, err
	}
	return knownBytes(ctx, l, path, form, func() (csvio.File, error) { return openFile(path) })
}

// knownBytes is [known] for the content that open opens, again and again; path names it in
// errors.
func knownBytes(ctx context.Context, l *ledger.Ledger, path string, form dataset.File, open opener) (string, error) {
	headers, own, err := headersOf(ctx, l)
	if err != nil {
		return "", err
	}
	forms := usual()
	for _, f := range own {
		if !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	keys := dataset.KeysOf(l.Key)
	// The caller's own form is last: its faults must not hide a file that is known.
	for _, form := range append(forms, form) {
		print, err := tablePrint(ctx, open, path, form, headers, keys)
		if noren.KindOf(err) == noren.BadData {
			continue // it is no table in this form
		}
		if err != nil {
			return "", err
		}
		if print == "" {
			continue
		}
		if name, err := l.KnowsPrint(ctx, print); err != nil || name != "" {
			return name, err
		}
	}
	// The same bytes are the same records, whatever row names the columns, and whatever sheet or
	// query is read.
	print, err := fileHash(l, path, open)
	if err != nil {
		return "", err
	}
	return l.KnowsFile(ctx, print)
}

// headersOf are the sets of columns of the data sets of l, as by [headerOf], and the
// forms in which they are read.
func headersOf(ctx context.Context, l *ledger.Ledger) (headers map[string]bool, forms []dataset.File, err error) {
	books, err := l.Show(ctx)
	if err != nil {
		return nil, nil, err
	}
	headers = map[string]bool{}
	for _, b := range books {
		for _, v := range b.Versions {
			old, err := dataset.Parse(v.Definition)
			if err != nil {
				return nil, nil, &noren.Error{Where: noren.Textf("data set %s", b.Name), What: "its definition cannot be read", Err: err}
			}
			forms = append(forms, old.File)
			headers[headerOf(old.Fields(), func(f table.Field) string { return f.Name })] = true
		}
	}
	return headers, forms, nil
}

// headerOf is the set of names of columns as one text.
func headerOf[C any](columns []C, name func(C) string) string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = strconv.Quote(name(columns[i]))
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// tablePrint is the print of the table at path under a form, or "" where its
// columns are not one of headers.
func tablePrint(ctx context.Context, open opener, path string, form dataset.File, headers map[string]bool, keys dataset.Keys) (string,
	error,
) {
	f, err := open()
	if err != nil {
		return "", err
	}
	src, err := dataset.Open(ctx, f, path, &dataset.Definition{File: form})
	if err != nil {
		return "", err
	}
	defer func() { _ = src.Close() }()
	return printOf(ctx, src, headers, keys)
}

// printOf is the print of a table, or "" where its columns are not one of headers.
func printOf(ctx context.Context, src file.Source, headers map[string]bool, keys dataset.Keys) (string, error) {
	if !headers[headerOf(src.Columns(), func(c table.StoredColumn) string { return c.Name })] {
		return "", nil
	}
	prints, err := dataset.TablePrint(ctx, src, []dataset.Keys{keys})
	if err != nil {
		return "", err
	}
	return prints[0], nil
}

// fileHash is the fingerprint of the file's bytes, by which a ledger knows it however it is read.
func fileHash(l *ledger.Ledger, path string, open opener) (string, error) {
	f, err := open()
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := l.NewFileHash()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return "", &noren.Error{Where: noren.File(path), What: "cannot be read", Err: errors.Unwrap(err)}
	}
	return h.Sum(), nil
}

// opener opens a private file, once more each time.
type opener func() (csvio.File, error)

// openFile opens a private file; what is wrong with it does not depend on its
// records.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "file-missing", Where: noren.File(path), What: "cannot be opened",
			Hint: "does the file exist, and may this user read it?",
		}
	}
	return f, nil
}

// open opens the file of a data set. No link is followed to a file that the ledger keeps in its
// own folder.
func (d *Dataset) open() (*os.File, error) {
	if d.book == nil || d.book.Within == "" {
		return os.Open(d.Path)
	}
	name, err := filepath.Rel(d.book.Within, d.Path)
	if err != nil {
		return nil, err
	}
	return plainfile.Open(d.book.Within, name)
}

// look describes the file of a data set as [Dataset.open] opens it.
func (d *Dataset) look() (os.FileInfo, error) {
	if d.book == nil || d.book.Within == "" {
		return os.Stat(d.Path)
	}
	f, err := d.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Stat()
}

// source states d in a certificate, with the columns that were read.
func (d *Dataset) source(columns []string) (*certificate.Source, error) {
	reading, err := canonical(d.Definition.Reading(columns))
	if err != nil {
		return nil, err
	}
	s := &certificate.Source{DefinitionSHA256: hex.EncodeToString(d.hash[:]), Reading: reading, ModelSHA256: d.modelHash}
	if d.book != nil {
		s.Dataset, s.Version, s.Fingerprint = d.Name, int64(d.Version), d.book.Fingerprint
	}
	return s, nil
}

// readable makes sure, before anything is charged, that the columns can be read: from
// memory, or from a file that is still the version that was granted.
func (d *Dataset) readable(ctx context.Context, fields []table.Field) error {
	if d.tables != nil && d.tables.holds(d, fields) {
		return nil
	}
	return d.unchanged(ctx)
}

// unchanged makes sure, before anything is charged, that a file whose size or time
// of change is not the last one seen is still the version that was granted. It
// compares the prints of all columns.
func (d *Dataset) unchanged(ctx context.Context) error {
	have, err := d.stat(ctx)
	if err != nil {
		return &noren.Error{
			Kind: noren.Usage, Code: "file-missing", Where: noren.Textf("data set %s", d.Name), What: "its file cannot be opened",
			Hint: "does the file exist, and may this user read it?",
		}
	}
	size, mtime, err := d.ledger.Seen(ctx, d.Name)
	if err != nil {
		return err
	}
	if have.size == size && have.mtime == mtime {
		return nil
	}
	changed := &noren.Error{
		Kind: noren.Refused, Code: CodeChanged, Where: noren.Textf("data set %s", d.Name),
		What: "the file is not version %d; nothing was charged", Args: []any{d.Version},
		Hint: "if it is the same data set in a new state, the steward grants it as changed: what is spent stays spent",
	}
	whole, err := d.ledger.HasContents(ctx, d.Name)
	if err != nil {
		return err
	}
	if !whole {
		return d.complete(ctx, have, changed)
	}
	prints, files, err := d.prints(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil || !maps.Equal(prints, d.book.Prints) {
		return changed
	}
	if d.Definition.File.Sharded {
		granted, err := d.ledger.Files(ctx, d.Name, d.Version)
		if err != nil {
			return err
		}
		if !dataset.SameFiles(granted, files) {
			return changed
		}
	}
	return d.ledger.SetSeen(ctx, d.Name, d.Version, have.size, have.mtime)
}

// complete reads the file of a version whose ledger has no contents of it, as of one that
// was granted before they were kept: it compares the print of the table and those of all
// columns, and keeps what the columns are recognised by from then on. A file that is
// another one, or changes meanwhile, is the error changed.
func (d *Dataset) complete(ctx context.Context, have stamp, changed error) error {
	id, files, err := d.identify(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil || id.Print != d.book.Fingerprint || !maps.Equal(id.Prints, d.book.Prints) {
		return changed
	}
	if after, err := d.stat(ctx); err != nil || after != have {
		return changed
	}
	return d.ledger.SetContents(ctx, d.Name, d.Version, contentsOf(id, files), have.size, have.mtime)
}

// identify is the identity of the file as it lies, with the column prints of each file of
// a sharded data set.
func (d *Dataset) identify(ctx context.Context) (id *dataset.Identity, files []map[string]string, err error) {
	keys := dataset.KeysOf(d.ledger.Key)
	if !d.Definition.File.Sharded {
		f, err := d.open()
		if err != nil {
			return nil, nil, err
		}
		src, err := dataset.Open(ctx, f, filepath.Base(d.Path), d.Definition)
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = src.Close() }()
		id, err = dataset.Identify(ctx, src, d.Definition, keys)
		return id, nil, err
	}
	src, _, err := openShards(ctx, d.Path, d.Definition)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = src.Close() }()
	if id, err = dataset.Identify(ctx, src, d.Definition, keys); err != nil {
		return nil, nil, err
	}
	id.Prints, files, err = shardPrints(ctx, d.ledger, d.Path, d.Definition, nil)
	return id, files, err
}

// stamp tells whether a data set is what it was: its size, and the time of its last change
// or, of several files, a number that depends on the times of all.
type stamp struct{ size, mtime int64 }

// stat is the stamp of the data set as it lies.
func (d *Dataset) stat(ctx context.Context) (stamp, error) {
	if d.Definition.File.Sharded {
		files, err := shardFiles(ctx, d.Path)
		return stampOf(files), err
	}
	info, err := d.look()
	if err != nil {
		return stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return stamp{}, errChanged
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}, nil
}

// prints are the column prints of the file as it lies, and of a sharded data set those of
// each file.
func (d *Dataset) prints(ctx context.Context) (prints map[string]string, files []map[string]string, err error) {
	if d.Definition.File.Sharded {
		return shardPrints(ctx, d.ledger, d.Path, d.Definition, nil)
	}
	f, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	src, err := dataset.Open(ctx, f, filepath.Base(d.Path), d.Definition)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = src.Close() }()
	prints, err = dataset.Prints(ctx, src, d.Definition, nil, dataset.KeysOf(d.ledger.Key))
	return prints, nil, err
}

// Hash is the hash of the definition, in hexadecimal.
func (d *Dataset) Hash() string { return hex.EncodeToString(d.hash[:]) }

// Accounting is how the budget adds up losses; Basic when unaccounted.
func (d *Dataset) Accounting() account.Accounting {
	if d.book == nil || d.book.Accounting == "" {
		return account.Basic
	}
	return d.book.Accounting
}

// StatementDelta is the delta at which a budget in zCDP states its epsilon, in units of
// 1e-18; 0 for other budgets.
func (d *Dataset) StatementDelta() int64 {
	if d.book == nil {
		return 0
	}
	return d.book.StatementDelta
}
