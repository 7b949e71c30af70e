package service

import (
	"context"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/pg"
)

// Copy copies a table into a file, as it is at one moment. The copy is private: only its
// owner may read it. After an error there is no file. Errors are of kind Usage, or of
// reading the table or writing the file; they hold neither the connection string nor a
// value.
func (s *Service) Copy(ctx context.Context, r *api.CopyRequest) (*api.Copy, error) {
	if r.Input == "" || r.Output == "" {
		return nil, noren.Usagef("input, output", "expected a table and a file")
	}
	src, err := s.openCopied(ctx, r)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	sink, err := file.Create(r.Output, src.Columns(), file.DialectFor(r.Output, src))
	if err != nil {
		return nil, err
	}
	out := &api.Copy{Columns: len(src.Columns())}
	err = eachChunk(ctx, src, func(c *table.Chunk) error {
		out.Rows += int64(c.Rows)
		if info, err := os.Stat(r.Output); r.MostBytes > 0 && err == nil && info.Size() > r.MostBytes {
			return noren.Usagef("input", "expected a table of at most %d bytes, got more", r.MostBytes)
		}
		return sink.Write(c)
	}, s.Progress)
	if err != nil {
		sink.Abort()
		return nil, err
	}
	return out, sink.Close()
}

// openCopied opens the table that is to be copied.
func (s *Service) openCopied(ctx context.Context, r *api.CopyRequest) (file.Source, error) {
	if r.Connection == "" {
		return file.Open(ctx, r.Input, file.Options{Progress: s.Progress})
	}
	name, ok := cutDatabase(r.Input)
	if !ok {
		return nil, noren.Usagef("input", "expected a table of a database, as a connection is stated")
	}
	table, err := pg.ParseName(name)
	if err != nil {
		return nil, err
	}
	src, err := pg.Open(ctx, pg.Options{Table: table, Connection: r.Connection, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	return src, nil
}

// cutDatabase is the name of a table of PostgreSQL, without what says that it is one.
func cutDatabase(input string) (string, bool) {
	const prefix = "pg:"
	if len(input) <= len(prefix) || input[:len(prefix)] != prefix {
		return "", false
	}
	return input[len(prefix):], true
}

// DatabaseTables lists the tables and views of a PostgreSQL database that the user may
// read, without those of the system. Errors are those of [pg.Open].
func (s *Service) DatabaseTables(ctx context.Context, r *api.DatabaseTablesRequest) (*api.DatabaseTables, error) {
	found, err := pg.List(ctx, pg.Options{Connection: r.Connection})
	if err != nil {
		return nil, noren.Reasonf("list tables: %s", err)
	}
	out := &api.DatabaseTables{Tables: []api.DatabaseTable{}}
	for _, l := range found {
		kind := "table"
		if l.View {
			kind = "view"
		}
		out.Tables = append(out.Tables, api.DatabaseTable{Name: l.Name.Text(), Kind: kind})
	}
	return out, nil
}
