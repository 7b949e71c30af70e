package parquetio

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
)

// Options say more about a file than its path does.
type Options struct {
	// Name stands for the file in errors. Defaults to the path.
	Name string
	// Limits bound what reading the file takes. Default to those of package meter.
	Limits meter.Limits
}

// File is what a table is read from: an [os.File], or a temporary one.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Source is a Parquet table. It may be read by several readers at a time.
type Source struct {
	name    string
	file    File
	size    int64
	changed time.Time
	parquet *parquet.File
	columns []table.StoredColumn
	origins []*origin
	rows    int64
	limits  meter.Limits
	meter   *meter.Meter   // of the description; readers have their own
	chunks  [][]chunkPlace // by row group and column chunk
	leaves  []leaf         // by column chunk
}

var _ table.Source = (*Source)(nil)

// origin is the format's own description of a column.
type origin struct {
	node  parquet.Node // type, encoding and compression; with its repetition where nested is set
	field int          // field id; 0 for none
	form  form
	// first and leaves say which column chunks of a row group hold the column.
	first, leaves int
	nested        *nested     // nil for one value a record
	empty         bool        // the type says that every value is null
	arrow         *arrowField // what the file's Arrow schema says; nil for nothing
}

// OpenFile opens the table in the file f; opts.Name is its name. A file that is
// damaged, encrypted, no Parquet file or not flat is an error of kind BadData. The source owns the
// file and closes it, at once when OpenFile fails.
func OpenFile(f File, opts Options) (*Source, error) {
	src := &Source{name: opts.Name, file: f, limits: opts.Limits}
	if err := src.open(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return src, nil
}

func (src *Source) open() error {
	info, err := src.file.Stat()
	switch {
	case err != nil:
		return &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
	case info.IsDir():
		return &noren.Error{Kind: noren.Usage, Where: noren.File(src.name), What: "is a folder", Hint: "name a file"}
	case !info.Mode().IsRegular():
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(src.name), Code: "not-regular",
			What: "is no regular file and cannot be read twice", Hint: "copy it to a regular file, or read it as a stream",
		}
	}
	src.size, src.changed = info.Size(), info.ModTime()
	if err := src.checkEnds(); err != nil {
		return err
	}
	src.meter = meter.New(src.limits, src.size)
	var f *footer
	err = guard(func() (err error) {
		plain, err := src.uncompressed()
		if err != nil {
			return err
		}
		f = plain.walked
		src.parquet, err = parquet.OpenFile(plain, src.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		return src.locate(f)
	})
	if err != nil {
		return src.damaged(noren.Textf("the file's description of itself is damaged"), err)
	}
	err = guard(func() error { return src.describe(f) })
	var own *noren.Error
	if err != nil && !errors.As(err, &own) {
		return src.damaged(noren.Textf("the file's description of itself is damaged"), err)
	}
	return err
}

// checkEnds looks at the marks at both ends and the length between them, before
// anything is built on them.
func (src *Source) checkEnds() error {
	bad := func(what, hint noren.Format) error {
		return &noren.Error{Kind: noren.BadData, Where: noren.File(src.name), What: what, Hint: hint}
	}
	const least = 12 // two marks and a length
	if src.size < least {
		return bad("is too short to be a Parquet file", "")
	}
	var head, tail [8]byte
	if _, err := src.file.ReadAt(head[:], 0); err != nil {
		return &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	if _, err := src.file.ReadAt(tail[:], src.size-8); err != nil {
		return &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	switch {
	case string(head[:4]) == "PARE" || string(tail[4:]) == "PARE":
		return bad("is an encrypted Parquet file", "decrypt it first")
	case string(head[:4]) != "PAR1":
		return bad("is not a Parquet file", "")
	case string(tail[4:]) != "PAR1":
		return bad("does not end as a Parquet file does: it was cut short or not finished", "copy or make it again")
	case int64(binary.LittleEndian.Uint32(tail[:4])) > src.size-least:
		return bad("the file's description of itself is damaged", "copy or make it again")
	}
	return nil
}

// describe fills in the columns.
func (src *Source) describe(f *footer) error {
	meta := src.parquet.Metadata()
	root := src.parquet.Root()
	seen := map[string]bool{}
	walk := &walk{meta: meta, element: 1}
	if len(f.codecs) > 0 {
		walk.codecs = f.codecs[0]
	}
	for i, c := range root.Columns() {
		at := noren.Position{File: src.name, Field: i + 1, Column: c.Name()}
		bad := func(what, hint noren.Format) error {
			return &noren.Error{Kind: noren.BadData, Where: at, What: what, Hint: hint}
		}
		switch {
		case c.Name() == "":
			return bad("the column has no name", "")
		case seen[c.Name()]:
			return bad("another column has this name already", "give every column a name of its own")
		}
		seen[c.Name()] = true
		o, err := walk.column(c)
		if err != nil {
			return bad("is of a type that is not known", "write it as another type")
		}
		src.origins = append(src.origins, o)
		src.columns = append(src.columns, table.StoredColumn{
			Name: c.Name(), Kind: o.form.kind, Nullable: c.Optional(), Proposed: o.form.proposed, Logical: o.form.logical, Nested: o.nested != nil,
			Origin: o, AppendText: o.form.show,
		})
	}
	src.leaves = walk.leaves
	if len(src.columns) == 0 {
		return &noren.Error{Kind: noren.BadData, Where: noren.File(src.name), What: "has no columns"}
	}
	for _, g := range src.parquet.RowGroups() {
		n := g.NumRows()
		if n < 0 || len(g.ColumnChunks()) != walk.leaf {
			return errors.New("row groups do not fit the schema")
		}
		src.rows += n
	}
	if src.rows != meta.NumRows || src.rows < 0 {
		return errors.New("row groups do not add up")
	}
	for _, o := range src.origins {
		if o.empty && !allNull(meta, o.first) {
			return errors.New("values in a column of nulls")
		}
	}
	src.metadata()
	return nil
}

// metadata takes from the file's key-value metadata what describes columns. It
// is what tools say of themselves: one that cannot be read says nothing.
func (src *Source) metadata() {
	if text, ok := src.parquet.Lookup(arrowKey); ok {
		fields, err := parseArrowSchema(text)
		if err == nil && len(fields) == len(src.columns) {
			for i, f := range fields {
				if f != nil && f.name == src.columns[i].Name {
					src.origins[i].arrow = f
				}
			}
		}
	}
	if text, ok := src.parquet.Lookup("pandas"); ok {
		index := pandasIndex(text)
		for i := range src.columns {
			src.columns[i].Index = index[src.columns[i].Name]
		}
	}
}

// dictionaryCoded reports whether column i was stored with a dictionary.
func dictionaryCoded(meta *format.FileMetaData, i int) bool {
	if len(meta.RowGroups) == 0 || len(meta.RowGroups[0].Columns) <= i {
		return false
	}
	for _, e := range meta.RowGroups[0].Columns[i].MetaData.Encoding {
		if strings.HasSuffix(e.String(), "_DICTIONARY") { // RLE_, or PLAIN_ by old writers
			return true
		}
	}
	return false
}

// annotated is a type as the library understands it, described as it was in the
// file: the library's own descriptions say more at times, or less.
type annotated struct {
	parquet.Type
	logical   *format.LogicalType
	converted *deprecated.ConvertedType
}

func annotate(t parquet.Type, element *format.SchemaElement) annotated {
	a := annotated{Type: t}
	if element.LogicalType.Value != nil {
		a.logical = &element.LogicalType
	}
	if element.ConvertedType.Valid {
		a.converted = &element.ConvertedType.V
		if *a.converted == deprecated.Decimal && a.logical == nil {
			a.logical = t.LogicalType() // places and digits are written only with it
		}
	}
	return a
}

// LogicalType implements [parquet.Type].
func (a annotated) LogicalType() *format.LogicalType { return a.logical }

// ConvertedType implements [parquet.Type].
func (a annotated) ConvertedType() *deprecated.ConvertedType { return a.converted }

// Name implements [table.Source].
func (src *Source) Name() string { return src.name }

// Columns implements [table.Source].
func (src *Source) Columns() []table.StoredColumn { return src.columns }

// Rows is the number of records.
func (src *Source) Rows() int64 { return src.rows }

// Close closes the file. Readers that are still open fail.
func (src *Source) Close() error { return src.file.Close() }

// unchanged fails when the file was written to since it was opened.
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

// damaged makes an error of a failure of the library. Its own text is left out,
// as nothing keeps values out of it.
func (src *Source) damaged(what noren.Text, err error) error {
	if excess := meter.At(err, noren.File(src.name)); excess != nil {
		return excess
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return &noren.Error{Where: noren.File(src.name), What: "cannot be read", Err: system}
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(src.name), What: what.Format, Args: what.Args,
		Hint: "copy or make the file again",
	}
}

// guard is the border to the library: what panics in it is an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = noren.Reasonf("the reader panicked: %T", r)
		}
	}()
	return f()
}
