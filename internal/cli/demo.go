package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/xlsx"
)

func newDemo(t *terminal) *cobra.Command {
	var keep string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Anonymise the built-in example and show the result",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), t, keep) },
	}
	c.Flags().StringVar(&keep, "keep", "", "leave all files in this new `FOLDER`")
	return c
}

func runDemo(ctx context.Context, t *terminal, keep string) (err error) {
	dir := keep
	if keep == "" {
		temp, err := os.MkdirTemp("", "noren-demo-*")
		if err != nil {
			return &noren.Error{What: "no temporary folder can be made", Err: err}
		}
		defer func() { _ = os.RemoveAll(temp) }()
		dir = temp
	} else if err := os.Mkdir(keep, 0o755); err != nil {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(keep), What: "the folder cannot be made",
			Hint: "it must not exist yet, and the folder above it must", Err: errors.Unwrap(err),
		}
	}
	defer func() {
		if err != nil && keep != "" {
			_ = os.RemoveAll(keep) // it is new, and a part of the example is none
		}
	}()
	if err := unpack(clinic.FS(), dir); err != nil {
		return err
	}
	input, output := filepath.Join(dir, clinic.VisitsFile), filepath.Join(dir, "release.csv")
	released, err := t.service(nil).Anonymize(ctx, &api.AnonymizeRequest{
		Table: api.Table{Input: input, SpecFile: filepath.Join(dir, clinic.SpecFile)}, Output: output,
	})
	t.progress.clear()
	if err != nil {
		return err
	}
	result := &released.Result
	result.Output = "release.csv"
	out := t.stdout
	lang.Fprintf(out, "A synthetic clinic: %d {visit|visits} of %d {patient|patients}. What others may know of a patient\n(%s) is made "+
		"common to visits of %d {patient|patients}\nor more; names and numbers are dropped.\n",
		result.Rows, result.Verified.Unit.Persons, strings.Join(result.Guarantee.Quasi, ", "), result.K)
	if err := showRows(out, lang.Key("\nBefore: the first visits of a table that only the clinic may see"), input, 6, 7); err != nil {
		return err
	}
	if err := showClass(ctx, out, lang.Key("\nAfter: the visits of one class, which cannot be told apart by what others may know"), output,
		result.Guarantee.Quasi); err != nil {
		return err
	}
	fmt.Fprintln(out)
	printRelease(out, result)
	if keep == "" {
		lang.Fprintln(out, "\nNext: noren demo --keep clinic leaves these files to play with; noren --help shows the commands.")
	} else {
		lang.Fprintf(out, "\nIn %s: %s, %s and release.csv. For instance:\n  noren assess %s --spec %s --against %s --report %s\n", keep,
			clinic.VisitsFile, clinic.SpecFile,
			input, filepath.Join(dir, clinic.SpecFile), output, filepath.Join(dir, "page.html"))
	}
	return nil
}

// unpack writes the files of the example to a folder.
func unpack(from fs.FS, dir string) error {
	return fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(to, data, 0o666); err != nil {
			return &noren.Error{Where: noren.File(to), What: "cannot be written", Hint: atomicfile.Space(err), Err: atomicfile.Reason(err)}
		}
		return nil
	})
}

// showRows prints the first records of a CSV file, the first columns of them.
func showRows(out io.Writer, title lang.Key, path string, rows, columns int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	lang.Fprintln(out, title)
	w := grid.New(out)
	for range rows + 1 {
		row, err := r.Read()
		if err != nil {
			return err
		}
		fmt.Fprintln(w, "  "+strings.Join(shortAll(row[:min(columns, len(row))]), "\t")+"\t...")
	}
	return w.Flush()
}

// showClass prints one class of a release: that of its first record.
func showClass(ctx context.Context, out io.Writer, title lang.Key, path string, quasi []string) error {
	src, err := file.Open(ctx, path, file.Options{Totals: xlsx.Look})
	if err != nil {
		return err
	}
	defer closeSource(src)
	names := make([]string, 0, len(src.Columns()))
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	t, err := table.ReadText(ctx, src, names, table.ReadOptions{})
	if err != nil {
		return err
	}
	cell := func(c *table.Column, i int) string {
		if c.IsMissing(i) {
			return ""
		}
		return c.Dict[c.Codes[i]]
	}
	lang.Fprintln(out, title)
	w := grid.New(out)
	const columns = 7
	fmt.Fprintln(w, "  "+strings.Join(names[:columns], "\t")+"\t...")
	var shown, most int
	diagnoses := map[string]int{}
	for i := range t.Rows {
		same := true
		for _, q := range quasi {
			c := t.Column(q)
			same = same && cell(c, i) == cell(c, 0)
		}
		if !same {
			continue
		}
		row := make([]string, columns)
		for j := range row {
			row[j] = cell(t.Columns[j], i)
		}
		fmt.Fprintln(w, "  "+strings.Join(shortAll(row), "\t")+"\t...")
		shown++
		if c := t.Column("diagnosis"); c != nil {
			diagnoses[cell(c, i)]++
			most = max(most, diagnoses[cell(c, i)])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if 2*most > shown {
		lang.Fprintf(out, "  %d of these %d visits have one diagnosis: of a patient who is known to be among them it is likely, whatever k "+
			"is.\n  noren anonymize --l and --t bound that.\n", most, shown)
	}
	return nil
}

func shortAll(row []string) []string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = short(v)
		if out[i] == "" {
			out[i] = "-"
		}
	}
	return out
}
