package file

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// WithNumbers is src with the numbers of the fields that have a number format
// rewritten in the plain format, and the fields without that format. Everything
// read from it, and every file written of it, holds plain numbers. A text that is
// no number of the format stays as it is, so that the type of the column judges
// it; one that is a number in the plain format alone is an error of kind BadData
// with its place. fields has a field for each column of src, in order. Closing the
// source closes src. Without any number format it is src itself.
func WithNumbers(src Source, fields []table.Field) (Source, []table.Field, error) {
	readers := make([]*table.NumberReader, len(fields))
	plain := append([]table.Field{}, fields...)
	some := false
	for i := range fields {
		f := &plain[i]
		if f.Number == "" {
			continue
		}
		where := table.PlaceOf(src, noren.Textf("column %s", f.Name))
		if c := src.Columns()[i]; c.Kind != table.Text || c.AppendText != nil {
			return nil, nil, &noren.Error{
				Kind: noren.Usage, Where: where,
				What: "expected text, as a number format is given, and the file stores %s", Args: []any{fmt.Sprint(f.Type)},
				Hint: "leave the format out",
			}
		}
		r, err := f.Number.Reader()
		if err != nil {
			return nil, nil, &noren.Error{Kind: noren.Usage, Where: where, Err: err}
		}
		readers[i], f.Number, some = r, "", true
	}
	if !some {
		return src, plain, nil
	}
	formats := make([]table.NumberFormat, len(fields))
	for i := range fields {
		formats[i] = fields[i].Number
	}
	return &numbers{Source: src, readers: readers, formats: formats}, plain, nil
}

// numbers is a source whose formatted numbers are plain.
type numbers struct {
	Source
	readers []*table.NumberReader // for each column, nil for none
	formats []table.NumberFormat  // for each column, empty for none
}

// Unwrap is the source as it is written.
func (s *numbers) Unwrap() table.Source { return s.Source }

// Open implements [table.Source].
func (s *numbers) Open(ctx context.Context, columns []int) (table.Reader, error) {
	r, err := s.Source.Open(ctx, columns)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = make([]int, len(s.readers))
		for i := range columns {
			columns[i] = i
		}
	}
	n := &numberReader{Reader: r, readers: make([]*table.NumberReader, len(columns)), texts: make([][][]byte, len(columns))}
	for i, c := range columns {
		n.readers[i] = s.readers[c]
	}
	return n, nil
}

type numberReader struct {
	table.Reader
	readers []*table.NumberReader
	texts   [][][]byte
	arena   []byte
	chunk   table.Chunk
}

// Next implements [table.Reader].
func (r *numberReader) Next() (*table.Chunk, error) {
	c, err := r.Reader.Next()
	if err != nil {
		return nil, err
	}
	r.chunk = table.Chunk{First: c.First, Rows: c.Rows, Cols: append(r.chunk.Cols[:0], c.Cols...)}
	r.arena = r.arena[:0]
	for i, reader := range r.readers {
		if reader == nil {
			continue
		}
		v := &r.chunk.Cols[i]
		r.texts[i] = r.texts[i][:0]
		for row := range c.Rows {
			if v.IsNull(row) {
				r.texts[i] = append(r.texts[i], nil)
				continue
			}
			from := len(r.arena)
			if r.arena, err = reader.Read(r.arena, v.Texts[row]); err != nil {
				return nil, &noren.Error{
					Kind: noren.BadData, Where: r.Position(row, i), What: noren.TextOf(err).Format, Args: noren.TextOf(err).Args,
					Hint: "correct the file, or give the column another format",
				}
			}
			r.texts[i] = append(r.texts[i], r.arena[from:len(r.arena):len(r.arena)])
		}
		v.Texts = r.texts[i]
	}
	return &r.chunk, nil
}
