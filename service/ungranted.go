package service

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Every operation that writes what leaves, and charges nothing, asks first whether a ledger
// that can be reached has granted its table. Package internal/access lists them.

// holding is a data set that holds or held a table.
type holding struct {
	ledger  *ledger.Ledger
	dataset string
}

// reach is the ledgers that can be reached from a table.
type reach struct {
	ledgers []*ledger.Ledger
	kept    *ledger.Ledger // stays open
}

func (r *reach) close() {
	for _, l := range r.ledgers {
		if l != r.kept {
			_ = l.Close()
		}
	}
}

// reach opens every ledger that can be reached from the table at path. The caller closes it,
// after an error too.
func (s *Service) reach(ctx context.Context, path string) (r *reach, err error) {
	r = &reach{}
	if s.Kept != nil {
		r.kept = s.Kept.ledger
		r.ledgers = append(r.ledgers, r.kept)
	}
	more, err := s.reachable(ctx, path)
	r.ledgers = append(r.ledgers, more...)
	return r, err
}

// holdings are the data sets of r that hold or held what has finds in a ledger.
func (r *reach) holdings(has func(l *ledger.Ledger) (string, error)) (all []holding, err error) {
	for _, l := range r.ledgers {
		name, err := has(l)
		if err != nil {
			return nil, err
		}
		if name != "" {
			all = append(all, holding{l, name})
		}
	}
	return all, nil
}

// public refuses inputs of a question, called public, that are private files of a ledger
// that can be reached. Texts that name no file pass. A process that keeps a ledger open has
// no other.
func (s *Service) public(ctx context.Context, a *openSet, paths ...string) error {
	if err := a.public(ctx, paths...); err != nil || a.kept {
		return err
	}
	return s.refusePrivate(ctx, paths...)
}

// Public refuses tables that a reachable ledger has granted, where public ones are expected
// (code private). Paths that name no table pass.
func Public(ctx context.Context, s *Service, paths ...string) error {
	return s.refusePrivate(ctx, paths...)
}

// refusePrivate refuses tables that a reachable ledger has granted, where public ones are
// expected (code private). Texts that name no table pass.
func (s *Service) refusePrivate(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := s.refuseOne(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) refuseOne(ctx context.Context, path string) error {
	r, err := s.reach(ctx, path)
	defer r.close()
	if err != nil {
		return err
	}
	for _, l := range r.ledgers {
		if err := release.Public(ctx, path, l); err != nil {
			return err
		}
	}
	return nil
}

// openGuarded opens the table at path after it was looked for in all reachable ledgers; "-"
// is the standard input of the service. held receives the data sets that hold or held it
// before any of its records are read in the form of the caller's choice, and refuses the
// table by an error. It is called where there are any, with ledgers that are open.
func (s *Service) openGuarded(ctx context.Context, path string, o file.Options, held func([]holding) error) (_ file.Source, err error) {
	r, err := s.reach(ctx, path)
	defer r.close()
	if err != nil {
		return nil, err
	}
	form := formOf(&o)
	open := func() (file.Source, error) { return file.Open(ctx, path, o) }
	again := func(o file.Options) (file.Source, error) { return file.Open(ctx, file.Undecided(path), o) }
	has := func(l *ledger.Ledger) (string, error) { return release.Granted(ctx, path, form, l) }
	if path == "-" && s.Stdin != nil {
		const name = "standard input"
		f, err := tempfile.Spool(ctx, s.Stdin, "", name)
		if err != nil {
			return nil, err
		}
		o.Name = name
		open = func() (file.Source, error) { return file.OpenFile(ctx, f, o) }
		again = func(o file.Options) (file.Source, error) { return file.OpenFile(ctx, kept{f}, o) }
		has = func(l *ledger.Ledger) (string, error) { return release.GrantedStream(ctx, f, form, l) }
		defer func() {
			if err != nil {
				_ = f.Close()
			}
		}()
	}
	known, err := r.holdings(has)
	if err == nil && len(known) == 0 && path == "-" { // a workbook closes the stream
		known, err = readOtherwise(ctx, r, o, again)
	}
	if err == nil && len(known) > 0 {
		err = held(known)
	}
	if err != nil {
		return nil, err
	}
	src, err := open()
	if err != nil || len(known) > 0 {
		return src, err
	}
	// The result of a query and a sheet of a workbook have no path of their own.
	known, err = r.holdings(func(l *ledger.Ledger) (string, error) { return release.GrantedSource(ctx, src, l) })
	if book, ok := src.(*xlsx.Source); err == nil && len(known) == 0 && ok && path != "-" && (book.Totals() > 0 || book.Hidden.Any()) {
		known, err = readOtherwise(ctx, r, o, again)
	}
	if err == nil && len(known) > 0 {
		err = held(known)
	}
	if err != nil {
		closeTable(src)
		return nil, err
	}
	return src, nil
}

// kept is a file that its readers do not close.
type kept struct{ csvio.File }

// Close implements [io.Closer]. It does nothing.
func (kept) Close() error { return nil }

// readOtherwise are the data sets that hold or held what a workbook is with the other decisions on
// what it hides and on its rows of totals: they decide what is read, and not whose records they are.
func readOtherwise(ctx context.Context, r *reach, o file.Options, open func(file.Options) (file.Source, error)) ([]holding, error) {
	for _, hidden := range []xlsx.Policy{xlsx.Look, xlsx.Leave} {
		for _, totals := range []xlsx.Policy{xlsx.Look, xlsx.Leave} {
			o.Hidden, o.Totals = hidden, totals
			src, err := open(o)
			if err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				continue // a table that cannot be read so was not granted so
			}
			book, ok := src.(*xlsx.Source)
			var known []holding
			if ok {
				known, err = r.holdings(func(l *ledger.Ledger) (string, error) { return release.GrantedSource(ctx, src, l) })
			}
			closeTable(src)
			if err != nil || len(known) > 0 || !ok || book.Totals() == 0 && !book.Hidden.Any() {
				return known, err
			}
		}
	}
	return nil, nil
}

// formOf is how a text file is read, as a definition states it.
func formOf(o *file.Options) (f dataset.File) {
	if o.Delimiter != 0 {
		f.Delimiter = string(o.Delimiter)
	}
	if o.Encoding != csvio.AnyEncoding {
		f.Encoding = o.Encoding.String()
	}
	return f
}

// reachable opens every ledger that could hold the table at path: those of the service, and
// those beside it, where it is a file, and beside the file that a link names.
func (s *Service) reachable(ctx context.Context, path string) (ledgers []*ledger.Ledger, err error) {
	seen := map[string]bool{}
	candidates := append([]string{s.Ledger}, s.Ledgers...)
	candidates = append(candidates, DefaultLedger)
	for _, dir := range release.Beside(path) {
		candidates = append(candidates, filepath.Join(dir, DefaultLedger))
	}
	for _, candidate := range candidates {
		if candidate == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(candidate)
		if errors.Is(err, fs.ErrNotExist) && candidate != s.Ledger {
			continue
		}
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err == nil && seen[real] {
			continue
		}
		l, err := ledger.Open(ctx, candidate, ledger.Options{})
		if err != nil {
			return ledgers, &noren.Error{
				Kind: noren.Refused, Code: "ledger-unreadable", Where: noren.File(path),
				What: "refused: ledger %s cannot be opened to see whether it knows the file", Args: []any{candidate}, Err: err,
				Hint: "verify that ledger, or name another",
			}
		}
		seen[real] = true
		ledgers = append(ledgers, l)
	}
	return ledgers, nil
}
