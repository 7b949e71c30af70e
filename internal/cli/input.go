package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

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

// checkTargets fails before any work is done when a file could not be written
// in the end.
func checkTargets(force bool, paths ...string) error {
	for _, p := range paths {
		if p == "" || p == "-" {
			continue
		}
		if file.IsDatabase(p) {
			return noren.Usagef(p, "expected a file, got a table of a database").Hinted("noren anonymize alone writes tables of databases")
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

func writeWhole(create func(string, bool) (*atomicfile.File, error), path string, force bool, stdout io.Writer,
	write func(io.Writer) error,
) error {
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

// written is a file of a command that writes several.
type written struct {
	path  string // empty for none, "-" for standard output
	write func(io.Writer) error
}

// writeTogether writes small public results, all of them or none. What goes to standard output goes
// there last.
func writeTogether(force bool, stdout io.Writer, results ...written) error {
	var files atomicfile.Together
	for _, r := range results {
		if r.path == "" || r.path == "-" {
			continue
		}
		f, err := atomicfile.Create(r.path, force)
		if err != nil {
			return err
		}
		defer f.Discard()
		if err := r.write(f); err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := files.Commit(); err != nil {
		return err
	}
	for _, r := range results {
		if r.path == "-" {
			if err := r.write(stdout); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeFolder makes a folder for results where there is none yet.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: noren.File(dir), What: "the folder cannot be made", Err: errors.Unwrap(err)}
	}
	return nil
}
