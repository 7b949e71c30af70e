package service

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
)

// weightFiles are the temporary files of a weighted table and its meta data. They are
// renamed into place by commit.
type weightFiles struct {
	weights, meta *atomicfile.File
	formulas      formula.Count // texts of the public table that spreadsheets take for formulas
}

// stageWeights writes the public table with its weights, every other column as it
// was, and the meta data, to temporary files.
func stageWeights(ctx context.Context, path string, force bool, src table.Source, w *ratio.Weights) (_ *weightFiles, err error) {
	out := &weightFiles{}
	defer func() {
		if err != nil {
			out.discard()
		}
	}()
	if out.weights, err = atomicfile.Create(path, force); err != nil {
		return nil, err
	}
	if out.formulas, err = writeWeights(ctx, out.weights, path, src, w); err != nil {
		return nil, err
	}
	text, err := w.Meta.Encode()
	if err != nil {
		return nil, err
	}
	if out.meta, err = atomicfile.Create(path+RatioMetaSuffix, force); err != nil {
		return nil, err
	}
	if _, err = out.meta.Write(text); err != nil {
		return nil, &noren.Error{Where: noren.File(path + RatioMetaSuffix), What: "cannot be written", Err: err}
	}
	return out, nil
}

func writeWeights(ctx context.Context, to io.Writer, path string, src table.Source, w *ratio.Weights) (found formula.Count, err error) {
	columns := append(slices.Clone(src.Columns()), table.StoredColumn{Name: w.Meta.Column, Kind: table.Float})
	sink, err := file.NewSink(to, path, columns, file.DialectFor(path, src))
	if err != nil {
		return found, err
	}
	in, err := src.Open(ctx, nil)
	if err != nil {
		sink.Abort()
		return found, err
	}
	defer func() { _ = in.Close() }()
	left := w.W
	for {
		c, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && c.Rows > len(left) {
			err = &noren.Error{Kind: noren.BadData, Where: table.PlaceOf(src), What: "the public table changed while it was read"}
		}
		if err == nil {
			more := table.Vector{Kind: table.Float, Floats: left[:c.Rows]}
			left = left[c.Rows:]
			err = sink.Write(&table.Chunk{First: c.First, Rows: c.Rows, Cols: append(slices.Clone(c.Cols), more)})
		}
		if err != nil {
			sink.Abort()
			return found, err
		}
	}
	err = sink.Close()
	if counter, ok := sink.(formula.Counter); ok {
		found = counter.Formulas()
	}
	return found, err
}

// hash describes the weighted table for a certificate.
func (f *weightFiles) hash(ctx context.Context) (certificate.Released, error) {
	if _, err := f.weights.Seek(0, io.SeekStart); err != nil {
		return certificate.Released{}, &noren.Error{What: "the written file cannot be read again", Err: err}
	}
	return certificate.HashReader(ctx, f.weights)
}

// commit renames both files into place, or none.
func (f *weightFiles) commit() error {
	return atomicfile.Together{f.meta, f.weights}.Commit()
}

func (f *weightFiles) discard() {
	if f == nil {
		return
	}
	for _, one := range []*atomicfile.File{f.weights, f.meta} {
		if one != nil {
			one.Discard()
		}
	}
}
