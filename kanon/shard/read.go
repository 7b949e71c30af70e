package shard

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// tee is a source whose readers read further columns beside those that are asked for.
type tee struct {
	table.Source
	further []int
	// last holds the further columns of the chunk that was read last.
	last []table.Vector
}

// Open implements [table.Source].
func (t *tee) Open(ctx context.Context, columns []int) (table.Reader, error) {
	r, err := t.Source.Open(ctx, append(slices.Clone(columns), t.further...))
	if err != nil {
		return nil, err
	}
	return &teeReader{Reader: r, t: t, columns: len(columns)}, nil
}

type teeReader struct {
	table.Reader
	t       *tee
	columns int
	chunk   table.Chunk
}

// Next implements [table.Reader].
func (r *teeReader) Next() (*table.Chunk, error) {
	c, err := r.Reader.Next()
	if err != nil {
		return nil, err
	}
	r.t.last = c.Cols[r.columns:]
	r.chunk = table.Chunk{First: c.First, Rows: c.Rows, Cols: c.Cols[:r.columns]}
	return &r.chunk, nil
}

// read reads the quasi-identifiers of a file, and further columns as the file has them, in
// pieces. The codes of categories go by the order in which words are met first. It
// returns the descriptions of the columns once all of the file is read.
func (j *Job) read(ctx context.Context, n int, src table.Source, further []int,
	each func(columns []*table.Column, further []table.Vector) error,
) ([]*table.Column, error) {
	var fields []table.Field
	for _, i := range j.quasi() {
		fields = append(fields, j.schema.Fields[i])
	}
	t := &tee{Source: src, further: further}
	whole, err := table.ReadPieces(ctx, t, fields, table.ReadOptions{Missing: j.Missing}, func(builders []*table.Builder) error {
		if builders[0].Len() == 0 {
			return nil
		}
		columns := make([]*table.Column, len(builders))
		for a, b := range builders {
			columns[a] = b.Cut()
		}
		return each(columns, t.last)
	})
	if err != nil {
		return nil, err
	}
	if err := j.Shards[n].unchanged(); err != nil {
		return nil, err
	}
	return whole.Columns, nil
}

// recoder gives the codes of a file those of the whole table.
type recoder struct {
	where noren.Place
	heads []*table.Column
	index []map[string]uint32 // by column: of the words of a category
	ranks [][]uint32          // by column: of the words met so far
}

func newRecoder(where noren.Place, heads []*table.Column) *recoder {
	r := &recoder{where: where, heads: heads, index: make([]map[string]uint32, len(heads)), ranks: make([][]uint32, len(heads))}
	for a, h := range heads {
		if h.Field.Type != table.Category {
			continue
		}
		r.index[a] = make(map[string]uint32, len(h.Dict))
		for code, word := range h.Dict {
			r.index[a][word] = uint32(code)
		}
	}
	return r
}

// recode is a piece of columns with the codes of the whole table. A word or a number of
// places that no survey met is an error: the file has changed.
func (r *recoder) recode(columns []*table.Column) ([]*table.Column, error) {
	out := make([]*table.Column, len(columns))
	for a, c := range columns {
		h := r.heads[a]
		if c.Places > h.Places {
			return nil, changed(r.where)
		}
		if h.Field.Type != table.Category {
			whole := *c
			whole.Dict, whole.Places = h.Dict, h.Places
			out[a] = &whole
			continue
		}
		for _, word := range c.Dict[len(r.ranks[a]):] {
			code, known := r.index[a][word]
			if !known {
				return nil, changed(r.where)
			}
			r.ranks[a] = append(r.ranks[a], code)
		}
		whole := h.Blank(c.Len())
		for i, code := range c.Codes {
			if c.IsMissing(i) {
				whole.SetMissing(i)
			} else {
				whole.Codes[i] = r.ranks[a][code]
			}
		}
		out[a] = whole
	}
	return out, nil
}

// Frames is the input of a stage: Next returns one frame after the other, whose bytes are
// good until the next call, and [io.EOF] after the last.
type Frames interface {
	Next() ([]byte, error)
}

// each calls do for every frame.
func each(ctx context.Context, in Frames, do func(frame []byte) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		frame, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(frame); err != nil {
			return err
		}
	}
}

// fault is the error about processes that do not work together as they should.
func fault(what noren.Text) error {
	return &noren.Error{
		Code: "shard-fault", What: what.Format, Args: what.Args,
		Err: errors.New("the driver of the job passed on other frames than the stages made"),
	}
}
