package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Why a place may make or rename a file by itself. Every other writer goes by
// internal/atomicfile or internal/tempfile: its file appears whole, and what a kill leaves has
// a temporary name, is private, and goes with the next run (internal/tempfile/named.go).
const (
	byTemporary = "makes the temporary files of all writers, or gives one its name"
	byRecord    = "a file of a server, which counts by its record in server.db alone: a start removes what has none"
	byLog       = "a file that grows by whole lines or parts: its reader cuts or continues the last one"
	byDatabase  = "an empty file with mode 0600, which SQLite fills in transactions"
	byJob       = "in the folder of a job on a cluster, which the next stage reads by its record (docs/cluster.md)"
	byRename    = "renames a whole folder or file"
	byGenerator = "a generator for developers, or a demonstration in a folder of its own"
	byProbe     = "an empty file that tells the mode of the folder, and is removed"
)

var fileWriters = map[string]string{
	"internal/tempfile/named.go CreateNamed":           byTemporary,
	"internal/tempfile/lock_other.go Lock":             byTemporary,
	"internal/atomicfile/atomicfile.go publishNamed":   byTemporary,
	"internal/atomicfile/atomicfile.go namedMode":      byProbe,
	"internal/atomicfile/together.go keep":             byTemporary,
	"internal/atomicfile/together.go retract":          byTemporary,
	"internal/atomicfile/file_linux.go publish":        byTemporary,
	"internal/atomicfile/output.go NewOutput":          byRecord,
	"internal/tempfile/publish.go publish":             "gives a temporary file its final name, which replaces nothing",
	"ledger/anchor.go replaceAnchor":                   byTemporary,
	"ledger/head.go rewriteHead":                       byTemporary,
	"ledger/head.go appendHead":                        byLog,
	"ledger/create.go create":                          byTemporary,
	"table/parts/target.go putBack":                    byRename,
	"table/parts/target.go Commit":                     byRename,
	"table/parts/target.go begin":                      byTemporary,
	"table/parts/manifest.go Place":                    byTemporary,
	"kanon/shard/release.go write":                     byJob,
	"kanon/shard/release.go writeFile":                 byJob,
	"kanon/shard/changes.go rename":                    byJob,
	"kanon/shard/name.go publicMode":                   byProbe,
	"service/timeclass.go grant":                       byTemporary,
	"api/generate/main.go run":                         byGenerator,
	"lang/check/findings.go writeCounts":               byGenerator,
	"lang/check/texts.go write":                        byGenerator,
	"internal/cli/manual.go writeGenerated":            byGenerator,
	"internal/cli/demo.go runDemo":                     byGenerator,
	"internal/cli/demo.go unpack":                      byGenerator,
	"internal/cli/serve.go run":                        byGenerator,
	"internal/plainfile/plainfile.go OpenOrMake":       byLog,
	"internal/server/store/store.go Open":              byDatabase,
	"internal/server/routes_books.go sendLedger":       byRecord,
	"internal/server/apart/priority_linux.go lowest":   "sets a value of the system, which is no file of a disk",
	"internal/server/tables/add.go copyFile":           byRecord,
	"internal/server/tables/add.go readInto":           byRecord,
	"internal/server/tables/hierarchy.go SetHierarchy": byRecord,
	"internal/server/records/records.go write":         byRecord,
	"internal/server/records/release.go release":       byRecord,
	"internal/server/uploads/store.go Create":          byRecord,
	"internal/server/uploads/store.go remove":          byRecord,
	"internal/server/uploads/store.go writeMeta":       byRename,
	"internal/server/books/open.go copy":               byRecord,
	"internal/server/books/open.go copyFile":           byRecord,
}

// Every place that makes, links or renames a file is in the list above.
func TestWritersOfFiles(t *testing.T) {
	makes := map[string]bool{
		"os.Create": true, "os.CreateTemp": true, "os.MkdirTemp": true, "os.WriteFile": true, "os.Rename": true, "os.Link": true,
		"os.Symlink":  true,
		"os.OpenFile": true, "root.Create": true, "root.OpenFile": true, "root.Rename": true, "root.WriteFile": true, "unix.Linkat": true,
	}
	found := map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "web" || d.Name() == "testdata" || d.Name() == "node_modules" || path == "examples" ||
			path == "experiments" || path == "client" || path == "internal/randtest" ||
			path == "internal/meter/metertest" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				s, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !makes[written(s)] {
					return true
				}
				if strings.HasSuffix(written(s), "OpenFile") && !creates(call) {
					return true
				}
				found[filepath.ToSlash(path)+" "+fn.Name.Name] = true
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if fileWriters[place] == "" {
			t.Errorf("%s makes or renames a file: use internal/atomicfile or internal/tempfile, or say in the list why not", place)
		}
	}
	for place := range fileWriters {
		if !found[place] {
			t.Errorf("%s is in the list, and there is no such writer", place)
		}
	}
}

// creates reports whether a call of OpenFile names O_CREATE.
func creates(call *ast.CallExpr) (yes bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		yes = yes || ok && id.Name == "O_CREATE"
		return true
	})
	return yes
}
