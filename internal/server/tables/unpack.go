package tables

import (
	"context"
	"strings"

	"github.com/noren-privacy/noren/internal/server/problem"
)

// unpacks refuses a packed file that holds more bytes than a table may, before anything else
// reads it. A workbook has a limit of its own (table/xlsx).
func (t *Tables) unpacks(ctx context.Context, path string, progress func(string, int64, int64)) error {
	if !strings.HasSuffix(path, ".gz") && !strings.HasSuffix(path, ".zst") {
		return nil
	}
	operations, most := t.config.Apart.Operations(), t.config.MostBytes
	operations.Progress = progress
	n, err := operations.Unpack(ctx, path, most)
	switch {
	case err != nil:
		return copyError(err)
	case n > most:
		return tooLarge(most)
	}
	return nil // what is damaged is refused by its reader, which says where
}

func tooLarge(most int64) error {
	p := problem.New("too-large", "The table holds more than %d bytes when it is unpacked.", most)
	p.Where = "source"
	return p
}
