package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// TargetOptions say how a table is written as several files.
type TargetOptions struct {
	// Path is a folder and a name with one star, which becomes the number of a file:
	// out/visits-*.csv. Required.
	Path string
	// Rows is the largest number of records of a file, at least 1. Required.
	Rows int64
	// Replace replaces a folder that holds nothing but files of such names.
	Replace bool
	// Sink begins a file. Required.
	Sink func(w io.Writer, name string, columns []table.StoredColumn) (table.Sink, error)
	// Open reads the files back. Required.
	Open Opener
}

// Target is a folder in the making: files and their [Manifest] are written to a hidden
// folder beside it, for its owner alone, which Commit renames. Discard removes it, and does nothing after Commit.
type Target struct {
	o      TargetOptions
	folder string
	before string // in names, what the number stands between
	after  string
	temp   string
	held   *tempfile.Folder // the lock of temp
	paths  []string
	rows   []int64 // of each file
}

// Vacant refuses a folder of results that holds anything, unless it may be replaced.
func Vacant(folder string, replace bool) error {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) > 0 && !replace {
		return &noren.Error{Kind: noren.Usage, Code: "file-exists", Where: noren.File(folder), What: "the folder is not empty"}
	}
	return nil
}

// NewTarget checks the options and that the folder can be made; no file is written yet.
func NewTarget(o TargetOptions) (*Target, error) {
	t := &Target{o: o, folder: filepath.Dir(o.Path)}
	name := filepath.Base(o.Path)
	var ok bool
	t.before, t.after, ok = strings.Cut(name, "*")
	switch {
	case !ok || strings.ContainsAny(t.after, "*") || strings.ContainsAny(t.folder, "*?["):
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(o.Path),
			What: "expected a folder and a name with one star, as in out/part-*.csv",
		}
	case t.before != "" && (t.before[0] == '.' || t.before[0] == '_'):
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(o.Path),
			What: "a name that begins with a dot or an underscore would not be read as a table",
		}
	case o.Rows < 1:
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "split-rows", What: "expected at least 1 record in a file, got %d",
			Args: []any{o.Rows},
		}
	}
	if err := t.putBack(); err != nil {
		return nil, err
	}
	return t, t.replaceable(t.folder)
}

// aside is the name of the old folder while the new one is given its own, where the file
// system cannot exchange the two.
func (t *Target) aside() string {
	return filepath.Join(filepath.Dir(t.folder), "."+filepath.Base(t.folder)+".noren-old")
}

// putBack ends what a killed Commit began: the old folder is renamed back where the new one
// is not there, and is removed where it is.
func (t *Target) putBack() error {
	aside := t.aside()
	if _, err := os.Lstat(aside); err != nil {
		return nil
	}
	_, err := os.Lstat(t.folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Rename(aside, t.folder)
	case err == nil && t.o.Replace:
		err = os.RemoveAll(aside)
	}
	if err != nil {
		return &noren.Error{Where: aside, What: "what a killed run left cannot be put back or removed", Err: reason(err)}
	}
	return nil
}

// replaceable refuses a folder that holds anything that a new result does not replace. It
// is at path, and is named as the folder of the result.
func (t *Target) replaceable(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &noren.Error{Kind: noren.Usage, Where: noren.File(t.folder), What: "expected a folder that can be written", Err: reason(err)}
	case len(entries) > 0 && !t.o.Replace:
		return &noren.Error{Kind: noren.Usage, Code: "file-exists", Where: noren.File(t.folder), What: "the folder is not empty"}
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() != ManifestName && !t.ours(e.Name()) {
			return &noren.Error{
				Kind: noren.Usage, Where: noren.File(filepath.Join(t.folder, e.Name())),
				What: "the folder holds more than files of an earlier result, and is not replaced", Hint: "choose another folder",
			}
		}
	}
	return nil
}

// ours reports whether a file could be one of an earlier table of the same names.
func (t *Target) ours(name string) bool {
	rest, ok := strings.CutPrefix(name, t.before)
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, t.after)
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// Create begins the table.
func (t *Target) Create(ctx context.Context, columns []table.StoredColumn) (table.Sink, error) {
	parent := filepath.Dir(t.folder)
	temp, err := tempfile.CreateFolder(parent)
	if err != nil {
		return nil, &noren.Error{Where: noren.File(parent), What: "a folder cannot be made in it", Err: reason(err)}
	}
	t.temp, t.held = temp.Path, temp
	s := &sink{t: t, ctx: ctx, columns: columns}
	if err := s.begin(); err != nil { // a table without records has one file
		t.Discard()
		return nil, err
	}
	return s, nil
}

// ReadBack is the table as it was written.
func (t *Target) ReadBack(ctx context.Context) (*Source, error) {
	return Open(ctx, t.o.Path, t.paths, t.o.Open)
}

// Folder is where the files will be.
func (t *Target) Folder() string { return t.folder }

// Manifest is the manifest as it was written, after the sink was closed.
func (t *Target) Manifest() (io.ReadSeekCloser, error) {
	f, err := os.Open(filepath.Join(t.temp, ManifestName))
	if err != nil {
		return nil, &noren.Error{Where: noren.File(t.folder), What: "the manifest cannot be read back", Err: reason(err)}
	}
	return f, nil
}

// publish gives the folder, which MkdirTemp made for its owner alone, the mode that the
// umask allows: a release is for others.
func publish(folder string) error {
	probe := filepath.Join(folder, ".mode")
	if err := os.Mkdir(probe, 0o777); err != nil {
		return err
	}
	info, err := os.Stat(probe)
	if e := os.Remove(probe); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Chmod(folder, info.Mode().Perm())
}

// Commit gives the folder its name. A folder that is replaced exchanges its name with the new
// one, so that one of them is there at any time. Where the file system cannot do this, it is
// moved aside first, and put back when the new one cannot be renamed.
func (t *Target) Commit(context.Context) error {
	fail := func(err error) error {
		return &noren.Error{Where: noren.File(t.folder), What: "the finished files cannot be renamed into place", Err: reason(err)}
	}
	if err := publish(t.temp); err != nil {
		return fail(err)
	}
	if err := syncFolder(t.temp); err != nil {
		return fail(err)
	}
	defer t.held.Close()
	// The old folder has the temporary name for a moment, and may be given its own back.
	release := tempfile.HoldFolder(t.folder)
	defer release()
	if exchange(t.temp, t.folder) == nil {
		// Another process may have written to the folder since it was looked at.
		if err := t.replaceable(t.temp); err != nil {
			_ = exchange(t.temp, t.folder)
			return err
		}
		_ = os.RemoveAll(t.temp)
		t.temp = ""
		_ = syncFolder(filepath.Dir(t.folder))
		return nil
	}
	aside := t.aside()
	err := os.Rename(t.folder, aside)
	had := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	// Another process may have written to the folder since it was looked at.
	if had {
		if err := t.replaceable(aside); err != nil {
			_ = os.Rename(aside, t.folder)
			return err
		}
	}
	if err := os.Rename(t.temp, t.folder); err != nil {
		if had {
			_ = os.Rename(aside, t.folder)
		}
		return fail(err)
	}
	t.temp = ""
	if had {
		_ = os.RemoveAll(aside)
	}
	_ = syncFolder(filepath.Dir(t.folder))
	return nil
}

// Discard removes what was written.
func (t *Target) Discard() {
	if t.temp != "" {
		_ = os.RemoveAll(t.temp)
		t.temp = ""
		t.held.Close()
	}
}

// syncFolder makes the names in a folder durable, where the system can.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = f.Sync() // not every system syncs folders
	return f.Close()
}

// sink writes one file after the other.
type sink struct {
	t       *Target
	ctx     context.Context
	columns []table.StoredColumn
	file    *os.File
	sink    table.Sink
	rows    int64
	part    table.Chunk
	found   formula.Count // in the files that have ended
}

// Formulas implements [formula.Counter]; it is for a sink that was closed.
func (s *sink) Formulas() formula.Count { return s.found }

func (s *sink) begin() error {
	name := fmt.Sprintf("%s%05d%s", s.t.before, len(s.t.paths)+1, s.t.after)
	path := filepath.Join(s.t.temp, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return &noren.Error{Where: noren.File(s.t.folder), What: "a file cannot be made in it", Err: reason(err)}
	}
	inner, err := s.t.o.Sink(f, filepath.Join(s.t.folder, name), s.columns) // errors name it as it will be
	if err != nil {
		_ = f.Close()
		return err
	}
	s.file, s.sink, s.rows = f, inner, 0
	s.t.paths = append(s.t.paths, path)
	return nil
}

func (s *sink) end() error {
	err := s.sink.Close()
	if c, ok := s.sink.(formula.Counter); ok {
		s.found.Add(c.Formulas())
	}
	if e := s.file.Close(); err == nil && e != nil {
		err = &noren.Error{Where: noren.File(s.t.folder), What: "a file cannot be written in full", Err: reason(e)}
	}
	s.sink, s.file = nil, nil
	s.t.rows = append(s.t.rows, s.rows)
	return err
}

// Write implements [table.Sink].
func (s *sink) Write(c *table.Chunk) error {
	for from := 0; from < c.Rows; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.rows == s.t.o.Rows {
			if err := s.end(); err != nil {
				return err
			}
			if err := s.begin(); err != nil {
				return err
			}
		}
		n := int(min(int64(c.Rows-from), s.t.o.Rows-s.rows))
		if err := s.sink.Write(s.slice(c, from, n)); err != nil {
			return err
		}
		s.rows += int64(n)
		from += n
	}
	return nil
}

// slice is n records of c from one on.
func (s *sink) slice(c *table.Chunk, from, n int) *table.Chunk {
	if from == 0 && n == c.Rows {
		return c
	}
	s.part.First, s.part.Rows = c.First+int64(from), n
	s.part.Cols = s.part.Cols[:0]
	for _, v := range c.Cols {
		p := table.Vector{Kind: v.Kind}
		if v.Null != nil {
			p.Null = v.Null[from : from+n]
		}
		if v.Ints != nil {
			p.Ints = v.Ints[from : from+n]
		}
		if v.Floats != nil {
			p.Floats = v.Floats[from : from+n]
		}
		if v.Texts != nil {
			p.Texts = v.Texts[from : from+n]
		}
		s.part.Cols = append(s.part.Cols, p)
	}
	return &s.part
}

// Close implements [table.Sink].
func (s *sink) Close() error {
	if err := s.end(); err != nil {
		return err
	}
	return writeManifest(s.ctx, s.t.temp, s.t.paths, s.t.rows)
}

// Abort implements [table.Sink].
func (s *sink) Abort() {
	if s.sink != nil {
		s.sink.Abort()
		_ = s.file.Close()
		s.sink = nil
	}
	s.t.Discard()
}
