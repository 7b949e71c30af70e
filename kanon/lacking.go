package kanon

import (
	"context"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// lacking is err, or where err says that the encoding of the output lacks a
// character of a column, an error that names the first record of the source that
// holds one: records of the output are in another order. A character that comes
// from a hierarchy and from no record leaves err as it is.
func (r *run) lacking(ctx context.Context, err error) error {
	var lack *csvio.LackError
	if !errors.As(err, &lack) {
		return err
	}
	column := slices.IndexFunc(r.job.Source.Columns(), func(c table.StoredColumn) bool { return c.Name == lack.Column })
	if column < 0 {
		return err
	}
	e := r.dialect().Encoding
	at, e2 := file.FindLacking(ctx, r.job.Source, column, e)
	if e2 != nil || at == nil {
		return err
	}
	return &noren.Error{
		Kind: noren.BadData, Where: at, What: "a text holds a character that the encoding of the release, %s, does not have", Args: []any{
			e.String(),
		},
		Hint: "write the release as UTF-8, or correct the text",
	}
}
