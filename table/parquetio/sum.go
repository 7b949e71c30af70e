package parquetio

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
)

var _ table.Summed = (*Source)(nil)

// KeepSum implements [table.Summed]. A reading of a Parquet file sees the columns that are
// asked for, and not all bytes.
func (src *Source) KeepSum() {}

// Sum implements [table.Summed]: of the bytes of the file.
func (src *Source) Sum(ctx context.Context) (sum [table.SumSize]byte, err error) {
	of, err := table.SumBytes(ctx, src.file, src.size)
	switch {
	case ctx.Err() != nil:
		return sum, ctx.Err()
	case err != nil:
		return sum, &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	return table.SumFile("parquet", of), src.unchanged()
}
