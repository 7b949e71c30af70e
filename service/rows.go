package service

import (
	"context"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/table"
)

// mostRows is the largest number of records that [Service.Rows] shows.
const mostRows = 1000

// Rows returns the first records of a table as texts. The result is private: it holds
// cells. Errors are of kind Usage, or of reading the table.
func (s *Service) Rows(ctx context.Context, r *api.RowsRequest) (*api.Rows, error) {
	n := r.Rows
	if n == 0 {
		n = 20
	}
	if n < 1 || n > mostRows {
		return nil, noren.Usagef("rows", "expected 1 to %d, got %d", mostRows, n)
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	src, err := s.openLooked(ctx, r.Input, sp)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	columns := src.Columns()
	out := &api.Rows{Columns: make([]string, len(columns)), Rows: [][]string{}}
	for i := range columns {
		out.Columns[i] = columns[i].Name
	}
	err = eachChunk(ctx, src, func(c *table.Chunk) error {
		for i := range c.Rows {
			if len(out.Rows) == n {
				return io.EOF
			}
			row := make([]string, len(columns))
			for j := range columns {
				row[j] = string(table.AppendText(nil, &columns[j], &c.Cols[j], i))
			}
			out.Rows = append(out.Rows, row)
		}
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eachChunk calls f with the records of a table in order, until it returns io.EOF, which
// is no error.
func eachChunk(ctx context.Context, src table.Source, f func(*table.Chunk) error, progress noren.Progress) (err error) {
	reader, err := src.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if e := reader.Close(); err == nil {
			err = e
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk, err := reader.Next()
		if err == nil {
			err = f(chunk)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		progress.Report("reading", int64(1000*reader.Progress()), 1000)
	}
}
