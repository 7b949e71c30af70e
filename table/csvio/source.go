package csvio

import (
	"context"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// Options say how a file is written where that is not to be detected. The zero
// value detects everything.
type Options struct {
	// Name stands for the file in errors and tells, by its ending, what a file
	// probably is. Required.
	Name string
	// Delimiter stands between fields. Defaults to what the file looks like.
	Delimiter rune
	// Encoding defaults to what the file looks like.
	Encoding Encoding
	// Header defaults to HeaderNames.
	Header Header
	// HeaderRow is the line of the file that holds the names of the columns. What
	// stands above it is not read. Defaults to the first line, or to the second
	// where the first is one such as "sep=;"; with HeaderChecked, to the line below a title.
	HeaderRow int
	// Plain reads the strict form alone: no line "sep=;", no lines that end with
	// CR alone, no columns without a name at the end; and detects no encodings but
	// UTF-8 and Shift_JIS.
	Plain bool
	// Totals says what becomes of rows of totals. Defaults to TotalsRead. The strict form
	// knows none, and refuses TotalsLeft.
	Totals Totals
	// Formulas is how the file was written ([Dialect]): of formula.Text the marks are
	// taken off, and a text that would be a formula is a fault.
	Formulas formula.Choice
	// Limits bound what reading the file takes. Default to those of package meter.
	Limits meter.Limits
}

// Source is a text table. It may be read by several readers at a time.
type Source struct {
	name     string
	file     File
	size     int64
	changed  time.Time // when the file was last written, as far as it tells
	limits   meter.Limits
	dialect  Dialect
	columns  []table.StoredColumn
	nameless bool // the first line is the first record
	unmark   bool // see [Options], Formulas
	skip     int  // lines above the header
	width    int  // fields of the header, those without a name at the end included
	notes    []noren.Text
	sums     sums
	plain    bool // see [Options], Plain
	policy   Totals
	totals   atomic.Int64 // see [Source.Totals]
	first    atomic.Int64 // line of the first of them
	tail     atomic.Int64 // rows up to the last record; noTail while it is not known
}

var _ table.Source = (*Source)(nil)

// File is what a table is read from: an [os.File], or a temporary one.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// OpenFile opens the table in the file f; opts.Name is its name. What opts leaves open
// is detected: the packing, a byte order mark and the encoding by the bytes themselves;
// the delimiter by a first line such as "sep=;", else among comma, tab, semicolon and bar
// as the one that gives all records of the first 256 KiB as many fields as the header,
// the most of them, or as the name says where the bytes leave it open (tab for .tsv, else
// comma); the line end by the first line, and CR where the first 256 KiB hold no LF.
//
// Of the encodings, UTF-8 is tried first, then Shift_JIS, then EUC-JP. Text without a
// byte above 7F that holds the escape sequences of ISO-2022-JP is in that encoding, and
// text with a byte order mark of UTF-16, or with a NUL in every ASCII character, in
// UTF-16. Latin-1 and Windows-1252 are never detected: every file could be written in
// them.
//
// A file that is no text table (a workbook, an empty file) is an error of kind BadData.
// The source owns the file and closes it, at once when OpenFile fails.
func OpenFile(ctx context.Context, f File, opts Options) (*Source, error) {
	src, err := newSource(ctx, f, opts)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return src, nil
}

// newSource detects the dialect of f and reads its header.
func newSource(ctx context.Context, f File, opts Options) (*Source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &noren.Error{Where: noren.File(opts.Name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	src := &Source{name: opts.Name, limits: opts.Limits, file: f, size: info.Size(), changed: info.ModTime()}
	src.tail.Store(noTail)
	if opts.HeaderRow < 0 || opts.HeaderRow > maxHeaderRow || opts.HeaderRow > 1 && opts.Header == HeaderAbsent {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(opts.Name),
			What: "expected the names of the columns on line 1 to %d, got line %d", Args: []any{maxHeaderRow, opts.HeaderRow},
			Hint: "a table without names has no line for them",
		}
	}
	if opts.Plain && opts.Totals == TotalsLeft {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(opts.Name), What: "rows of totals or notes cannot be left out",
			Hint: "only the strict form is read: remove them from the file",
		}
	}
	src.plain, src.policy = opts.Plain, opts.Totals
	found, err := detect(ctx, f, src.size, opts)
	if err != nil {
		return nil, err
	}
	src.dialect, src.skip, src.notes = found.dialect, found.skip, found.notes
	src.nameless, src.unmark = opts.Header == HeaderAbsent, opts.Formulas == formula.Text
	if err := src.readHeader(!opts.Plain); err != nil {
		return nil, err
	}
	if opts.Header == HeaderChecked {
		if err := src.checkFirstLine(); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// maxHeaderRow bounds the lines above the header.
const maxHeaderRow = 1000

// readHeader fills in the columns. With trim, fields without a name at the end of
// the header are no columns.
func (src *Source) readHeader(trim bool) error {
	in, err := src.input(false, nil, src.meter())
	if err != nil {
		return err
	}
	defer in.close()
	s := newScanner(in, src.dialect, in.meter)
	if err := src.header(s, in); err != nil {
		return err
	}
	src.width = len(s.spans)
	named := src.width
	for trim && !src.nameless && named > 1 && s.spans[named-1].from == s.spans[named-1].to {
		named--
	}
	if named < src.width {
		src.notes = append(src.notes, noren.Textf("%d empty {column|columns} behind the last name {1|is|are} left out", src.width-named))
	}
	seen := make(map[string]int, named)
	for i, f := range s.spans[:named] {
		name := string(text(s.buf, f))
		if src.nameless {
			name = fmt.Sprintf("c%d", i+1)
		}
		at := func() noren.Position {
			return noren.Position{File: src.name, Line: s.fieldLine(s.pos, s.line, i), Field: i + 1}
		}
		if src.unmark && !src.nameless {
			plain, ok := formula.Unmark([]byte(name))
			if !ok {
				return &noren.Error{Kind: noren.BadData, Code: FormulaCode, Where: at(), What: whatFormula, Hint: hintFormula}
			}
			name = string(plain)
		}
		if name == "" {
			return &noren.Error{
				Kind: noren.BadData, Where: at(), What: "the column has no name",
				Hint: "the first line of the file must name every column",
			}
		}
		if first, twice := seen[name]; twice {
			return &noren.Error{
				Kind: noren.BadData, Where: at(), What: "the column has the name of column %d", Args: []any{first + 1},
				Hint: "give every column a name of its own",
			}
		}
		seen[name] = i
		src.columns = append(src.columns, table.StoredColumn{Name: name})
	}
	return nil
}

// above skips the lines above the header.
func (src *Source) above(s *scanner, in *input) error {
	if src.skip == 0 {
		return nil
	}
	switch s.skipLines(src.skip) {
	case complete:
		return nil
	case faulty:
		return src.faultError(&s.fault, 0)
	case finished:
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(src.name),
			What: "expected the names of the columns on line %d, got the end of the file", Args: []any{src.skip + 1},
		}
	}
	return in.failure(s.err, s.line, 0)
}

// header scans the first record.
func (src *Source) header(s *scanner, in *input) error {
	if err := src.above(s, in); err != nil {
		return err
	}
	for {
		switch s.scan() {
		case complete:
			if s.blank() {
				return &noren.Error{
					Kind: noren.BadData, Where: noren.Position{File: src.name, Line: s.line},
					What: "is blank, expected the names of the columns", Hint: "the first line of the file must name every column",
				}
			}
			return nil
		case faulty:
			return src.faultError(&s.fault, 0)
		case finished:
			return &noren.Error{
				Kind: noren.BadData, Where: noren.File(src.name),
				What: "the file is empty, expected a line with the names of the columns",
			}
		}
		if !s.fill() {
			return in.failure(s.err, s.line, 0)
		}
	}
}

// text is a field's text; it is not a part of buf where quotes are doubled.
func text(buf []byte, f span) []byte {
	if f.escaped {
		return unescape(nil, buf[f.from:f.to])
	}
	return buf[f.from:f.to]
}

// meter is a meter for one reading of the file.
func (src *Source) meter() *meter.Meter { return meter.New(src.limits, src.size) }

func (src *Source) input(ahead bool, sum hash.Hash, m *meter.Meter) (*input, error) {
	return newInput(src.name, io.NewSectionReader(src.file, 0, src.size), src.dialect, ahead, sum, m)
}

// unchanged fails when the file was written to since it was opened: what is
// read twice must be the same twice.
func (src *Source) unchanged() error {
	info, err := src.file.Stat()
	if err != nil {
		return &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	if info.Size() != src.size || !info.ModTime().Equal(src.changed) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(src.name), What: "the file was changed while it was read",
			Hint: "start again when nothing writes to it",
		}
	}
	return nil
}

// faultError makes an error of what is wrong with a record; record is its
// number, 0 for the header.
func (src *Source) faultError(f *fault, record int64) error {
	at := noren.Position{File: src.name, Line: f.line, Record: record, Field: f.field}
	if f.field > 0 && f.field <= len(src.columns) {
		at.Column = src.columns[f.field-1].Name
	}
	code := f.Code
	if f.what.Format == whatFormula {
		code = FormulaCode
	}
	return &noren.Error{Kind: noren.BadData, Code: code, Where: at, What: f.what.Format, Args: f.what.Args, Hint: f.hint}
}

// FormulaCode is the code of errors about a text that begins as a formula, in a file that
// is said to have none.
const FormulaCode = "formula"

const (
	whatFormula = "begins as a formula, expected an apostrophe before it"
	hintFormula = "the file was not written with formulas as text: read it with formulas kept"
)

// Name implements [table.Source].
func (src *Source) Name() string { return src.name }

// HeaderRow is the line of the file, from 1, that names the columns; 0 where none does.
func (src *Source) HeaderRow() int {
	if src.nameless {
		return 0
	}
	return src.skip + 1
}

// Dialect is how the file is written.
func (src *Source) Dialect() Dialect { return src.dialect }

// Notes say, a sentence each and without any value, how the file is read where
// that is not as UTF-8 with the names on its first line.
func (src *Source) Notes() []noren.Text { return src.notes }

// Columns implements [table.Source]: all are of kind Text and none is
// nullable.
func (src *Source) Columns() []table.StoredColumn { return src.columns }

// Close closes the file. Readers that are still open fail.
func (src *Source) Close() error { return src.file.Close() }
