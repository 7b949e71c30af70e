package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// missingHint is what to type where a table file is not there: the name in its folder that is most
// like it, or the tables that the folder has.
func missingHint(e *noren.Error) noren.Text {
	path, ok := e.Where.(noren.File)
	if !ok {
		return noren.Text{}
	}
	const (
		looked = 1000 // names of the folder
		listed = 5
	)
	name, _, _ := strings.Cut(string(path), "?")
	folder := filepath.Dir(name)
	dir, err := os.Open(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noren.Textf("the folder %s is not there either", noren.File(folder))
	case err != nil:
		return noren.Text{}
	}
	defer func() { _ = dir.Close() }()
	all, _ := dir.Readdirnames(looked) // some suffice
	slices.Sort(all)
	tables := slices.DeleteFunc(all, func(n string) bool { return !file.IsTableName(n) || strings.HasPrefix(n, ".") || !names.Seen(n) })
	if best := table.Nearest(filepath.Base(name), tables); best != "" {
		return noren.Textf("did you mean %s?", noren.File(filepath.Join(folder, best)))
	}
	switch {
	case len(tables) == 0:
		return noren.Textf("the folder %s holds no table; name the file with its folder", noren.File(folder))
	case len(tables) > listed:
		tables = append(tables[:listed:listed], "...")
	}
	return noren.Textf("the folder %s holds %s", noren.File(folder), strings.Join(tables, ", "))
}
