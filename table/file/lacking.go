package file

import (
	"context"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// FindLacking returns the place of the first value of a column of src that holds
// a character that the encoding e lacks; nil where there is none.
func FindLacking(ctx context.Context, src table.Source, column int, e csvio.Encoding) (at noren.Place, err error) {
	r, err := src.Open(ctx, []int{column})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil && e != nil {
			err = e
		}
	}()
	stored, holds := src.Columns()[column], e.Holds()
	var buf []byte
	for {
		c, err := r.Next()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range c.Rows {
			buf = table.AppendText(buf[:0], &stored, &c.Cols[0], i)
			if !holds(buf) {
				return r.Position(i, 0), nil
			}
		}
	}
}
