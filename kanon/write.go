package kanon

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/shuffle"
)

// write writes the release to a file that no other process can see, has it verified, and
// renames it into place.
func (r *run) write(ctx context.Context) error {
	if r.job.Output.Target != nil {
		return r.writeTable(ctx, r.job.Output.Target)
	}
	if r.job.Output.Path == "-" {
		return r.writeStdout(ctx)
	}
	out, err := atomicfile.Create(r.job.Output.Path, r.job.Output.Force)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := r.fill(ctx, r.toFile(out.File)); err != nil {
		return err
	}
	if err := r.check(ctx, out.File); err != nil {
		return err
	}
	if err := r.tell(out.File); err != nil {
		return err
	}
	if err := r.ready(ctx); err != nil {
		return err
	}
	return out.Commit()
}

// writeTable writes the release to a table that no other session sees, or to a folder
// that is hidden, has it verified, and renames it.
func (r *run) writeTable(ctx context.Context, t file.Target) error {
	defer t.Discard()
	if err := r.fill(ctx, func(columns []table.StoredColumn) (table.Sink, error) { return t.Create(ctx, columns) }); err != nil {
		return err
	}
	src, err := t.ReadBack(ctx)
	if err != nil {
		return err
	}
	err = r.checkSource(ctx, src)
	if err == nil && r.job.Output.VerifiedTable != nil {
		err = r.job.Output.VerifiedTable(r.result, src)
	}
	if e := src.Close(); err == nil && e != nil {
		err = &noren.Error{Where: r.outputName(), What: "the release cannot be read back", Err: e}
	}
	if err != nil {
		return err
	}
	if split, ok := t.(file.Split); ok && r.job.Output.Verified != nil {
		manifest, err := split.Manifest()
		if err != nil {
			return err
		}
		err = r.job.Output.Verified(r.result, manifest)
		_ = manifest.Close()
		if err != nil {
			return err
		}
	}
	if err := r.ready(ctx); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// ready has the caller create what goes with the release, which is created next.
func (r *run) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil || r.job.Output.Ready == nil {
		return err
	}
	return r.job.Output.Ready()
}

// tell shows the verified release to the caller, before it is created.
func (r *run) tell(f *os.File) error {
	if r.job.Output.Verified == nil {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &noren.Error{What: "the release cannot be read back", Err: err}
	}
	return r.job.Output.Verified(r.result, f)
}

// writeStdout verifies a copy on disk before the first byte goes out.
func (r *run) writeStdout(ctx context.Context) error {
	temp, err := tempfile.Create("")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Close() }()
	if err := r.fill(ctx, r.toFile(temp.File)); err != nil {
		return err
	}
	if err := r.check(ctx, temp.File); err != nil {
		return err
	}
	if err := r.tell(temp.File); err != nil {
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return &noren.Error{What: "the release cannot be read back", Err: err}
	}
	if err := r.ready(ctx); err != nil {
		return err
	}
	if _, err := io.Copy(r.job.Output.Stdout, temp.File); err != nil {
		return &noren.Error{Where: noren.Phrase("standard output"), What: "the release could not be written in full", Err: err}
	}
	return nil
}

// fill writes all records to what is made by to: identifiers left out, quasi-identifiers as
// published, everything else as it is read.
func (r *run) fill(ctx context.Context, to func([]table.StoredColumn) (table.Sink, error)) error {
	defer timed(&r.result.Seconds.Publish, time.Now())
	order, err := r.order()
	if err != nil {
		return err
	}
	r.told = r.tells(order)
	plan := r.plan()
	sink, err := to(plan.columns)
	if err != nil {
		return err
	}
	if len(plan.read) == 0 {
		err = r.fillPublished(ctx, plan, order, sink)
	} else {
		err = r.fillRead(ctx, plan, order, sink)
	}
	if err != nil {
		sink.Abort()
		return r.lacking(ctx, err)
	}
	r.groups, r.published = space.Partition{}, nil // their memory is wanted for verifying
	if err := sink.Close(); err != nil {
		return err
	}
	r.countFormulas(plan.columns, sink)
	return nil
}

// fillRead writes the columns that are read again, each record with its group, in the
// order asked for; what the groups publish takes the place of the group in the end.
func (r *run) fillRead(ctx context.Context, plan *plan, order []uint32, sink table.Sink) error {
	in, err := r.job.Source.Open(ctx, plan.read)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	var again table.Reader = &again{Reader: in, name: r.job.Source.Name(), left: r.rows}
	if r.left != nil {
		again = &leaving{Reader: again, left: r.left}
	}
	o := shuffle.Options{
		Order: order, Memory: r.job.memory() / orderShare, Dir: r.job.Output.dir(),
		Complete: plan.complete, Progress: r.job.Progress,
	}
	return shuffle.Write(ctx, o, again, plan.assemble(r.groups.Group), sink)
}

// toFile writes the release to w.
func (r *run) toFile(w *os.File) func([]table.StoredColumn) (table.Sink, error) {
	return func(columns []table.StoredColumn) (table.Sink, error) {
		return file.NewSink(w, r.job.Output.Path, columns, r.dialect())
	}
}

// again reads the source once more, which must have as many records as it had.
type again struct {
	table.Reader
	name string
	left int
}

// Next implements [table.Reader].
func (a *again) Next() (*table.Chunk, error) {
	c, err := a.Reader.Next()
	switch {
	case errors.Is(err, io.EOF) && a.left > 0:
		return nil, a.changed("shrunk")
	case err != nil:
		return nil, err
	case c.Rows > a.left:
		return nil, a.changed("grown")
	}
	a.left -= c.Rows
	return c, nil
}

func (a *again) changed(how noren.Phrase) error {
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(a.name), What: "the file has %s since it was read", Args: []any{how},
		Hint: "start again when nothing writes to it",
	}
}

func (r *run) dialect() csvio.Dialect {
	if r.job.Output.Dialect != nil {
		return *r.job.Output.Dialect
	}
	return file.DialectFor(r.job.Output.Path, r.job.Source)
}

// plan says where each column of the release comes from.
type plan struct {
	columns []table.StoredColumn
	read    []int // source columns that are read again
	from    []int // by column of the release: index in read, -1-j for published[j], or pseudonyms
	kept    []int // by column of the release: its place beside the group, while records are arranged
	run     *run
}

// pseudonyms is where the column of pseudonyms comes from.
const pseudonyms = math.MinInt

func (r *run) plan() *plan {
	p := &plan{run: r}
	published := map[int]int{}
	for j, i := range r.quasi {
		published[i] = j
	}
	for i, stored := range r.job.Source.Columns() {
		if label := r.told.of(i); label != nil {
			label.from = len(p.read)
			p.read = append(p.read, i)
		}
		if r.job.Schema.Fields[i].Role.Dropped() {
			if r.job.Pseudonym && stored.Name == r.job.Unit {
				p.columns = append(p.columns, table.StoredColumn{Name: stored.Name, Nullable: true})
				p.from = append(p.from, pseudonyms)
			}
			continue
		}
		if j, ok := published[i]; ok {
			p.columns = append(p.columns, r.published[j].Stored)
			p.from = append(p.from, -1-j)
			continue
		}
		p.columns = append(p.columns, stored)
		p.from = append(p.from, len(p.read))
		p.read = append(p.read, i)
	}
	return p
}
