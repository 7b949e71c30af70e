package kanon

import (
	"context"
	"runtime"
	"sync"

	"github.com/noren-privacy/noren/table"
)

// While records are arranged each is its group and what is read of it again: the values
// that the groups publish are filled in where a chunk is written.

// assemble makes chunks to arrange out of chunks of the source: the group of each record,
// then the columns that are not published.
func (p *plan) assemble(group []uint32) func(*table.Chunk) (*table.Chunk, error) {
	out := &table.Chunk{Cols: make([]table.Vector, 1)}
	p.kept = make([]int, len(p.from))
	for c, from := range p.from {
		if from >= 0 || from == pseudonyms {
			p.kept[c] = len(out.Cols)
			out.Cols = append(out.Cols, table.Vector{})
		}
	}
	return func(in *table.Chunk) (*table.Chunk, error) {
		out.First, out.Rows = in.First, in.Rows
		groups := &out.Cols[0]
		groups.Kind, groups.Ints = table.Int, groups.Ints[:0]
		for _, g := range group[in.First : in.First+int64(in.Rows)] {
			groups.Ints = append(groups.Ints, int64(g))
		}
		p.run.told.take(in)
		for c, from := range p.from {
			switch {
			case from >= 0:
				out.Cols[p.kept[c]] = in.Cols[from]
			case from == pseudonyms:
				p.run.told.pseudonyms(&out.Cols[p.kept[c]], in)
			}
		}
		return out, nil
	}
}

// complete makes a chunk of the release out of an arranged one.
func (p *plan) complete(in, out *table.Chunk) error {
	groups := make([]uint32, in.Rows)
	for i, g := range in.Cols[0].Ints {
		groups[i] = uint32(g)
	}
	p.publish(in.First, groups, out)
	for c, from := range p.from {
		if from >= 0 || from == pseudonyms {
			out.Cols[c] = in.Cols[p.kept[c]]
		}
	}
	return nil
}

// publish fills in the published columns of records that are in these groups, the columns
// side by side.
func (p *plan) publish(first int64, groups []uint32, out *table.Chunk) {
	out.First, out.Rows = first, len(groups)
	if len(out.Cols) != len(p.from) {
		out.Cols = make([]table.Vector, len(p.from))
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), len(p.from)))
	fill := func(first int) {
		for c := first; c < len(p.from); c += workers {
			if from := p.from[c]; from < 0 && from != pseudonyms {
				p.run.published[-1-from].Fill(&out.Cols[c], groups)
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { fill(w) })
	}
	fill(0)
	wg.Wait()
}

// publishedRows is the number of records that [run.fillPublished] writes at a time.
const publishedRows = 8192

// fillPublished writes a release of published columns alone: the group of each record says
// all of it, so that nothing is read again and the groups alone are put in order. A chunk is
// filled while the one before is being written.
func (r *run) fillPublished(ctx context.Context, p *plan, order []uint32, sink table.Sink) error {
	groups := r.groups.Group
	if order != nil {
		groups = make([]uint32, len(order))
		for i, place := range order {
			groups[place] = r.groups.Group[i]
		}
	}
	var chunks [2]table.Chunk
	written := make(chan error, 1)
	written <- nil
	for first := 0; first < len(groups); first += publishedRows {
		if err := ctx.Err(); err != nil {
			<-written
			return err
		}
		out := &chunks[first/publishedRows%2]
		p.publish(int64(first), groups[first:min(first+publishedRows, len(groups))], out)
		if err := <-written; err != nil {
			return err
		}
		go func() { written <- sink.Write(out) }()
		r.job.Progress.Report("writing", int64(first), int64(len(groups)))
	}
	return <-written
}
