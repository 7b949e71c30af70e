package spool

import (
	"bufio"
	"encoding/binary"
	"math"
	"time"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
)

// Column describes a column that is kept.
type Column struct {
	// Name of the column. Required.
	Name string
	// Expected is the type of a column without any value. Defaults to Text.
	Expected Tag
	// Single says that floating point is of 32 bits and shown with its digits.
	Single bool
	// Origin is the format's own description: see [table.StoredColumn].
	Origin any
}

// Options describe the table.
type Options struct {
	// Name is the name of the table as a source: the one by which its file was opened. Required.
	Name string
	// Place is where the table is, in texts. Defaults to the file that Name is.
	Place noren.Place
	// Dir is the folder of the temporary file. Defaults to the system's.
	Dir string
	// Rows says that the numbers that EndRow is given are rows of a sheet, and not records.
	Rows bool
	// Progress receives the number of records kept so far, as the stage "reading".
	// Optional.
	Progress noren.Progress
	// Columns of the table. Required. Origins may be set until Finish.
	Columns []Column
}

// place is where the table is.
func (o *Options) place() noren.Place {
	if o.Place != nil {
		return o.Place
	}
	return noren.Place{noren.File(o.Name)}
}

// Writer takes a table row by row: a call of Null, Int, Float or Bytes for each
// column in order, then EndRow. Close gives it up; after Finish it does nothing.
type Writer struct {
	o     Options
	file  *tempfile.File
	out   *bufio.Writer
	row   []byte
	at    int // column
	tags  []set
	wide  []bool
	rows  int64
	line  int64
	size  int64
	nulls int
	told  time.Time // when progress was last reported

	looks  table.Looks // of the row that is not ended
	totals int64       // rows of totals or notes
	tail   int64       // rows below the last record that are none
	some   bool        // there is a record
}

// NewWriter begins a table.
func NewWriter(o Options) (*Writer, error) {
	f, err := tempfile.Create(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Writer{o: o, file: f, out: bufio.NewWriterSize(f, 256<<10), tags: make([]set, len(o.Columns)), wide: make([]bool, len(o.Columns))},
		nil
}

// Null adds a cell without a value.
func (w *Writer) Null() {
	w.row = append(w.row, byte(Null))
	w.at++
	w.nulls++
}

// number stands for the text of a number, which names no total and begins no note.
var number = []byte("0")

// Int adds a cell that counts.
func (w *Writer) Int(t Tag, v int64) {
	w.row = appendNumber(w.row, t, uint64(v))
	w.tags[w.at] |= 1 << t
	w.looks.Take(number)
	if t == Integer && (v > exactFloat || v < -exactFloat) {
		w.wide[w.at] = true
	}
	w.at++
}

// Float adds a cell of floating point.
func (w *Writer) Float(v float64) {
	w.row = appendNumber(w.row, Float, math.Float64bits(v))
	w.tags[w.at] |= 1 << Float
	w.looks.Take(number)
	w.at++
}

// Bytes adds a cell of text: of tag Text, Decimal or Fault. It reports whether
// the text is valid UTF-8.
func (w *Writer) Bytes(t Tag, text []byte) bool {
	w.row = append(w.row, byte(t))
	w.row = binary.AppendUvarint(w.row, uint64(len(text)))
	w.row = append(w.row, text...)
	w.tags[w.at] |= 1 << t
	if len(text) > 0 {
		w.looks.Take(text)
	}
	w.at++
	return utf8.Valid(text)
}

// DropRow forgets the cells of the row that is not ended.
func (w *Writer) DropRow() { w.row, w.at, w.nulls, w.looks = w.row[:0], 0, 0, table.Looks{} }

// EndRow ends a row. line is its number in the file, for places in errors.
func (w *Writer) EndRow(line int64) error {
	var head [2 * binary.MaxVarintLen64]byte
	h := binary.AppendUvarint(head[:0], uint64(len(w.row)))
	h = binary.AppendUvarint(h, uint64(line-w.line))
	_, err := w.out.Write(h)
	if err == nil {
		_, err = w.out.Write(w.row)
	}
	if err != nil {
		return w.full(err)
	}
	w.size += int64(len(h) + len(w.row))
	w.line = line
	w.rows++
	switch w.looks.End(len(w.o.Columns)) {
	case table.TotalRow:
		w.totals++
	case table.TailRow:
		w.tail++
	default:
		w.some, w.tail = true, 0
	}
	w.report()
	w.DropRow()
	return nil
}

// The clock is read after every 1024 rows, and progress reported every 100 ms.
const (
	between = 100 * time.Millisecond
	every   = 1024
)

func (w *Writer) report() {
	if w.o.Progress == nil || w.rows%every != 0 {
		return
	}
	if now := time.Now(); now.Sub(w.told) >= between {
		w.told = now
		w.o.Progress.Report("reading", w.rows, 0)
	}
}

func (w *Writer) full(err error) error {
	return &noren.Error{
		Where: w.o.place(), What: "cannot be kept in a temporary file", Hint: "set TMPDIR to a folder with free space",
		Err: atomicfile.Reason(err),
	}
}

// RowSize is how many bytes the row that is not ended takes.
func (w *Writer) RowSize() int { return len(w.row) }

// Rows is the number of rows so far.
func (w *Writer) Rows() int64 { return w.rows }

// Close gives the table up.
func (w *Writer) Close() {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
}

// Finish ends the table and offers it.
func (w *Writer) Finish() (*Source, error) {
	if err := w.out.Flush(); err != nil {
		w.Close()
		return nil, w.full(err)
	}
	src := &Source{o: w.o, file: w.file, size: w.size, rows: w.rows, totals: w.totals}
	if w.some {
		src.totals += w.tail
	}
	w.file = nil
	for i := range w.o.Columns {
		c := &w.o.Columns[i]
		tags := w.tags[i]
		if tags == 0 && c.Expected != Null {
			tags = setOf(c.Expected)
		}
		s := shapeOf(tags, w.wide[i])
		stored := table.StoredColumn{
			Name: c.Name, Kind: s.kind, Nullable: true, Proposed: s.proposed, Logical: s.logical, Origin: c.Origin,
			AppendText: s.logical.Show(),
		}
		if c.Single && s.kind == table.Float {
			stored.AppendText = showSingle
		}
		src.shapes = append(src.shapes, s)
		src.columns = append(src.columns, stored)
	}
	return src, nil
}

// Shown is the text of the cells of the row that is not ended, one after the
// other.
func (w *Writer) Shown() string {
	var out []byte
	for row := w.row; len(row) > 0; {
		t := Tag(row[0])
		row = row[1:]
		switch {
		case t == Null:
		case t.isText():
			n, size := binary.Uvarint(row)
			out = append(out, row[size:size+int(n)]...)
			row = row[size+int(n):]
		default:
			out = appendShown(out, t, binary.LittleEndian.Uint64(row))
			row = row[8:]
		}
	}
	return string(out)
}

// SetOrigin sets the origin of column i.
func (w *Writer) SetOrigin(i int, origin any) { w.o.Columns[i].Origin = origin }
