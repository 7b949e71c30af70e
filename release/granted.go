package release

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Granted returns the name of the data set of l that holds or held the table at path, ""
// where there is none. form is how the caller would read it; the zero form is fine.
//
// The table is recognised by its path, with links resolved, and by its content: a text or
// Parquet file under every usual form, packed or not; a workbook, a table of a database, a
// folder or a pattern as the table that it is, and each file of a folder or pattern by itself.
// Content is compared by the print of the table, which depends on neither the order of the
// records nor of the columns. A table with a record, a column or a name changed is not
// recognised by its content. A path without a table is left to the reader of it.
func Granted(ctx context.Context, path string, form dataset.File, l *ledger.Ledger) (string, error) {
	if file.IsParts(path) {
		return knownParts(ctx, l, path)
	}
	place := file.Place(path)
	if place == "" { // a table at a server
		return knownWhole(ctx, l, path)
	}
	info, err := os.Stat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil || !info.Mode().IsRegular():
		return "", nil
	}
	name, err := known(ctx, l, place, form)
	if noren.KindOf(err) == noren.Usage {
		name, err = "", ctx.Err() // no text and no Parquet file
	}
	if err != nil || name != "" {
		return name, err
	}
	return knownWhole(ctx, l, path)
}

// GrantedStream is [Granted] for a stream that was copied to f, which stays open.
func GrantedStream(ctx context.Context, f csvio.File, form dataset.File, l *ledger.Ledger) (string, error) {
	name, err := knownBytes(ctx, l, "standard input", form, func() (csvio.File, error) { return unclosed{f}, nil })
	if noren.KindOf(err) == noren.Usage {
		return "", ctx.Err()
	}
	return name, err
}

// unclosed is a file that its readers do not close.
type unclosed struct{ csvio.File }

// Close implements [io.Closer]. It does nothing.
func (unclosed) Close() error { return nil }

// GrantedSource returns the name of the data set of l that holds or held the records of src
// under the names of its columns, "" where there is none: of the result of a query, or of a
// sheet, which no path names.
func GrantedSource(ctx context.Context, src file.Source, l *ledger.Ledger) (string, error) {
	headers, _, err := headersOf(ctx, l)
	if err != nil {
		return "", err
	}
	print, err := printOf(ctx, src, headers, dataset.KeysOf(l.Key))
	if err != nil || print == "" {
		return "", ctx.Err() // its reader says why it cannot be read
	}
	return l.KnowsPrint(ctx, print)
}

// Public refuses a table that l holds or held, as by [Granted], where a public one is
// expected: what a query prints of its public inputs, and their faults, are not charged.
func Public(ctx context.Context, path string, l *ledger.Ledger) error {
	name, err := Granted(ctx, path, dataset.File{}, l)
	if err != nil || name == "" {
		return err
	}
	return Private(path, name)
}

// Private is the refusal of a table of a data set where a public one is expected.
func Private(path, dataset string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: CodePrivate, Where: noren.File(path), What: "belongs to data set %s, expected a public file", Args: []any{
			dataset,
		},
		Hint: "what is printed of public files is not charged",
	}
}

// knownParts names the data set of l that holds or held a folder or pattern, one of its
// files, or the table that they are together.
func knownParts(ctx context.Context, l *ledger.Ledger, path string) (string, error) {
	if name, err := l.Knows(ctx, path); err != nil || name != "" {
		return name, err
	}
	paths, err := file.Parts(ctx, path)
	if err != nil {
		return "", ctx.Err() // its reader says why
	}
	for _, p := range paths {
		if name, err := Granted(ctx, p, dataset.File{}, l); err != nil || name != "" {
			return name, err
		}
	}
	return knownWhole(ctx, l, path)
}

// knownWhole names the data set of l that holds or held the table at path, of any
// format, by its content; "" where there is none or the table cannot be read.
func knownWhole(ctx context.Context, l *ledger.Ledger, path string) (string, error) {
	if name, err := l.Knows(ctx, path); err != nil || name != "" {
		return name, err
	}
	// What is hidden, and rows of totals, may be left out or not: they decide what is read and
	// not whose records they are, whatever the path says of them.
	path = file.Undecided(path)
	policies := []xlsx.Policy{xlsx.Look, xlsx.Leave}
	for _, hidden := range policies {
		hides := false
		for _, totals := range policies {
			name, more, err := knownOpened(ctx, l, path, hidden, totals)
			if err != nil || name != "" {
				return name, err
			}
			hides = hides || more.hidden
			if !more.totals {
				break
			}
		}
		if !hides {
			break
		}
	}
	return "", nil
}

// others tells which other policies make another table of a workbook.
type others struct{ hidden, totals bool }

// knownOpened is [knownWhole] for the content alone, with or without what a workbook hides and its
// rows of totals.
func knownOpened(ctx context.Context, l *ledger.Ledger, path string, hidden, totals xlsx.Policy) (name string, more others, err error) {
	src, err := file.Open(ctx, path, file.Options{Plain: true, Hidden: hidden, Totals: totals})
	if err != nil {
		return "", others{}, ctx.Err() // its reader says why
	}
	defer func() { _ = src.Close() }()
	if book, ok := src.(*xlsx.Source); ok {
		more = others{book.Hidden.Any(), book.Totals() > 0}
	}
	name, err = GrantedSource(ctx, src, l)
	return name, more, err
}

// Beside are the folders in which a ledger of the table at path may lie: that of the path as
// it is written, that of the file which it names, and a folder of files itself.
func Beside(path string) []string {
	place := file.Place(path)
	if place == "" || place == "-" {
		return nil
	}
	dirs := []string{filepath.Dir(filepath.Clean(place))}
	if real, err := filepath.EvalSymlinks(place); err == nil {
		dirs = append(dirs, filepath.Dir(real))
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			dirs = append(dirs, real)
		}
	}
	return dirs
}
