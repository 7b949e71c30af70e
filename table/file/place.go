package file

import (
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/parquetio"
)

// InPlace reports whether src reads a CSV or Parquet file where it lies. It does not
// for a workbook or a table of a database, which are read from a copy.
func InPlace(src Source) bool {
	switch src.(type) {
	case *csvio.Source, *parquetio.Source:
		return true
	}
	return false
}
