package dataset

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// cells takes the cells of one stored column, in file order. The parts that are
// nil are left out.
type cells struct {
	stored *table.StoredColumn
	tape   *tape          // its print
	values *valueHash     // the prints of its values
	typed  *table.Builder // its values
	other  []byte         // model column: the state of every cell that has none
	labels *table.Builder // its texts
	review *reviewer
	buf    []byte
}

// take takes n cells. Neither builder refuses any text.
func (c *cells) take(v *table.Vector, n int) error {
	if v.Kind == table.Text && c.stored.AppendText == nil && v.Null == nil {
		return c.takeTexts(v.Texts[:n])
	}
	for i := range n {
		null := v.IsNull(i)
		// A null is missing, as the empty text is.
		c.buf = table.AppendText(c.buf[:0], c.stored, v, i)
		if c.tape != nil {
			c.tape.cell(null, c.buf)
		}
		if c.values != nil {
			c.values.cell(null, c.buf)
		}
		if err := c.value(i, c.buf); err != nil {
			return err
		}
	}
	return nil
}

// takeTexts is take for texts as a text file has them, one part after the other.
func (c *cells) takeTexts(texts [][]byte) error {
	if c.tape != nil {
		c.tape.texts(texts)
	}
	if c.values != nil {
		for _, text := range texts {
			c.values.cell(false, text)
		}
	}
	if c.typed != nil && c.other == nil && c.labels == nil && c.review == nil {
		for _, text := range texts {
			if err := c.typed.Append(text); err != nil {
				return err
			}
		}
		return nil
	}
	for i, text := range texts {
		if err := c.value(i, text); err != nil {
			return err
		}
	}
	return nil
}

// value shows a text to all parts but the prints.
func (c *cells) value(row int, text []byte) error {
	if c.review != nil {
		if err := c.review.cell(row, text); err != nil {
			return err
		}
	}
	if c.typed != nil {
		if err := appendValue(c.typed, text, c.other); err != nil {
			return err
		}
	}
	if c.labels != nil {
		return c.labels.Append(text)
	}
	return nil
}

// appendValue appends the value that text has by the cell rule; other is the state
// of every other cell of a model column, and nil for all other columns.
func appendValue(b *table.Builder, text, other []byte) error {
	if other == nil {
		return b.Append(text)
	}
	if !b.IsMissing(text) && b.Append(text) == nil {
		return nil
	}
	return b.Append(other)
}

// newTyped returns the builder for a column by the cell rule, and the state of
// other cells for the column of a model.
func newTyped(d *Definition, f table.Field) (b *table.Builder, other []byte, err error) {
	if b, err = table.NewBuilder(f, d.Missing); err != nil {
		return nil, nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("column %s", f.Name), Err: err}
	}
	if d.isModel(f.Name) {
		return b, []byte(d.Model.Other), nil
	}
	b.Total()
	return b, nil, nil
}

// scan reads the columns at positions once and shows each to its cells, several
// columns at a time. each, where it is not nil, sees every chunk after them.
func scan(ctx context.Context, src file.Source, positions []int, columns []*cells,
	each func(r table.Reader, c *table.Chunk) error,
) (err error) {
	r, err := src.Open(ctx, positions)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil && e != nil {
			err = e
		}
	}()
	for {
		c, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = parallel(len(columns), func(i int) error { return columns[i].take(&c.Cols[i], c.Rows) })
		if err == nil && each != nil {
			err = each(r, c)
		}
		if err != nil {
			return err
		}
	}
}

// errDamaged is a value that its file cannot show as text.
var errDamaged = errors.New("a stored value cannot be decoded")

// parallel calls work for 0..n-1 on several processors, and returns the error of
// the lowest. What panics, as the text form of a damaged value may, is an error.
func parallel(n int, work func(i int) error) error {
	errs := make([]error, n)
	one := func(i int) {
		defer func() {
			if recover() != nil {
				errs[i] = &noren.Error{Kind: noren.BadData, Err: errDamaged}
			}
		}()
		errs[i] = work(i)
	}
	var next atomic.Int64
	worker := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			one(i)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		wg.Go(worker)
	}
	worker()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the positions in src of the named columns.
func find(src file.Source, names []string) ([]int, error) {
	positions, err := table.Find(src, names)
	if err != nil {
		return nil, structure(table.PlaceOf(src), noren.Textf("does not have the columns of its definition"))
	}
	return positions, nil
}

// structure is the error for a file that is not of the form that its definition
// describes.
func structure(where any, what noren.Text) error {
	return &noren.Error{Kind: noren.BadData, Code: "structure", Where: where, What: what.Format, Args: what.Args}
}

// asStructure gives an error about the file's content the code of a structure
// fault, and its place where it has none.
func asStructure(where noren.Place, err error) error {
	var e *noren.Error
	if noren.KindOf(err) != noren.BadData || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Code = "structure"
	if out.Place() == "" {
		out.Where = where
	}
	return &out
}
