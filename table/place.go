package table

import (
	"slices"

	"github.com/noren-privacy/noren"
)

// PlaceOf is where a table is, for a text: its file, and of a workbook or database the sheet or
// table in it. Parts follow that are in the table, such as a column.
func PlaceOf(src Source, in ...any) noren.Place {
	at := noren.Place{noren.File(src.Name())}
	if placed, ok := src.(interface{ Place() noren.Place }); ok {
		at = slices.Clip(placed.Place())
	}
	return append(at, in...)
}
