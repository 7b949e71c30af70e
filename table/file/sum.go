package file

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren/table"
)

var (
	_ table.Summed = (*numbers)(nil)
	_ table.Summed = (*byRows)(nil)
)

// KeepSum implements [table.Summed].
func (s *numbers) KeepSum() { table.KeepSum(s.Source) }

// Sum implements [table.Summed]: of the table as it is written, and of the formats.
func (s *numbers) Sum(ctx context.Context) ([table.SumSize]byte, error) {
	of, err := table.Sum(ctx, s.Source)
	if err != nil {
		return of, err
	}
	return table.SumFile(fmt.Sprintf("numbers %q", s.formats), of), nil
}

// ByRows is src with [table.SumRows] as its sum, which is that of a table of a database:
// for a copy of such a table. Closing it closes src.
func ByRows(src Source) Source { return &byRows{src} }

type byRows struct{ Source }

// Unwrap is the source itself.
func (s *byRows) Unwrap() table.Source { return s.Source }

// KeepSum implements [table.Summed].
func (s *byRows) KeepSum() {}

// Sum implements [table.Summed].
func (s *byRows) Sum(ctx context.Context) ([table.SumSize]byte, error) {
	return table.SumRows(ctx, s.Source)
}
