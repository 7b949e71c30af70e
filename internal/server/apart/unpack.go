package apart

import (
	"compress/gzip"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/service"
)

// mostWindow is the largest window with which a file is unpacked to be counted. One of a larger window
// is counted by its reader alone, if that has the memory for it.
const mostWindow = 32 << 20

// Unpack is how many bytes a file whose name ends with .gz or .zst unpacks to, or most+1 where it is
// more than most. What is damaged is counted up to there, and a file that is not packed as 0 bytes.
// Errors are those of [Operations.Hash].
func (o *Operations) Unpack(ctx context.Context, path string, most int64) (int64, error) {
	out, err := run(ctx, o, unpack(), &unpackRequest{path, most}, nil)
	if err != nil {
		return 0, err
	}
	return out.Bytes, nil
}

type (
	unpackRequest struct {
		Path string
		Most int64
	}
	unpackResult struct{ Bytes int64 }
)

func unpack() operation[unpackRequest, unpackResult] {
	return operation[unpackRequest, unpackResult]{"unpack", unpacked}
}

// unpacked counts what a file unpacks to.
func unpacked(s *service.Service, ctx context.Context, r *unpackRequest) (*unpackResult, error) {
	f, err := plainfile.OpenPath(r.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader
	if strings.HasSuffix(r.Path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return &unpackResult{}, nil
		}
	} else {
		d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return &unpackResult{}, nil
		}
		defer d.Close()
		in = d
	}
	out := &unpackResult{}
	for out.Bytes <= r.Most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.CopyN(io.Discard, in, min(4<<20, r.Most+1-out.Bytes))
		out.Bytes += n
		if err != nil {
			break // the end, or damaged from here on
		}
		if s.Progress != nil {
			s.Progress("unpacking", out.Bytes, 0)
		}
	}
	return out, nil
}
