package file

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/xlsx"
)

// IsParts reports whether a path names a table of several files: a folder, or a pattern
// such as visits/*.parquet that is not the name of a file.
func IsParts(path string) bool {
	if path == "" || path == "-" || Place(path) != path {
		return false
	}
	if book, _, sheet := strings.Cut(path, "?"); sheet && xlsx.IsName(book) {
		return false // visits.xlsx?sheet=2024
	}
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) || parts.IsPattern(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isTable reports whether a name is that of a table file, by its ending.
func isTable(name string) bool {
	_, text := csvio.DialectFor(name)
	return text || isParquet(name) || xlsx.IsName(name)
}

// IsTableName reports whether a file of that name holds a table that is read, by its ending.
func IsTableName(name string) bool { return isTable(name) }

// openParts opens all files of a folder or pattern as one table.
func openParts(ctx context.Context, path string, opts Options) (Source, error) {
	paths, err := parts.Find(ctx, path, isTable)
	if err != nil {
		return nil, err
	}
	src, err := parts.Open(ctx, opts.Name, paths, partOpener(opts))
	if err != nil {
		return nil, err
	}
	return src, nil
}

// Parts are the files of the table at path: those of a folder or pattern, else path
// itself.
func Parts(ctx context.Context, path string) ([]string, error) {
	if !IsParts(path) {
		return []string{path}, nil
	}
	return parts.Find(ctx, path, isTable)
}

// Unread refuses a folder at path that holds a file that is no part of the table: see
// [parts.Unread]. A file and a pattern name what is read, and are not looked at.
func Unread(ctx context.Context, path string) error {
	if !IsParts(path) || parts.IsPattern(path) {
		return nil
	}
	return parts.Unread(ctx, path, isTable)
}

// partOpener opens one file of several.
func partOpener(opts Options) parts.Opener {
	return func(ctx context.Context, path string) (parts.File, error) {
		o := opts
		o.Name = path
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "is a folder"}
		}
		return Open(ctx, path, o)
	}
}

// SplitOptions say how a table is written as several files.
type SplitOptions struct {
	// Rows is the largest number of records of a file. Required.
	Rows int64
	// Replace replaces the folder of an earlier result.
	Replace bool
	// Like is the source whose form text files take; its format is that of the files
	// where the path names none.
	Like table.Source
	// Dialect of text files. Defaults to that of [DialectFor].
	Dialect *csvio.Dialect
}

// SplitPath is where a table of several files is written: a folder and a name with a
// star. A path without one is the folder; its files are called part-00001 and so on,
// with the ending of the source's own files.
func SplitPath(path string, like table.Source) string {
	if strings.Contains(filepath.Base(path), "*") {
		return path
	}
	ending := ".csv"
	name := ""
	if like != nil {
		if wrapped, ok := like.(interface{ Unwrap() table.Source }); ok {
			like = wrapped.Unwrap()
		}
		name = strings.ToLower(like.Name())
	}
	for _, e := range []string{".parquet", ".pq", ".xlsx", ".tsv", ".tsv.gz", ".tsv.zst", ".csv.gz", ".csv.zst"} {
		if strings.HasSuffix(name, e) {
			ending = e
		}
	}
	return filepath.Join(path, "part-*"+ending)
}

// NewSplitTarget is a table of several files in the making: see [parts.Target]. The path
// is as in [SplitPath].
func NewSplitTarget(path string, o SplitOptions) (Split, error) {
	path = SplitPath(path, o.Like)
	if err := Check(path); err != nil {
		return nil, err
	}
	dialect := DialectFor(path, o.Like)
	if o.Dialect != nil {
		dialect = *o.Dialect
	}
	t, err := parts.NewTarget(parts.TargetOptions{
		Path: path, Rows: o.Rows, Replace: o.Replace,
		Sink: func(w io.Writer, name string, columns []table.StoredColumn) (table.Sink, error) {
			return NewSink(w, name, columns, dialect)
		},
		Open: partOpener(Options{
			Delimiter: dialect.Delimiter, Encoding: dialect.Encoding, Formulas: dialect.Formulas, Plain: true,
			Totals: xlsx.Look,
		}),
	})
	if err != nil {
		return nil, err
	}
	return splitTarget{t}, nil
}

// splitTarget is a parts.Target as a [Target].
type splitTarget struct{ *parts.Target }

// Split is a [Target] that is a folder of several files with a manifest.
type Split interface {
	Target
	// Folder is where the files will be.
	Folder() string
	// Manifest lists the files, after the sink was closed.
	Manifest() (io.ReadSeekCloser, error)
}

// ReadBack implements [Target].
func (t splitTarget) ReadBack(ctx context.Context) (Source, error) {
	src, err := t.Target.ReadBack(ctx)
	if err != nil {
		return nil, err
	}
	return src, nil
}
