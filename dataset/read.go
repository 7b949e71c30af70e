package dataset

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parquetio"
)

// opened is a source together with its bytes.
type opened struct {
	file.Source
	bytes csvio.File
}

// Open opens f as the definition describes it: its kind, delimiter and encoding.
// Compression and a byte order mark are found in the bytes, as no text in one of
// the encodings begins like a packed file. The source owns f and closes it, at
// once if Open fails. name stands for the file in errors, which are those of the
// format's package with the code "structure" where they are about the content.
func Open(ctx context.Context, f csvio.File, name string, d *Definition) (file.Source, error) {
	c := d.complete()
	var src file.Source
	var err error
	if c.File.Kind == kindParquet {
		src, err = openParquet(f, name)
	} else {
		src, err = openText(ctx, f, name, c.File)
	}
	if err != nil {
		return nil, asStructure(noren.Place{noren.File(name)}, err)
	}
	return &opened{Source: src, bytes: f}, nil
}

func openParquet(f csvio.File, name string) (file.Source, error) {
	src, err := parquetio.OpenFile(f, parquetio.Options{Name: name})
	if err != nil {
		return nil, err
	}
	return src, nil
}

func openText(ctx context.Context, f csvio.File, name string, form File) (file.Source, error) {
	o := csvio.Options{Name: name, Plain: true}
	var err error
	if o.Delimiter, err = csvio.ParseDelimiter(form.Delimiter); err == nil {
		o.Encoding, err = csvio.ParseEncoding(form.Encoding)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	src, err := csvio.OpenFile(ctx, f, o)
	if err != nil {
		return nil, err
	}
	return src, nil
}

// Read reads the columns of fields and, where the unit is a column, the labels of
// the records, in one pass. Columns are in the order of fields; the labels are
// Unit, a category that is never typed. With keys it returns the column prints of
// all columns that it read, the unit column included.
//
// Reading is total: every cell has a value or is missing by the cell rule, so that
// Read fails on no table of the form that the definition describes, and maps
// neighbouring tables to equal or neighbouring tables (docs/differential-privacy.md,
// section 1.1, theorem A). It checks neither the number of records nor the columns
// that it does not read: after a grant the prints do that.
//
// A field that is not as the definition has it is an error of kind Usage, before
// anything is read. A file that cannot be decoded is an error of kind BadData, and
// Read returns it after it has read the file to its end; the caller withholds the
// answer and states no reason. Nothing is reported as progress.
func Read(ctx context.Context, src file.Source, d *Definition, fields []table.Field, k *Keys) (*table.Table, map[string]string, error) {
	p, err := newPlan(d, fields, k)
	if err != nil {
		return nil, nil, err
	}
	t, prints, err := p.read(ctx, src)
	if err == nil {
		return t, prints, nil
	}
	if e := drain(ctx, src); e != nil {
		err = e
	}
	return nil, nil, asStructure(table.PlaceOf(src), err)
}

// plan is what a reading reads: every column once.
type plan struct {
	fields []table.Field
	names  []string // of the stored columns that are read
	cells  []*cells // for each of names
	unit   *cells
}

func newPlan(d *Definition, fields []table.Field, k *Keys) (*plan, error) {
	p := &plan{fields: fields}
	at := func(name string) *cells {
		if i := slices.Index(p.names, name); i >= 0 {
			return p.cells[i]
		}
		c := &cells{}
		if k != nil {
			c.tape = newTape(k.Column, name)
		}
		p.names, p.cells = append(p.names, name), append(p.cells, c)
		return c
	}
	for i := range fields {
		f, err := d.Field(fields[i].Name)
		if err != nil {
			return nil, err
		}
		if err := sameType(f, fields[i]); err != nil {
			return nil, err
		}
		c := at(f.Name)
		if c.typed != nil {
			continue
		}
		if c.typed, c.other, err = newTyped(d, f); err != nil {
			return nil, err
		}
	}
	if d.Unit == "" || d.Unit == account.Record {
		return p, nil
	}
	f, err := d.Field(d.Unit)
	if err != nil {
		return nil, err
	}
	p.unit = at(f.Name)
	p.unit.labels, err = table.NewBuilder(table.Field{Name: f.Name, Type: table.Category}, d.Missing)
	return p, err
}

// sameType refuses a field that is not the definition's.
func sameType(pinned, asked table.Field) error {
	same := pinned.Type == asked.Type
	if pinned.Type == table.Ordered {
		same = same && slices.Equal(pinned.Levels, asked.Levels)
	}
	if pinned.Type == table.Date {
		same = same && (pinned.Layout == asked.Layout || asked.Layout == "" && pinned.Layout == table.ISODate)
	}
	if same {
		return nil
	}
	e := &noren.Error{
		Kind: noren.Usage, Code: "column-type", Where: noren.Textf("column %s", pinned.Name),
		What: "is %s in the definition, and was asked for as %s", Args: []any{pinned.Type, asked.Type},
	}
	if pinned.Type == asked.Type {
		e.Saying("has other levels or another layout in the definition of its %s values", pinned.Type)
	}
	return e
}

func (p *plan) read(ctx context.Context, src file.Source) (*table.Table, map[string]string, error) {
	positions, err := find(src, p.names)
	if err != nil {
		return nil, nil, err
	}
	all := src.Columns()
	for i, c := range p.cells {
		c.stored = &all[positions[i]]
	}
	t := &table.Table{}
	err = scan(ctx, src, positions, p.cells, func(_ table.Reader, c *table.Chunk) error {
		t.Rows += c.Rows
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	built := map[string]*table.Column{}
	prints := map[string]string(nil)
	for i, c := range p.cells {
		if c.typed != nil {
			built[p.names[i]] = c.typed.Column()
		}
		if c.tape != nil {
			if prints == nil {
				prints = map[string]string{}
			}
			prints[p.names[i]] = c.tape.print()
		}
	}
	for i := range p.fields {
		t.Columns = append(t.Columns, built[p.fields[i].Name])
	}
	if p.unit != nil {
		t.Unit = p.unit.labels.Column()
	}
	return t, prints, nil
}

// drain reads the bytes of a source that was opened by [Open] to their end, so
// that the work after a fault does not depend on its place.
func drain(ctx context.Context, src file.Source) error {
	o, ok := src.(*opened)
	if !ok {
		return ctx.Err()
	}
	buf := make([]byte, 256<<10)
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := o.bytes.ReadAt(buf, at)
		if err != nil {
			return nil // the end, or a failure that adds nothing to the first
		}
		at += int64(n)
	}
}
