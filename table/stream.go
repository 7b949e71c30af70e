package table

import (
	"context"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
)

// Kind is the form in which a column's values travel in a [Vector].
type Kind uint8

const (
	// Text is bytes: text as written, or the raw bytes of a binary column.
	Text Kind = iota
	// Int is a 64-bit integer: integers, booleans (0, 1), dates and instants
	// as their file counts them.
	Int
	// Float is a 64-bit floating-point number.
	Float
)

// Vector is a run of values of one column. The slice that is filled follows
// from Kind. Null is nil when no value is missing. In a text file nothing is
// null: what stands for a missing value is text like any other.
type Vector struct {
	Kind   Kind
	Null   []bool
	Ints   []int64
	Floats []float64
	Texts  [][]byte
}

// IsNull reports whether value i is absent from the file.
func (v *Vector) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// Chunk is a run of consecutive records of some columns. Its memory belongs to
// the reader that returned it and is good until the next call.
type Chunk struct {
	First int64 // 0-based number of its first record in the file
	Rows  int
	Cols  []Vector
}

// StoredColumn describes a column as a file stores it.
type StoredColumn struct {
	Name     string
	Kind     Kind
	Nullable bool
	// Proposed is the type that the file itself declares for the column, when
	// it declares one (Parquet); text files declare none.
	Proposed *Type
	// Logical is what the numbers of the column count.
	Logical Logical
	// Nested says that a value is a list, a map or a group (Parquet); as text
	// it is JSON. Such a column can be dropped or kept as it is; package
	// table/file does not read it as a typed column.
	Nested bool
	// Index says that the file calls the column the row index of the tool that
	// wrote it (pandas), and so no data. Where no role is given, it is dropped.
	Index bool
	// Origin is the format's own description of the column. Only the format
	// that wrote it reads it; it lets a column come out stored exactly as it
	// went in. Nil for text, and for a column that a release made.
	Origin any
	// AppendText appends value i of v as text, as a text file would show it
	// and as [Builder.Append] reads it (dates in ISO form). Nil means: the
	// Text bytes as they are, Int in decimal, Float in the shortest form that
	// reads back the same.
	AppendText func(dst []byte, v *Vector, i int) []byte
}

// Source is a table file that can be read from its start any number of times.
type Source interface {
	// Name is the name by which the file was opened. Where its table is said in a text, [PlaceOf] names the
	// sheet or the table in the file as well.
	Name() string
	// Columns describes the columns in file order.
	Columns() []StoredColumn
	// Open starts reading the columns at the given positions, in that order;
	// nil reads all.
	Open(ctx context.Context, columns []int) (Reader, error)
}

// Reader returns a table's records in order.
type Reader interface {
	// Next returns the next records, or io.EOF after the last. The chunk is
	// good until the next call. A bad record is an error of kind BadData that
	// names the file, line and column.
	Next() (*Chunk, error)
	// Position tells where in the file value (record, column) of the chunk
	// last returned stands; column is an index into that chunk's columns.
	Position(record, column int) noren.Place
	// Progress is the share of the file that has been read, in [0,1].
	Progress() float64
	Close() error
}

// Sink writes a table file. Nothing can be seen under the file's final name
// by what a Sink does: it writes to the file that it was given, and its maker renames the file.
type Sink interface {
	// Write appends the chunk's records. The chunk is not kept.
	Write(c *Chunk) error
	// Close ends the file and syncs it to disk.
	Close() error
	// Abort gives the file up; its remains are removed.
	Abort()
}

// AppendText appends value i of v, a vector of the column c, as text: by the
// column's own AppendText, or by the rule that stands where it has none. A
// null appends nothing.
func AppendText(dst []byte, c *StoredColumn, v *Vector, i int) []byte {
	switch {
	case v.IsNull(i):
		return dst
	case c.AppendText != nil:
		return c.AppendText(dst, v, i)
	case v.Kind == Int:
		return strconv.AppendInt(dst, v.Ints[i], 10)
	case v.Kind == Float:
		return appendFloat(dst, v.Floats[i])
	default:
		return append(dst, v.Texts[i]...)
	}
}

// appendFloat appends f in the shortest form that reads back the same, with an
// exponent only below 1e-6 and from 1e21 on: a million is 1000000.
func appendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
