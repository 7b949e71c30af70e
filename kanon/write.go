package kanon

import (
	"context"
	"errors"
	"io"
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
func (r *run) write(ctx context.Context, m *made) error {
	switch {
	case r.job.Output.Target != nil:
		return r.writeTable(ctx, m, r.job.Output.Target)
	case r.job.Output.Path == "-":
		return r.writeStdout(ctx, m)
	}
	out, err := atomicfile.Create(r.job.Output.Path, r.job.Output.Force)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := r.writeFile(ctx, m, out.File); err != nil {
		return err
	}
	return out.Commit()
}

// writeStdout verifies a copy on disk before the first byte goes out.
func (r *run) writeStdout(ctx context.Context, m *made) error {
	temp, err := tempfile.Create("")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Close() }()
	if err := r.writeFile(ctx, m, temp.File); err != nil {
		return err
	}
	if err := rewind(temp.File); err != nil {
		return err
	}
	if _, err := io.Copy(r.job.Output.Stdout, temp.File); err != nil {
		return &noren.Error{Where: noren.Phrase("standard output"), What: "the release could not be written in full", Err: err}
	}
	return nil
}

// writeFile writes the release to f, has it verified, and shows it to the caller before it is
// created.
func (r *run) writeFile(ctx context.Context, m *made, f *os.File) error {
	whose, err := r.fill(ctx, m, func(columns []table.StoredColumn) (table.Sink, error) {
		return file.NewSink(f, r.job.Output.Path, columns, r.dialect())
	})
	if err != nil {
		return err
	}
	if err := r.check(ctx, f, m, whose); err != nil {
		return err
	}
	if r.job.Output.Verified != nil {
		if err := rewind(f); err != nil {
			return err
		}
		if err := r.job.Output.Verified(r.result, f); err != nil {
			return err
		}
	}
	return r.ready(ctx)
}

func rewind(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &noren.Error{What: "the release cannot be read back", Err: err}
	}
	return nil
}

// writeTable writes the release to a table that no other session sees, or to a folder
// that is hidden, has it verified, and renames it.
func (r *run) writeTable(ctx context.Context, m *made, t file.Target) error {
	defer t.Discard()
	whose, err := r.fill(ctx, m, func(columns []table.StoredColumn) (table.Sink, error) { return t.Create(ctx, columns) })
	if err != nil {
		return err
	}
	src, err := t.ReadBack(ctx)
	if err != nil {
		return err
	}
	err = r.checkSource(ctx, src, m, whose)
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

// fill writes all records to what is made by to: identifiers left out, quasi-identifiers as
// published, everything else as it is read. It returns whose the records are.
func (r *run) fill(ctx context.Context, m *made, to func([]table.StoredColumn) (table.Sink, error)) (*owners, error) {
	defer timed(&r.result.Seconds.Publish, time.Now())
	order, err := r.order(m)
	if err != nil {
		return nil, err
	}
	whose := r.newOwners(m, order)
	l := r.layout(m, whose)
	sink, err := to(l.columns)
	if err != nil {
		return nil, err
	}
	if len(l.read) == 0 {
		err = r.fillPublished(ctx, l, order, sink)
	} else {
		err = r.fillRead(ctx, l, order, sink)
	}
	if err != nil {
		sink.Abort()
		return nil, r.lacking(ctx, err)
	}
	m.groups, m.published = space.Partition{}, nil // their memory is wanted for verifying
	if err := sink.Close(); err != nil {
		return nil, err
	}
	r.countFormulas(l.columns, sink)
	return whose, nil
}

// fillRead writes the columns that are read again, each record with its group, in the
// order asked for; what the groups publish takes the place of the group in the end.
func (r *run) fillRead(ctx context.Context, l *layout, order []uint32, sink table.Sink) error {
	in, err := r.job.Source.Open(ctx, l.read)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	var again table.Reader = &again{Reader: in, where: table.PlaceOf(r.job.Source), left: r.result.Rows + r.result.Suppressed}
	if l.made.left != nil {
		again = &leaving{Reader: again, left: l.made.left}
	}
	o := shuffle.Options{
		Order: order, Memory: r.job.memory() / orderShare, Dir: r.job.Output.dir(),
		Complete: l.complete, Progress: r.job.Progress,
	}
	return shuffle.Write(ctx, o, again, l.assemble(l.made.groups.Group), sink)
}

// again reads the source once more, which must have as many records as it had.
type again struct {
	table.Reader
	where noren.Place
	left  int
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
		Kind: noren.BadData, Where: a.where, What: "the file has %s since it was read", Args: []any{how},
		Hint: "start again when nothing writes to it",
	}
}

func (r *run) dialect() csvio.Dialect {
	if r.job.Output.Dialect != nil {
		return *r.job.Output.Dialect
	}
	return file.DialectFor(r.job.Output.Path, r.job.Source)
}
