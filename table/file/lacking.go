package file

import (
	"context"
	"io"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// FindLacking returns the place of the first value of a column of src that holds
// a character that the encoding e lacks, empty where there is none.
func FindLacking(ctx context.Context, src table.Source, column int, e csvio.Encoding) (at string, err error) {
	r, err := src.Open(ctx, []int{column})
	if err != nil {
		return "", err
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
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for i := range c.Rows {
			buf = table.AppendText(buf[:0], &stored, &c.Cols[0], i)
			if !holds(buf) {
				return r.Position(i, 0), nil
			}
		}
	}
}
