package parquetio

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
)

// A row group ends after groupRows records or groupBytes bytes of text, which are
// kept in memory.
const (
	groupRows  = 1 << 17
	groupBytes = 64 << 20
)

// Sink writes a Parquet table. A column with an Origin of this package is
// stored as it was there; else Text is stored as strings, Int as 64-bit
// integers or as what its Logical says, and Float as 64-bit floating point,
// compressed by Snappy. Text of another format is stored as it is shown.
type Sink struct {
	name    string
	columns []table.StoredColumn
	origins []*origin
	out     *atomicfile.Output
	writer  *parquet.GenericWriter[any]
	values  []parquet.Value
	first   []int // by column: its first column chunk
	leaves  int   // column chunks in all
	rows    int   // in the row group
	bytes   int64 // of text in the row group
	records int64
	err     error // once a write failed
	closed  bool
}

var _ table.Sink = (*Sink)(nil)

// NewSink begins a table on w; name stands for the file in errors. Close ends
// the table and, where w has a Sync method, syncs it, but does not close w.
func NewSink(w io.Writer, name string, columns []table.StoredColumn) (*Sink, error) {
	out := &atomicfile.Output{Writer: w}
	s := &Sink{name: name, columns: columns, out: out}
	if len(columns) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "a table needs a column at least"}
	}
	g := &group{}
	seen := map[string]bool{}
	for i := range columns {
		c := &columns[i]
		if c.Name == "" || seen[c.Name] {
			at := noren.Position{File: name, Field: i + 1, Column: c.Name}
			return nil, &noren.Error{Kind: noren.Usage, Where: at, What: "every column needs a name of its own"}
		}
		seen[c.Name] = true
		o, ok := c.Origin.(*origin)
		if !ok {
			o = defaultOrigin(c)
		}
		if o.form.kind != c.Kind {
			return nil, &noren.Error{
				Where: noren.File(name), What: "column %s is described as of another kind than it is stored",
				Args: []any{c.Name},
			}
		}
		s.origins = append(s.origins, o)
		s.first = append(s.first, s.leaves)
		s.leaves += max(1, o.leaves)
		node := o.node
		if c.Nullable && o.nested == nil {
			node = parquet.Optional(node)
		}
		if o.field != 0 {
			node = parquet.FieldID(node, o.field)
		}
		g.fields = append(g.fields, field{node, c.Name})
	}
	err := guard(func() error {
		options := []parquet.WriterOption{parquet.NewSchema("table", g), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("noren", "", "")}
		if schema := formatArrowSchema(columns, s.origins); schema != "" {
			options = append(options, parquet.KeyValueMetadata(arrowKey, schema))
		}
		s.writer = parquet.NewGenericWriter[any](out, options...)
		return nil
	})
	if err != nil {
		return nil, s.failed(err)
	}
	return s, nil
}

func defaultOrigin(c *table.StoredColumn) *origin {
	k := c.Kind
	switch k {
	case table.Int:
		if node := logicalNode(c.Logical); node != nil {
			return &origin{node: node, form: form{kind: k}}
		}
		return &origin{node: parquet.Leaf(parquet.Int64Type), form: form{kind: k}}
	case table.Float:
		return &origin{node: parquet.Leaf(parquet.DoubleType), form: form{kind: k}}
	}
	return &origin{node: parquet.Encoded(parquet.String(), &parquet.RLEDictionary), form: form{kind: k}}
}

// logicalNode stores what other formats count, nil for plain numbers.
func logicalNode(l table.Logical) parquet.Node {
	unit := parquet.Nanosecond
	switch l.PerSecond {
	case 1000:
		unit = parquet.Millisecond
	case 1_000_000:
		unit = parquet.Microsecond
	}
	switch l.Of {
	case table.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case table.Day:
		return parquet.Date()
	case table.Instant:
		return parquet.TimestampAdjusted(unit, false)
	case table.UTCInstant:
		return parquet.TimestampAdjusted(unit, true)
	case table.Clock:
		return parquet.TimeAdjusted(unit, false)
	}
	return nil
}

// group is the root of a schema, or a group in it. The library's own sorts its
// fields by name.
type group struct {
	fields []parquet.Field
	said   *annotated // what the file says of a group's type; nil for the root
}

type field struct {
	parquet.Node
	name string
}

// Name implements [parquet.Field].
func (f field) Name() string { return f.name }

// Value implements [parquet.Field]; no Go values are written by this schema.
func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// The rest implements [parquet.Node].
func (g *group) ID() int                     { return 0 }
func (g *group) String() string              { return "table" }
func (g *group) Optional() bool              { return false }
func (g *group) Repeated() bool              { return false }
func (g *group) Required() bool              { return true }
func (g *group) Leaf() bool                  { return false }
func (g *group) Fields() []parquet.Field     { return g.fields }
func (g *group) Encoding() encoding.Encoding { return nil }
func (g *group) Compression() compress.Codec { return nil }
func (g *group) GoType() reflect.Type        { return reflect.TypeFor[struct{}]() }

// Type implements [parquet.Node].
func (g *group) Type() parquet.Type {
	if g.said != nil {
		return *g.said
	}
	return parquet.Group{}.Type()
}

// Write implements [table.Sink]. A value that the column's type cannot hold is
// an error of kind BadData.
func (s *Sink) Write(c *table.Chunk) error {
	if s.err == nil {
		s.err = s.write(c)
	}
	return s.err
}

func (s *Sink) write(c *table.Chunk) error {
	if len(c.Cols) != len(s.columns) {
		return &noren.Error{
			Where: noren.File(s.name), What: "got a chunk of %d {column|columns} for a table of %d",
			Args: []any{len(c.Cols), len(s.columns)},
		}
	}
	for from := 0; from < c.Rows; {
		n := min(c.Rows-from, groupRows-s.rows)
		for i := range c.Cols {
			if s.origins[i].nested != nil {
				if err := s.writeNested(i, &c.Cols[i], from, n); err != nil {
					return err
				}
				continue
			}
			if err := s.convert(i, &c.Cols[i], from, n); err != nil {
				return err
			}
			if err := s.put(s.first[i], s.values); err != nil {
				return err
			}
		}
		from += n
		s.rows += n
		s.records += int64(n)
		if s.rows >= groupRows || s.bytes >= groupBytes {
			if err := guard(s.writer.Flush); err != nil {
				return s.failed(err)
			}
			s.rows, s.bytes = 0, 0
		}
	}
	return nil
}

// put writes values, of whole records, to a column chunk.
func (s *Sink) put(leaf int, values []parquet.Value) error {
	err := guard(func() error {
		_, err := s.writer.ColumnWriters()[leaf].WriteRowValues(values)
		return err
	})
	if err != nil {
		return s.failed(err)
	}
	return nil
}

// convert puts n values of column i into s.values.
func (s *Sink) convert(i int, v *table.Vector, from, n int) error {
	s.values = s.values[:0]
	column, t := &s.columns[i], s.origins[i].node.Type()
	if v.Kind != column.Kind {
		return &noren.Error{Where: noren.File(s.name), What: "column %s is of another kind than was said", Args: []any{column.Name}}
	}
	level := 0
	if column.Nullable {
		level = 1
	}
	// What came from a Parquet file goes back as it was, whatever it is.
	_, own := column.Origin.(*origin)
	text := !own
	shown := text && column.AppendText != nil
	for row := from; row < from+n; row++ {
		if v.IsNull(row) {
			if !column.Nullable {
				return s.refuse(i, row-from, "a missing value in a column that can hold none")
			}
			s.values = append(s.values, parquet.NullValue().Level(0, 0, s.first[i]))
			continue
		}
		var value parquet.Value
		switch v.Kind {
		case table.Int:
			n := v.Ints[row]
			switch t.Kind() {
			case parquet.Boolean:
				value = parquet.BooleanValue(n != 0)
			case parquet.Int32:
				if unsigned := s.origins[i].form.unsigned; unsigned && (n < 0 || n > math.MaxUint32) || !unsigned && n != int64(int32(n)) {
					return s.refuse(i, row-from, "a number that does not fit into 32 bits")
				}
				value = parquet.Int32Value(int32(n))
			default:
				value = parquet.Int64Value(n)
			}
		case table.Float:
			if t.Kind() == parquet.Float {
				value = parquet.FloatValue(float32(v.Floats[row]))
			} else {
				value = parquet.DoubleValue(v.Floats[row])
			}
		default:
			b := v.Texts[row]
			if shown {
				b = column.AppendText(nil, v, row)
			}
			s.bytes += int64(len(b))
			switch t.Kind() {
			case parquet.Int96:
				if len(b) != 12 {
					return s.refuse(i, row-from, "a value of another length than the column's type has")
				}
				value = parquet.Int96Value(deprecated.Int96{
					binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
					binary.LittleEndian.Uint32(b[8:]),
				})
			case parquet.FixedLenByteArray:
				if len(b) != t.Length() {
					return s.refuse(i, row-from, "a value of another length than the column's type has")
				}
				value = parquet.FixedLenByteArrayValue(b)
			default:
				if text && !utf8.Valid(b) {
					return s.refuse(i, row-from, "a text that is not valid UTF-8")
				}
				value = parquet.ByteArrayValue(b)
			}
		}
		s.values = append(s.values, value.Level(0, level, s.first[i]))
	}
	return nil
}

// refuse makes an error about a value; row counts from the records written.
func (s *Sink) refuse(i, row int, what noren.Format) error {
	at := noren.Position{File: s.name, Record: s.records + int64(row) + 1, Field: i + 1, Column: s.columns[i].Name}
	return &noren.Error{Kind: noren.BadData, Where: at, What: what}
}

// failed makes an error of a failure of the library or the disk; only the
// system's own words are passed on.
func (s *Sink) failed(err error) error {
	e := &noren.Error{Where: noren.File(s.name), What: "cannot be written"}
	var p *fs.PathError
	if errors.As(err, &p) {
		e.Err = p.Err
	}
	return e
}

// Records is the number of records written.
func (s *Sink) Records() int64 { return s.records }

// Close implements [table.Sink].
func (s *Sink) Close() error {
	if s.closed {
		return s.err
	}
	if s.err != nil {
		s.Abort()
		return s.err
	}
	s.closed = true
	err := guard(s.writer.Close)
	if err = s.out.Close(err); err != nil {
		s.err = s.failed(err)
	}
	return s.err
}

// Abort implements [table.Sink].
func (s *Sink) Abort() {
	if s.closed {
		return
	}
	s.closed = true
	s.out.Remove()
}
