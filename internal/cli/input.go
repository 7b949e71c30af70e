package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// openTable is openInput that refuses a first line that looks like data, unless
// the specification or a flag says what it is.
func openTable(ctx context.Context, name string, t *terminal, s *spec.Spec) (file.Source, error) {
	o, err := formOptions(s)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Input.Header == nil:
		o.Header = csvio.HeaderChecked
	case !*s.Input.Header:
		o.Header = csvio.HeaderAbsent
	}
	o.HeaderRow = s.Input.HeaderRow
	src, err := openWith(ctx, name, t.stdin, o)
	var e *noren.Error
	if noren.CodeOf(err) == csvio.FirstLineCode && errors.As(err, &e) {
		return nil, &noren.Error{Kind: e.Kind, Code: e.Code, Where: e.Where, What: e.What, Hint: "--no-header if it is a record, --header if these are names"}
	}
	if err != nil {
		return nil, err
	}
	tellForm(t, src)
	return src, nil
}

// tellForm says how a text file is read where that is not the plain form.
func tellForm(t *terminal, src file.Source) {
	text, ok := src.(*csvio.Source)
	if !ok {
		return
	}
	if notes := text.Notes(); len(notes) > 0 {
		t.note("%s: %s", src.Name(), strings.Join(notes, "; "))
	}
}

// openReleased opens a release or another table to lay beside one.
func openReleased(ctx context.Context, name string, t *terminal) (file.Source, error) {
	src, err := openWith(ctx, name, t.stdin, file.Options{})
	if err != nil {
		return nil, err
	}
	tellForm(t, src)
	return src, nil
}

// openInput opens a table file, or standard input for "-".
func openInput(ctx context.Context, name string, stdin io.Reader, s *spec.Spec) (file.Source, error) {
	o, err := inputOptions(s)
	if err != nil {
		return nil, err
	}
	return openWith(ctx, name, stdin, o)
}

func openWith(ctx context.Context, name string, stdin io.Reader, o file.Options) (file.Source, error) {
	if name == "-" {
		return file.OpenStdin(ctx, stdin, o)
	}
	return file.Open(ctx, name, o)
}

// at puts a place before a usage error.
func at(where string, err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Where: where, Err: err}
}

func closeSource(src file.Source) { _ = src.Close() }

// outputFlags say how a text release is written where it is not as its source.
type outputFlags struct {
	delimiter string
	encoding  string
}

func (f *outputFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.delimiter, "output-delimiter", "", "field delimiter of OUTPUT: one `CHARACTER`, or tab (default: as INPUT)")
	c.Flags().StringVar(&f.encoding, "output-encoding", "", "`ENCODING` of OUTPUT: "+csvio.Encodings+" (default: as INPUT)")
}

// output is where a release goes.
func (f *outputFlags) output(ctx context.Context, path string, force bool, stdout io.Writer, src table.Source) (kanon.Output, error) {
	if file.IsDatabase(path) {
		if f.delimiter != "" || f.encoding != "" {
			return kanon.Output{}, &noren.Error{Kind: noren.Usage, Where: "--output-delimiter, --output-encoding", What: "are for text files"}
		}
		t, err := file.NewTarget(ctx, path, force, "")
		return kanon.Output{Path: path, Force: force, Target: t}, err
	}
	if path != "-" { // standard output is CSV
		if err := file.Check(path); err != nil {
			return kanon.Output{}, err
		}
	}
	d := file.DialectFor(path, src)
	delimiter, err := csvio.ParseDelimiter(f.delimiter)
	if err != nil {
		return kanon.Output{}, at("--output-delimiter", err)
	}
	if delimiter != 0 {
		d.Delimiter = delimiter
	}
	encoding, err := csvio.ParseEncoding(f.encoding)
	if err != nil {
		return kanon.Output{}, at("--output-encoding", err)
	}
	if encoding != csvio.AnyEncoding {
		d.BOM = d.BOM && d.Encoding == encoding || encoding == csvio.UTF16LE || encoding == csvio.UTF16BE
		d.Encoding = encoding
	}
	return kanon.Output{Path: path, Force: force, Stdout: stdout, Dialect: &d}, nil
}

// checkTargets fails before any work is done when a file could not be written
// in the end.
func checkTargets(force bool, paths ...string) error {
	for _, p := range paths {
		if p == "" || p == "-" || file.IsDatabase(p) {
			continue
		}
		if err := atomicfile.Check(p, force); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a small public result whole or not at all; "-" is standard
// output.
func writeFile(path string, force bool, stdout io.Writer, write func(io.Writer) error) error {
	return writeWhole(atomicfile.Create, path, force, stdout, write)
}

// writePrivate is writeFile for a result that shows private data: its owner
// alone may read it.
func writePrivate(path string, force bool, stdout io.Writer, write func(io.Writer) error) error {
	return writeWhole(atomicfile.CreatePrivate, path, force, stdout, write)
}

func writeWhole(create func(string, bool) (*atomicfile.File, error), path string, force bool, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	f, err := create(path, force)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// makeFolder makes a folder for results where there is none yet.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: dir, What: "the folder cannot be made", Err: errors.Unwrap(err)}
	}
	return nil
}
