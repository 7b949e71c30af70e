package kanon

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/noren-privacy/noren/table"
)

// layout says where each column of the release comes from.
type layout struct {
	columns []table.StoredColumn
	read    []int // source columns that are read again
	from    []int // by column of the release: index in read, -1-j for published[j], or pseudonyms
	kept    []int // by column of the release: its place beside the group, while records are arranged
	made    *made
	whose   *owners
}

// pseudonyms is where the column of pseudonyms comes from.
const pseudonyms = math.MinInt

func (r *run) layout(m *made, whose *owners) *layout {
	l := &layout{made: m, whose: whose}
	published := map[int]int{}
	for j, i := range r.quasi {
		published[i] = j
	}
	for i, stored := range r.job.Source.Columns() {
		if label := whose.label(i); label != nil {
			label.from = len(l.read)
			l.read = append(l.read, i)
		}
		if r.job.Schema.Fields[i].Role.Dropped() {
			if r.job.Pseudonym && stored.Name == r.job.Unit {
				l.columns = append(l.columns, table.StoredColumn{Name: stored.Name, Nullable: true})
				l.from = append(l.from, pseudonyms)
			}
			continue
		}
		if j, ok := published[i]; ok {
			l.columns = append(l.columns, m.published[j].Stored)
			l.from = append(l.from, -1-j)
			continue
		}
		l.columns = append(l.columns, stored)
		l.from = append(l.from, len(l.read))
		l.read = append(l.read, i)
	}
	return l
}

// While records are arranged each is its group and what is read of it again: the values
// that the groups publish are filled in where a chunk is written.

// assemble makes chunks to arrange out of chunks of the source: the group of each record,
// then the columns that are not published.
func (l *layout) assemble(group []uint32) func(*table.Chunk) (*table.Chunk, error) {
	out := &table.Chunk{Cols: make([]table.Vector, 1)}
	l.kept = make([]int, len(l.from))
	for c, from := range l.from {
		if from >= 0 || from == pseudonyms {
			l.kept[c] = len(out.Cols)
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
		l.whose.add(in)
		for c, from := range l.from {
			switch {
			case from >= 0:
				out.Cols[l.kept[c]] = in.Cols[from]
			case from == pseudonyms:
				l.whose.pseudonyms(&out.Cols[l.kept[c]], in)
			}
		}
		return out, nil
	}
}

// complete makes a chunk of the release out of an arranged one.
func (l *layout) complete(in, out *table.Chunk) error {
	groups := make([]uint32, in.Rows)
	for i, g := range in.Cols[0].Ints {
		groups[i] = uint32(g)
	}
	l.publish(in.First, groups, out)
	for c, from := range l.from {
		if from >= 0 || from == pseudonyms {
			out.Cols[c] = in.Cols[l.kept[c]]
		}
	}
	return nil
}

// publish fills in the published columns of records that are in these groups, the columns
// side by side.
func (l *layout) publish(first int64, groups []uint32, out *table.Chunk) {
	out.First, out.Rows = first, len(groups)
	if len(out.Cols) != len(l.from) {
		out.Cols = make([]table.Vector, len(l.from))
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), len(l.from)))
	fill := func(first int) {
		for c := first; c < len(l.from); c += workers {
			if from := l.from[c]; from < 0 && from != pseudonyms {
				l.made.published[-1-from].Fill(&out.Cols[c], groups)
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
func (r *run) fillPublished(ctx context.Context, l *layout, order []uint32, sink table.Sink) error {
	groups := l.made.groups.Group
	if order != nil {
		groups = make([]uint32, len(order))
		for i, place := range order {
			groups[place] = l.made.groups.Group[i]
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
		l.publish(int64(first), groups[first:min(first+publishedRows, len(groups))], out)
		if err := <-written; err != nil {
			return err
		}
		go func() { written <- sink.Write(out) }()
		r.job.Progress.Report("writing", int64(first), int64(len(groups)))
	}
	return <-written
}
