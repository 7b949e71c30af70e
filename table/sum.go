package table

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"math"
)

// SumSize is the number of bytes of a sum.
const SumSize = sha256.Size

// Summed is a [Source] that tells what it is read from by a SHA-256: of the bytes of its
// files and of how they are read, or of its records in their order where there is no file
// (a database, a worksheet). Names and times are not in it. Two tables with different
// columns or records have different sums, except where SHA-256 has a collision.
//
// A sum is computed from private data: it must not leave without a secret key.
type Summed interface {
	Source
	// KeepSum has the next reading that comes to the end compute the sum on its way,
	// where readings see all bytes; elsewhere it does nothing.
	KeepSum()
	// Sum is the sum that a reading has kept, or is computed by a reading of its own.
	// A file that was changed since it was opened is an error of kind BadData.
	Sum(ctx context.Context) ([SumSize]byte, error)
}

// KeepSum is [Summed.KeepSum] where a source has it.
func KeepSum(src Source) {
	if s, ok := src.(Summed); ok {
		s.KeepSum()
	}
}

// Sum is [Summed.Sum] where a source has it, and [SumRows] elsewhere.
func Sum(ctx context.Context, src Source) ([SumSize]byte, error) {
	if s, ok := src.(Summed); ok {
		return s.Sum(ctx)
	}
	return SumRows(ctx, src)
}

// SumRows is the SHA-256 of the columns and records of a table in their order: the names
// of the columns, and of each cell whether it is null and its text (see [AppendText]). The
// same table has the same sum in every format that shows the same text.
func SumRows(ctx context.Context, src Source) (sum [SumSize]byte, err error) {
	columns := src.Columns()
	h := sha256.New()
	buf := append([]byte(nil), "noren/table/rows/1\x00"...)
	buf = binary.AppendUvarint(buf, uint64(len(columns)))
	for i := range columns {
		buf = appendSized(buf, columns[i].Name)
	}
	r, err := src.Open(ctx, nil)
	if err != nil {
		return sum, err
	}
	defer func() { _ = r.Close() }()
	var text []byte
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return sum, err
		}
		for i := range c.Rows {
			for j := range c.Cols {
				v := &c.Cols[j]
				if v.IsNull(i) {
					buf = append(buf, 0)
					continue
				}
				text = AppendText(text[:0], &columns[j], v, i)
				buf = appendSized(append(buf, 1), text)
			}
			if len(buf) >= 64<<10 {
				h.Write(buf)
				buf = buf[:0]
			}
		}
	}
	h.Write(buf)
	h.Sum(sum[:0])
	return sum, nil
}

func appendSized[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// SumFile is the SHA-256 of how the bytes of a file are read and of these bytes: what a
// format has as its sum. bytes is the SHA-256 of the bytes.
func SumFile(format string, bytes [SumSize]byte) [SumSize]byte {
	return sha256.Sum256(append(appendSized([]byte("noren/table/file/1\x00"), format), bytes[:]...))
}

// SumBytes is the SHA-256 of size bytes of a file.
func SumBytes(ctx context.Context, f io.ReaderAt, size int64) (sum [SumSize]byte, err error) {
	h := sha256.New()
	if _, err := io.Copy(h, &interrupted{ctx, io.NewSectionReader(f, 0, size)}); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// interrupted reads until its context ends.
type interrupted struct {
	ctx context.Context
	in  io.Reader
}

func (r *interrupted) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// SumAll is the sum of a table in several files from the sums of its files, in their
// order. That of one file is its own.
func SumAll(sums [][SumSize]byte) [SumSize]byte {
	if len(sums) == 1 {
		return sums[0]
	}
	h := sha256.New()
	h.Write(binary.AppendUvarint([]byte("noren/table/files/1\x00"), uint64(len(sums))))
	for i := range sums {
		h.Write(sums[i][:])
	}
	return [SumSize]byte(h.Sum(nil))
}

// SumInto writes the values of a vector to h, with their number and their kind.
func SumInto(h hash.Hash, v *Vector, n int) {
	buf := append(make([]byte, 0, 16+n*9), byte(v.Kind))
	buf = binary.AppendUvarint(buf, uint64(n))
	for i := range n {
		if v.IsNull(i) {
			buf = append(buf, 0)
			continue
		}
		buf = append(buf, 1)
		switch v.Kind {
		case Int:
			buf = binary.LittleEndian.AppendUint64(buf, uint64(v.Ints[i]))
		case Float:
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v.Floats[i]))
		default:
			buf = appendSized(buf, v.Texts[i])
		}
	}
	h.Write(buf)
}
