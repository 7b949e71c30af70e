package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// weighted is a weighted table with its meta data, held together.
type weighted struct {
	path    string
	meta    *ratio.Meta
	frame   *ratio.Frame
	points  *ratio.Points
	weights *ratio.Weights
	among   []bool // the records that --where is for; nil for all
	source  file.Source
}

// openWeighted reads a weighted table, makes its weights again from the meta data, and
// compares. The caller closes its source.
func openWeighted(ctx context.Context, t *terminal, path, metaPath string, o file.Options) (_ *weighted, err error) {
	if metaPath == "" {
		metaPath = path + metaEnding
	}
	text, err := os.ReadFile(metaPath)
	if err != nil {
		e := &noren.Error{Kind: noren.Usage, Where: metaPath, What: "the meta data of the weights cannot be read", Hint: "noren ratio fit writes them beside the weights; --meta FILE says where they are now"}
		if !errors.Is(err, fs.ErrNotExist) {
			e.Err = errors.Unwrap(err)
		}
		return nil, e
	}
	v := &weighted{path: path}
	if v.meta, err = ratio.DecodeMeta(text); err != nil {
		return nil, at(metaPath, err)
	}
	if v.frame, err = v.meta.Frame(); err != nil {
		return nil, at(metaPath, err)
	}
	if v.source, err = file.Open(ctx, path, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeSource(v.source)
		}
	}()
	column := v.meta.Column
	if column == "" {
		column = "weight"
	}
	fields := append(v.frame.Columns(), table.Field{Name: column, Type: table.Decimal})
	tab, err := file.Read(ctx, v.source, fields, v.meta.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return nil, err
	}
	if v.points, err = v.frame.Points(tab); err != nil {
		return nil, at(path, err)
	}
	if v.weights, err = ratio.Open(ctx, v.meta, v.points); err != nil {
		return nil, at(path, err)
	}
	if err = v.weights.Same(tab.Columns[len(tab.Columns)-1].Floats); err != nil {
		return nil, at(path, err)
	}
	return v, nil
}
