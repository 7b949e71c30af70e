package service

import (
	"context"
	"errors"
	"io/fs"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// weighted is a weighted public table with its meta data.
type weighted struct {
	meta    *ratio.Meta
	frame   *ratio.Frame
	points  *ratio.Points
	weights *ratio.Weights
	source  file.Source
}

func (v *weighted) close() {
	if v != nil && v.source != nil {
		_ = v.source.Close()
	}
}

// maxMeta bounds the meta data of weights.
const maxMeta = 64 << 20

// openWeighted reads a weighted table, makes its weights again from the meta data, and
// refuses the table where its weights are others. The caller closes it.
func (s *Service) openWeighted(ctx context.Context, q *api.RatioWeights, o file.Options) (_ *weighted, err error) {
	metaPath := q.Meta
	if metaPath == "" {
		metaPath = q.Weights + RatioMetaSuffix
	}
	text, err := meter.ReadFile(metaPath, maxMeta)
	if meter.Refused(err) != nil {
		return nil, err
	}
	if err != nil {
		e := &noren.Error{
			Kind: noren.Usage, Code: "no-meta", Where: noren.File(metaPath), What: "the meta data of the weights cannot be read",
			Hint: "a fit writes them beside the weights",
		}
		if !errors.Is(err, fs.ErrNotExist) {
			e.Err = errors.Unwrap(err)
		}
		return nil, e
	}
	v := &weighted{}
	if v.meta, err = ratio.DecodeMeta(text); err != nil {
		return nil, inField(metaPath, err)
	}
	if v.frame, err = v.meta.Frame(); err != nil {
		return nil, inField(metaPath, err)
	}
	if v.source, err = file.Open(ctx, q.Weights, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	column := v.meta.Column
	if column == "" {
		column = "weight"
	}
	fields := append(v.frame.Columns(), table.Field{Name: column, Type: table.Decimal})
	tab, err := table.Read(ctx, v.source, fields, table.ReadOptions{Missing: v.meta.Missing, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	if v.points, err = v.frame.Points(tab); err != nil {
		return nil, inField(q.Weights, err)
	}
	if v.weights, err = ratio.Open(ctx, v.meta, v.points); err != nil {
		return nil, inField(q.Weights, err)
	}
	if err = v.weights.Same(tab.Columns[len(tab.Columns)-1].Floats); err != nil {
		return nil, inField(q.Weights, err)
	}
	return v, nil
}
