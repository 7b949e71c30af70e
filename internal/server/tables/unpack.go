package tables

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/noren-privacy/noren/internal/server/problem"
)

// mostWindow is the largest window with which a file is unpacked to be counted. One of a larger window
// is counted by its reader alone, if that has the memory for it.
const mostWindow = 32 << 20

// unpacks refuses a packed file that holds more than most bytes, before anything else
// reads it. A workbook has a limit of its own (table/xlsx).
func unpacks(ctx context.Context, path string, most int64, progress func(string, int64, int64)) error {
	gz, zst := strings.HasSuffix(path, ".gz"), strings.HasSuffix(path, ".zst")
	if !gz && !zst {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return FileError(err)
	}
	defer func() { _ = f.Close() }()
	var in io.Reader
	if gz {
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return nil // a file that is not packed is read as it is, or refused by its reader
		}
		in = unpacked
	} else {
		unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil
		}
		defer unpacked.Close()
		in = unpacked
	}
	n, err := io.Copy(io.Discard, io.LimitReader(&counted{ctx: ctx, in: in, stage: "unpacking", progress: progress}, most+1))
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case n > most:
		return tooLarge(most)
	}
	return nil // what is damaged is refused by its reader, which says where
}

func tooLarge(most int64) error {
	p := problem.New("too-large", "The table holds more than "+strconv.FormatInt(most, 10)+" bytes when it is unpacked.")
	p.Where = "source"
	return p
}
