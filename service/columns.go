package service

import (
	"context"
	"errors"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/file"
)

// Columns returns the names of the columns of a data set, or of a file that no ledger
// knows by its path.
//
// Of a data set it returns those of the schema, which is public, and opens no file. Of
// another file it reads the header. A first line that looks like a record is refused
// (code first-line-is-data). A table of a database is refused without connecting to it.
func (s *Service) Columns(ctx context.Context, r *api.ColumnsRequest) (*api.Columns, error) {
	if r.Table == "" || r.Table == "-" {
		return nil, noren.Usagef("table", "expected the name of a data set or the path of a file")
	}
	ledgers, err := s.reachable(ctx, r.Table)
	defer func() {
		for _, l := range ledgers {
			_ = l.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, l := range ledgers {
		out, err := granted(ctx, l, r.Table)
		if out != nil || err != nil {
			return out, err
		}
	}
	if file.IsDatabase(r.Table) {
		return nil, noren.Usagef("table", "expected a file or a data set, got a table of a database")
	}
	in := &spec.Spec{Version: spec.Version, Input: spec.Input{Delimiter: r.Delimiter, Encoding: r.Encoding}}
	form, err := in.CheckedForm()
	if err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, r.Table, form)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	out := &api.Columns{Names: []string{}}
	for _, c := range src.Columns() {
		out.Names = append(out.Names, c.Name)
	}
	return out, nil
}

// granted is the columns of the schema of the data set that l has under that name or
// path, or had under that path; nil where there is none.
func granted(ctx context.Context, l *ledger.Ledger, nameOrPath string) (*api.Columns, error) {
	name, err := l.Knows(ctx, nameOrPath)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = nameOrPath
	}
	book, err := l.Book(ctx, name)
	if errors.Is(err, ledger.ErrNoGrant) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &api.Columns{Dataset: book.Name, Names: []string{}}
	if book.Version == 0 {
		return out, nil
	}
	d, err := dataset.Parse(book.Definition)
	if err != nil {
		return nil, err
	}
	for i := range d.Columns {
		out.Names = append(out.Names, d.Columns[i].Name)
	}
	return out, nil
}
