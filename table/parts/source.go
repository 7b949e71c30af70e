// Package parts reads several files of one form as one table, and writes a table as
// several files.
//
// The files of a table have the same columns: the same names in the same order, and of
// Parquet the same types. Their records follow each other in the byte order of the
// files' names relative to the folder ([Find]). Package table/file opens a folder or a
// pattern through this package.
package parts

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// File is a table of one file that is open.
type File interface {
	table.Source
	io.Closer
}

// Opener opens one file.
type Opener func(ctx context.Context, path string) (File, error)

// kept is the largest number of files that stay open between two readings. Others are
// opened again, and refused if they are not the files they were.
const kept = 128

// Source is a table in several files. It implements [table.Source].
type Source struct {
	name    string
	paths   []string
	seen    []stamp
	open    Opener
	files   []File // the first, up to kept
	columns []table.StoredColumn

	keep bool         // readings keep the sums of files
	rows atomic.Int64 // of totals and notes: see [Source.Totals]
	mu   sync.Mutex
	sums map[int][table.SumSize]byte // of files that do not stay open, once they are read
}

var _ table.Source = (*Source)(nil)

// stamp tells whether a file is what it was.
type stamp struct {
	info os.FileInfo
	size int64
	time time.Time
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, &noren.Error{Kind: noren.BadData, Where: noren.File(path), What: "cannot be read", Err: reason(err)}
	}
	return stamp{info, info.Size(), info.ModTime()}, nil
}

func (s stamp) equal(t stamp) bool {
	return os.SameFile(s.info, t.info) && s.size == t.size && s.time.Equal(t.time)
}

// Open opens the files at paths, at least one, as one table of that name. Every file is
// opened once, so that columns that differ are found now; the error, of kind BadData,
// names the file.
func Open(ctx context.Context, name string, paths []string, open Opener) (_ *Source, err error) {
	s := &Source{name: name, paths: paths, open: open}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen, err := stampOf(path)
		if err != nil {
			return nil, err
		}
		f, err := open(ctx, path)
		if err != nil {
			return nil, err
		}
		if i < kept {
			s.files = append(s.files, f)
		}
		s.seen = append(s.seen, seen)
		err = s.agree(path, f.Columns())
		if i >= kept {
			_ = f.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(name), Code: "pattern",
			What: "expected at least one table file, found none",
		}
	}
	return s, nil
}

// agree compares the columns of a file with those of the first.
func (s *Source) agree(path string, columns []table.StoredColumn) error {
	if s.columns == nil {
		s.columns = slices.Clone(columns)
		return nil
	}
	return Agree(s.paths[0], s.columns, path, columns)
}

// Agree is an error of kind BadData unless the columns of the file at path are those of
// the file first. It makes a column of first nullable where it is nullable in the other.
func Agree(first string, of []table.StoredColumn, path string, columns []table.StoredColumn) error {
	fail := func(what noren.Text) error {
		return &noren.Error{
			Kind: noren.BadData, Code: "parts-differ", Where: noren.File(path), What: what.Format, Args: what.Args,
			Hint: "all files of one table have the same columns in the same order",
		}
	}
	if len(columns) != len(of) {
		return fail(noren.Textf("expected %d {column|columns} as in %s, got %d", len(of), first, len(columns)))
	}
	for i := range columns {
		a, b := &of[i], &columns[i]
		switch {
		case a.Name != b.Name:
			return fail(noren.Textf("column %d: expected the name %s as in %s, got %s", i+1, a.Name, first, b.Name))
		case a.Kind != b.Kind || a.Logical != b.Logical || a.Nested != b.Nested || proposed(a) != proposed(b) || !sameForm(a, b):
			return fail(noren.Textf("column %s: its type is not that of %s", a.Name, first))
		}
		a.Nullable = a.Nullable || b.Nullable
		a.Index = a.Index && b.Index
	}
	return nil
}

func proposed(c *table.StoredColumn) string {
	if c.Proposed == nil {
		return ""
	}
	return c.Proposed.String()
}

// sameForm compares how the format stores two columns, where it tells.
func sameForm(a, b *table.StoredColumn) bool {
	o, ok := a.Origin.(interface{ Same(other any) bool })
	return !ok || o.Same(b.Origin)
}

// Name implements [table.Source].
func (s *Source) Name() string { return s.name }

// Columns implements [table.Source]. A column is nullable where it is in some file.
func (s *Source) Columns() []table.StoredColumn { return s.columns }

// Paths are the files in the order in which they are read.
func (s *Source) Paths() []string { return s.paths }

// Unwrap is the first file: a release that is made like its source is made like it.
func (s *Source) Unwrap() table.Source { return s.files[0] }

// Notes say how the files were read where that is not the plain form, each form once
// with the first file that has it, and whether forms differ. What is said of one file alone
// is said of each.
func (s *Source) Notes() []noren.Text {
	var all, said []noren.Text
	for i, f := range s.files {
		if own, ok := f.(interface{ FileNotes() []noren.Text }); ok {
			for _, note := range own.FileNotes() {
				all, said = append(all, noren.Textf("%s: %s", noren.File(s.paths[i]), note)), append(said, note)
			}
		}
		n, ok := f.(interface{ Notes() []noren.Text })
		if !ok {
			continue
		}
		for _, note := range n.Notes() {
			if !slices.ContainsFunc(said, note.Equal) {
				all, said = append(all, noren.Textf("%s: %s", noren.File(s.paths[i]), note)), append(said, note)
			}
		}
	}
	return all
}

// Totals is how many rows of totals and notes the files have, by [Source.CountTotals] or by a reader
// that came to the end.
func (s *Source) Totals() int64 { return s.rows.Load() }

// CountTotals reads the files, and counts their rows of totals and notes.
func (s *Source) CountTotals(ctx context.Context) (int64, error) {
	var rows int64
	for i := range s.paths {
		n, err := s.totalsOf(ctx, i)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	s.rows.Store(rows)
	return rows, nil
}

// totalsOf is [Source.CountTotals] of one file.
func (s *Source) totalsOf(ctx context.Context, i int) (n int64, err error) {
	var f File
	if i < len(s.files) {
		f = s.files[i]
	} else {
		if err := s.same(i); err != nil {
			return 0, err
		}
		if f, err = s.open(ctx, s.paths[i]); err != nil {
			return 0, err
		}
		defer func() { _ = f.Close() }()
	}
	switch of := f.(type) {
	case interface {
		CountTotals(ctx context.Context) (int64, error)
	}:
		return of.CountTotals(ctx)
	case interface{ Totals() int64 }:
		return of.Totals(), nil
	}
	return 0, nil
}

// Close closes all files.
func (s *Source) Close() error {
	var first error
	for _, f := range s.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	s.files = nil
	return first
}

// Open implements [table.Source].
func (s *Source) Open(ctx context.Context, columns []int) (table.Reader, error) {
	r := &reader{ctx: ctx, s: s, columns: columns}
	for _, seen := range s.seen {
		r.total += max(1, seen.size)
	}
	if err := r.advance(); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// reader reads one file after the other.
type reader struct {
	ctx     context.Context
	s       *Source
	columns []int
	next    int // the file after the one that is read
	file    File
	reader  table.Reader
	rows    int64 // in the files before
	seen    int64 // in this file
	totals  int64 // rows of totals and notes in the files before
	done    int64 // bytes of the files before
	total   int64
}

// advance begins the next file.
func (r *reader) advance() error {
	i := r.next
	path := r.s.paths[i]
	err := r.s.same(i)
	if err != nil {
		return err
	}
	if i < len(r.s.files) {
		r.file = nil
		r.reader, err = r.s.files[i].Open(r.ctx, r.columns)
	} else if r.file, err = r.s.open(r.ctx, path); err == nil {
		if r.s.keep {
			table.KeepSum(r.file)
		}
		r.reader, err = r.file.Open(r.ctx, r.columns)
	}
	if err != nil {
		return err
	}
	r.next++
	return nil
}

// same is an error of kind BadData unless a file is what it was when it was opened.
func (s *Source) same(i int) error {
	now, err := stampOf(s.paths[i])
	if err == nil && !now.equal(s.seen[i]) {
		err = &noren.Error{
			Kind: noren.BadData, Where: noren.File(s.paths[i]), What: "the file has changed since it was opened",
			Hint: "start again when no program writes to it",
		}
	}
	return err
}

// countTotals adds the rows of totals and notes of the file that came to its end.
func (r *reader) countTotals() {
	file := r.file
	if file == nil {
		file = r.s.files[r.next-1]
	}
	if f, ok := file.(interface{ Totals() int64 }); ok {
		r.totals += f.Totals()
	}
}

// leave ends the file that is read.
func (r *reader) leave() error {
	var err error
	if r.reader != nil {
		err = r.reader.Close()
		r.reader = nil
	}
	if r.file != nil {
		if e := r.file.Close(); err == nil {
			err = e
		}
		r.file = nil
	}
	return err
}

// Next implements [table.Reader].
func (r *reader) Next() (*table.Chunk, error) {
	for {
		if r.reader == nil {
			return nil, io.EOF
		}
		c, err := r.reader.Next()
		switch {
		case err == nil:
			r.seen += int64(c.Rows)
			c.First += r.rows
			return c, nil
		case err != io.EOF:
			return nil, err
		}
		if err := r.keepSum(); err != nil {
			return nil, err
		}
		r.countTotals()
		if err := r.leave(); err != nil {
			return nil, err
		}
		r.done += max(1, r.s.seen[r.next-1].size)
		r.rows, r.seen = r.rows+r.seen, 0
		if r.next == len(r.s.paths) {
			r.s.rows.Store(r.totals)
			return nil, io.EOF
		}
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
}

// Position implements [table.Reader].
func (r *reader) Position(record, column int) noren.Place {
	if r.reader == nil {
		return noren.Place{noren.File(r.s.name)}
	}
	return r.reader.Position(record, column)
}

// Progress implements [table.Reader].
func (r *reader) Progress() float64 {
	done := float64(r.done)
	if r.reader != nil {
		done += r.reader.Progress() * float64(r.s.seen[r.next-1].size)
	}
	return min(1, done/float64(r.total))
}

// Close implements [table.Reader].
func (r *reader) Close() error { return r.leave() }
