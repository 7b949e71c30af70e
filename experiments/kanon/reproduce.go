// Package kanon reproduces the figures of the Tomobiki paper (docs/k-anonymity.md)
// beside ours, in the paper's code space: text columns enter as alphabetical
// rank, every column scaled, loss = SSE/SST.
package kanon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// Row is one partition and what it lost.
type Row struct {
	Dataset       string  `json:"dataset"`
	Normalisation string  `json:"normalisation"`
	Algorithm     string  `json:"algorithm"`
	Params        Params  `json:"params"`
	K             int     `json:"k"`
	Groups        int     `json:"groups"`
	MinSize       int     `json:"min_size"`
	MaxSize       int     `json:"max_size"`
	Loss          float64 `json:"loss"`
	Seconds       float64 `json:"seconds"`
	// Part is how many of the data set's first records were taken, 0 for all.
	Part int `json:"part,omitempty"`
	// Paper is what the paper prints for this row, where it does.
	Paper *Printed `json:"paper,omitempty"`
	// Bound is what no partition gets below, absent from rows of a part.
	Bound *Bound `json:"bound,omitempty"`
	// Known is the least loss that is known, in our own rows where there is one.
	Known float64 `json:"known,omitempty"`
}

// Options say what to reproduce.
type Options struct {
	// Dir is the folder of the reference data sets. Required for those.
	Dir string
	// Public is asked before a file is read; an error refuses the file, such as one that a
	// ledger has granted. Optional.
	Public func(ctx context.Context, path string) error
	// Datasets are reference names or paths. Required.
	Datasets []string
	// Drop names columns to leave out.
	Drop []string
	// K lists the group sizes. Required.
	K []int
	// Scaling of every column.
	Scaling space.Scaling
	// Quick leaves out the rows that only trace a parameter's influence.
	Quick bool
	// Effort adds a row for a longer refinement when it has a duration.
	Effort refine.Effort
	// Gap is how long to look for a lower bound for each data set and k. Defaults
	// to not at all: nearest neighbours alone.
	Gap time.Duration
	// Workers defaults to one a processor.
	Workers int
	// Progress is called as the work advances. Optional.
	Progress noren.Progress
}

// Reproduce makes the rows and calls emit with each as soon as it is done.
func Reproduce(ctx context.Context, o Options, emit func(Row) error) error {
	for _, name := range o.Datasets {
		path, _, err := find(o.Dir, name, o.Scaling)
		if err == nil && o.Public != nil {
			err = o.Public(ctx, path)
		}
		if err != nil {
			return err
		}
		d, err := Load(ctx, o.Dir, name, o.Scaling, o.Drop)
		if err != nil {
			return err
		}
		s, err := space.FromMatrix(d.Values, o.Scaling)
		if err != nil {
			return &noren.Error{Kind: noren.BadData, Where: name, Err: err}
		}
		for _, k := range o.K {
			if k < 1 || k > s.Len() {
				return &noren.Error{Kind: noren.Usage, Where: "k", What: "k must lie between 1 and the number of records of %s", Args: []any{d.Name}}
			}
			below, err := lowerBound(ctx, s, k, &o, o.Progress)
			if err != nil {
				return err
			}
			for _, r := range runs(s.Len(), k, o.Quick, o.Effort) {
				row, err := r.make(ctx, s, o.Workers, o.Progress)
				if err != nil {
					return err
				}
				row.Dataset, row.Normalisation = d.Name, o.Scaling.String()
				row.Paper, row.Known = printed(row), known(row)
				row.Bound = below.of(row.Loss)
				if err := emit(row); err != nil {
					return err
				}
			}
			if s.Len() >= slowRecords && !o.Quick {
				if err := parts(ctx, d, k, &o, emit, o.Progress); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// shares are the parts of a large data set that the growth of time is shown by.
var shares = []float64{1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}

// parts makes the rows of the first records of a data set, ever more of them.
func parts(ctx context.Context, d *Dataset, k int, o *Options, emit func(Row) error, progress noren.Progress) error {
	for _, share := range shares {
		n := int(share * float64(d.Len()))
		columns := make([][]float64, len(d.Values))
		for j := range columns {
			columns[j] = d.Values[j][:n]
		}
		s, err := space.FromMatrix(columns, o.Scaling)
		if err != nil {
			return &noren.Error{Kind: noren.BadData, Where: d.Name, Err: err}
		}
		for _, r := range runs(n, k, true, refine.Off) {
			if method(Row{Algorithm: r.algorithm, Params: r.params}) == "" {
				continue
			}
			row, err := r.make(ctx, s, o.Workers, progress)
			if err != nil {
				return err
			}
			row.Dataset, row.Normalisation, row.Part = fmt.Sprintf("%s (first %d)", d.Name, n), o.Scaling.String(), n
			if err := emit(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// make partitions and measures.
func (r *run) make(ctx context.Context, s *space.Space, workers int, progress noren.Progress) (Row, error) {
	began := time.Now()
	r.options.Workers, r.options.Progress = workers, progress
	p, _, err := partition.Partition(ctx, s, r.options)
	if err != nil {
		return Row{}, err
	}
	p, _, err = refine.Refine(ctx, s, p, refine.Options{K: r.options.K, Effort: r.effort, Seed: 1, Workers: workers, Progress: progress})
	if err != nil {
		return Row{}, err
	}
	seconds := time.Since(began).Seconds()
	sizes := p.Sizes()
	return Row{
		Algorithm: r.algorithm, Params: r.params, K: r.options.K, Groups: p.Groups,
		MinSize: slices.Min(sizes), MaxSize: slices.Max(sizes), Loss: s.Loss(p), Seconds: seconds,
	}, nil
}
