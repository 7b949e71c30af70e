package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/shuffle"
)

// CopyOptions are the options of [Copy].
type CopyOptions struct {
	// Dir is the folder of the copy. Required.
	Dir string
	// Name is the name of the data set, with which the name of the file begins.
	// Required.
	Name string
	// KeepOrder keeps the order of the records.
	KeepOrder bool
	// Progress receives the progress of writing. Optional.
	Progress noren.Progress
}

// Copy writes a table that charged answers cannot read where it lies (a table or
// query of a database, a sheet of a workbook) to a private Parquet file in the
// folder, readable by its owner alone, and returns its path. The data set is
// that file: what happens to the table afterwards changes no answer.
//
// The records are put in an order that depends on their values alone, so that a
// table has the same prints in any order in which a database returned it. With KeepOrder,
// for a model of dependent records, their order is kept. Nothing is left after an
// error.
func Copy(ctx context.Context, src file.Source, o CopyOptions) (path string, err error) {
	path = filepath.Join(o.Dir, fmt.Sprintf("%s.%x.parquet", fileName(o.Name), time.Now().UnixNano()))
	var order []uint32
	if !o.KeepOrder {
		if order, err = canonicalOrder(ctx, src); err != nil {
			return "", err
		}
	}
	out, err := atomicfile.CreatePrivate(path, false)
	if err != nil {
		return "", err
	}
	defer out.Discard()
	columns := slices.Clone(src.Columns())
	for i := range columns {
		columns[i].Origin = nil
	}
	sink, err := file.NewSink(out.File, path, columns, csvio.Dialect{})
	if err != nil {
		return "", err
	}
	in, err := src.Open(ctx, nil)
	if err != nil {
		sink.Abort()
		return "", err
	}
	err = shuffle.Write(ctx, shuffle.Options{Order: order, Dir: o.Dir, Progress: o.Progress}, in, nil, sink)
	if e := in.Close(); err == nil {
		err = e
	}
	if err != nil {
		sink.Abort()
		return "", err
	}
	if err := sink.Close(); err != nil {
		return "", err
	}
	return path, out.Commit()
}

// Discard removes a copy that was not granted.
func Discard(path string) error {
	if err := os.Remove(path); err != nil {
		return &noren.Error{Where: noren.File(path), What: "the private copy cannot be removed", Hint: "remove it", Err: atomicfile.Reason(err)}
	}
	return nil
}

// fileName is the part of a data set's name that file names can hold.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// tagSize is the length of a record's tag: two of 2^32 different records have the
// same one with probability below 2^-64, and then keep the order they were read
// in.
const tagSize = 16

// canonicalOrder gives each record its place by a hash of its cells.
func canonicalOrder(ctx context.Context, src file.Source) (order []uint32, err error) {
	r, err := src.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	columns := src.Columns()
	var tags []byte
	var row, cell []byte
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i := range c.Rows {
			row = row[:0]
			for j := range c.Cols {
				v := &c.Cols[j]
				if v.IsNull(i) {
					row = append(row, 0)
					continue
				}
				cell = table.AppendText(cell[:0], &columns[j], v, i)
				row = binary.AppendUvarint(row, uint64(len(cell))+1)
				row = append(row, cell...)
			}
			sum := sha256.Sum256(row)
			tags = append(tags, sum[:tagSize]...)
		}
	}
	n := len(tags) / tagSize
	tag := func(i uint32) []byte { return tags[int(i)*tagSize : int(i+1)*tagSize] }
	sorted := make([]uint32, n)
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortStableFunc(sorted, func(a, b uint32) int { return bytes.Compare(tag(a), tag(b)) })
	order = make([]uint32, n)
	for place, record := range sorted {
		order[record] = uint32(place)
	}
	return order, nil
}
