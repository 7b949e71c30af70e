package shuffle

import (
	"context"
	"io"

	"github.com/bits-and-blooms/bitset"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// DefaultMemory is the memory that is used where none is said.
const DefaultMemory = 256 << 20

// chunkRows is the number of records that are written at a time.
const chunkRows = 4096

// Options say how [Write] works.
type Options struct {
	// Order tells for each record the place it goes to: a permutation of
	// 0..n-1, as [Permutation] draws it. Nil keeps the order.
	Order []uint32
	// Memory is how many bytes of records are kept in memory, beside 4 bytes a
	// record for the order. Defaults to [DefaultMemory].
	Memory int64
	// Dir is the folder for the temporary file. Defaults to the system's
	// folder for such files; the folder of the result is better, as it has
	// space for it and its file system can be trusted with it.
	Dir string
	// Complete makes of a chunk in its final order the chunk to be written, in the
	// memory of out; what it shares with in is not changed. It is called while the
	// chunk before is being written. Optional.
	Complete func(in, out *table.Chunk) error
	// Progress receives the stages "arranging" and "writing", in records.
	Progress noren.Progress
}

// Write reads all records of r, lets assemble make of each chunk the chunk to
// be written, and writes the records to sink in the order asked for. Nil for
// assemble writes the records as they are read. What assemble returns has as
// many records as it was given, the kinds of its columns are the same in every
// chunk, and it is used only until assemble is called again.
//
// Neither r nor sink is closed. Errors of r, assemble and sink are returned as
// they are; a number of records that does not fit the order is an error of kind
// Internal.
func Write(ctx context.Context, opts Options, r table.Reader, assemble func(*table.Chunk) (*table.Chunk, error),
	sink table.Sink,
) (err error) {
	if opts.Memory <= 0 {
		opts.Memory = DefaultMemory
	}
	if assemble == nil {
		assemble = func(c *table.Chunk) (*table.Chunk, error) { return c, nil }
	}
	if opts.Order == nil {
		return pass(ctx, opts, r, assemble, sink)
	}
	if err := checkOrder(opts.Order); err != nil {
		return err
	}
	a := &arranger{opts: opts, n: uint64(len(opts.Order))}
	defer func() {
		if e := a.close(); err == nil {
			err = e
		}
	}()
	err = each(ctx, r, assemble, func(c *table.Chunk) error {
		if err := a.take(c); err != nil {
			return err
		}
		opts.Progress.Report("arranging", int64(a.rows), int64(a.n))
		return nil
	})
	if err != nil {
		return err
	}
	if a.rows != a.n {
		return &noren.Error{What: "%d {record was|records were} read, and there is an order for %d", Args: []any{a.rows, a.n}}
	}
	return a.write(ctx, sink)
}

// pass writes in the order of reading.
func pass(ctx context.Context, opts Options, r table.Reader, assemble func(*table.Chunk) (*table.Chunk, error), sink table.Sink) error {
	rows := int64(0)
	var whole table.Chunk
	return each(ctx, r, assemble, func(c *table.Chunk) error {
		if opts.Complete != nil {
			if err := opts.Complete(c, &whole); err != nil {
				return err
			}
			c = &whole
		}
		if err := sink.Write(c); err != nil {
			return err
		}
		rows += int64(c.Rows)
		opts.Progress.Report("writing", rows, 0)
		return nil
	})
}

// each hands every assembled chunk to f.
func each(ctx context.Context, r table.Reader, assemble func(*table.Chunk) (*table.Chunk, error), f func(*table.Chunk) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		read, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		c, err := assemble(read)
		if err != nil {
			return err
		}
		if c.Rows != read.Rows {
			return &noren.Error{What: "a chunk of %d {record|records} was assembled from one of %d", Args: []any{c.Rows, read.Rows}}
		}
		if err := f(c); err != nil {
			return err
		}
	}
}

// checkOrder reports whether every place is taken once.
func checkOrder(order []uint32) error {
	taken := bitset.New(uint(len(order)))
	for _, to := range order {
		if int64(to) >= int64(len(order)) || taken.Test(uint(to)) {
			return &noren.Error{What: "the order is no permutation"}
		}
		taken.Set(uint(to))
	}
	return nil
}
