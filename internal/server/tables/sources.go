package tables

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
)

// Entry is a file or folder of a granted folder.
type Entry struct {
	Name   string `json:"name" doc:"The name of the file or folder."`
	Folder bool   `json:"folder" doc:"Whether it is a folder."`
	Size   int64  `json:"size" doc:"The size of the file, in bytes."`
}

// Roots are the names of the granted folders.
func (t *Tables) Roots() []string { return sorted(t.config.Roots) }

// Databases are the names of the configured databases.
func (t *Tables) Databases() []string { return sorted(t.config.Databases) }

func sorted(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// root opens a granted folder.
func (t *Tables) root(name string) (*os.Root, error) {
	dir, ok := t.config.Roots[name]
	if !ok {
		return nil, problem.NotFound()
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem.New("unavailable", "The granted folder cannot be opened.")
	}
	return root, nil
}

// inside is a path within a root in its clean form; "." is the root itself.
func inside(name string) (string, bool) {
	if strings.ContainsAny(name, "\\\x00") || strings.HasPrefix(name, "/") {
		return "", false
	}
	clean := path.Clean("./" + name)
	return clean, fs.ValidPath(clean)
}

// mostEntries is how many entries of a folder are listed.
const mostEntries = 2000

// Browse lists a folder within a granted folder: folders and files that tables can be
// made of. What leads out of the granted folder is not listed.
func (t *Tables) Browse(_ context.Context, name, within string) (string, []Entry, error) {
	root, err := t.root(name)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = root.Close() }()
	at, ok := inside(within)
	if !ok {
		return "", nil, problem.NotFound()
	}
	dir, err := root.Open(at)
	if err != nil {
		return "", nil, problem.NotFound()
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, problem.NotFound()
	}
	slices.Sort(names)
	out := []Entry{}
	for _, n := range names {
		info, err := root.Stat(path.Join(at, n)) // follows links within the root alone
		switch {
		case err != nil || strings.HasPrefix(n, "."):
		case info.IsDir():
			out = append(out, Entry{Name: n, Folder: true})
		case info.Mode().IsRegular():
			if _, err := fileName(n); err == nil {
				out = append(out, Entry{Name: n, Size: info.Size()})
			}
		}
	}
	if at == "." {
		at = ""
	}
	return at, out, nil
}

// openRooted opens a regular file of a granted folder.
func (t *Tables) openRooted(s *Source) (*os.File, fs.FileInfo, error) {
	root, err := t.root(s.Root)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	at, ok := inside(s.Path)
	if !ok || at == "." {
		return nil, nil, problem.NotFound()
	}
	// The kind is checked before the file is opened: a pipe would block.
	if info, err := root.Stat(at); err != nil || !info.Mode().IsRegular() {
		return nil, nil, problem.NotFound()
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, nil, problem.NotFound()
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, problem.NotFound()
	}
	return f, info, nil
}

// unchanged reports whether the source of a table is as it was when it was copied: size
// and time of a file in a granted folder. Uploads and tables of databases are pinned.
func (t *Tables) unchanged(d *document) bool {
	if d.Source.Kind != FromRoot {
		return true
	}
	root, err := t.root(d.Source.Root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	at, ok := inside(d.Source.Path)
	if !ok {
		return false
	}
	info, err := root.Stat(at)
	return err == nil && info.Mode().IsRegular() && info.Size() == d.Size && info.ModTime().UTC().Equal(d.Modified)
}

// connection reads the connection string of a database, from a file that its owner alone
// may read.
func (t *Tables) connection(name string) (string, error) {
	file, ok := t.config.Databases[name]
	if !ok {
		return "", problem.NotFound()
	}
	unavailable := problem.New("unavailable", "The file with the connection string of the database cannot be used.").
		Hinted("it must exist, hold one line and have mode 0600")
	f, err := os.Open(file)
	if err != nil {
		return "", unavailable
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", unavailable
	}
	text, err := io.ReadAll(io.LimitReader(f, 4097))
	line := strings.TrimSpace(string(text))
	if err != nil || len(text) > 4096 || line == "" || strings.ContainsAny(line, "\r\n\x00") {
		return "", unavailable
	}
	return line, nil
}

// DatabaseTables lists the tables and views of a configured database.
func (t *Tables) DatabaseTables(ctx context.Context, name string) ([]api.DatabaseTable, error) {
	connection, err := t.connection(name)
	if err != nil {
		return nil, err
	}
	found, err := t.config.Service().DatabaseTables(ctx, &api.DatabaseTablesRequest{Connection: connection})
	if err != nil {
		return nil, unreachable(err)
	}
	return found.Tables, nil
}

// listed is the name of a table by which the listing of its database offers it. What is
// not listed, such as a table of the system, is refused: the login may read more than what
// tables are made of. A name without a schema is that of one listed table.
func (t *Tables) listed(ctx context.Context, s *Source) (string, error) {
	found, err := t.DatabaseTables(ctx, s.Database)
	if err != nil {
		return "", err
	}
	var fit []string
	for _, d := range found {
		switch {
		case d.Name == s.Table:
			return d.Name, nil
		case strings.HasSuffix(d.Name, "."+s.Table):
			fit = append(fit, d.Name)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	p := problem.New("unfit", "The database lists no table or view of that name.").Hinted("choose one of the list")
	p.Where = "source"
	return "", p
}

// unreachable is an error of a database. Where the connection fails, it says no more.
func unreachable(err error) error {
	if noren.KindOf(err) == noren.Internal {
		return problem.New("unavailable", "The database cannot be reached.")
	}
	return err
}
