package parts

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
)

// reason is the cause of a file error without the path, which the message names.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// IsPattern reports whether a path is a pattern of names, as in visits/*.csv. A file of
// that very name is no pattern.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// Find lists the table files of a folder and its subfolders, or those that match a
// pattern, in the byte order of their names. In a folder, names that begin with a dot
// or an underscore are no tables (as of Spark and Hive: _SUCCESS, _MANIFEST), and table
// tells by its name whether any other file is one; a file that is none is an error, so
// that no part of a table is left out unseen.
func Find(ctx context.Context, path string, table func(name string) bool) ([]string, error) {
	if IsPattern(path) {
		return match(path)
	}
	var found []string
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case at == path:
			return nil
		case d.Name()[0] == '.' || d.Name()[0] == '_':
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		if !table(d.Name()) {
			return &noren.Error{
				Kind: noren.Usage, Code: "not-a-table", Where: at, What: "expected a table file by its ending",
				Hint: "name the tables by a pattern, as in %s", HintArgs: []any{noren.File(filepath.Join(path, "*.csv"))},
			}
		}
		found = append(found, at)
		return nil
	})
	var said *noren.Error
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &said):
		return nil, err
	case err != nil:
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "the folder cannot be listed", Err: reason(err)}
	case len(found) == 0:
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "pattern", Where: noren.File(path),
			What: "expected a folder with table files, found none",
		}
	}
	sort(path, found)
	return found, nil
}

// sort orders paths by the bytes of their names relative to the folder, with / between
// folders on every system.
func sort(folder string, paths []string) {
	key := func(p string) string {
		if rel, err := filepath.Rel(folder, p); err == nil {
			p = rel
		}
		return filepath.ToSlash(p)
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(key(a), key(b)) })
}

func match(pattern string) ([]string, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "pattern", Where: noren.File(pattern), What: "is no valid pattern of names",
			Hint: "* matches any part of a name, ? one character, [a-c] one of some",
		}
	}
	var found []string
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "cannot be read", Err: reason(err)}
		case info.IsDir():
			return nil, &noren.Error{
				Kind: noren.Usage, Code: "pattern", Where: noren.File(pattern), What: "expected files, and %s is a folder",
				Args: []any{name}, Hint: "name the folder alone, or let the pattern match files only",
			}
		}
		found = append(found, name)
	}
	if len(found) == 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "pattern", Where: noren.File(pattern),
			What: "expected at least one file that matches the pattern, found none",
		}
	}
	sort(filepath.Dir(pattern), found)
	return found, nil
}
