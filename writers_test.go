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

// cellWriters are the places that write cells which somebody may open in a spreadsheet, each
// with what becomes of texts that it takes for formulas (docs/formats.md, "Formulas").
var cellWriters = map[string]string{
	"kanon/write.go file.NewSink":              "a release: counted, and the choice of the request",
	"kanon/shard/release.go file.NewSink":      "a part of a release on a cluster: counted, and the choice of the job",
	"service/anonymize.go file.NewTarget":      "a table of PostgreSQL: a text is no formula there, and the choice is refused",
	"service/anonymize.go file.NewSplitTarget": "a release in several files: counted, and the choice of the request",
	"service/ratio_files.go file.NewSink": "a public table with weights: counted and kept, as it is read again beside the " +
		"public table",
	"internal/cli/hierarchy.go csv.NewWriter": "a proposed hierarchy: its values are numbers, dates and codes of known forms, " +
		"and none is a formula",
	"internal/server/tables/hierarchy.go csv.NewWriter": "the same for stewards over HTTP",
	"internal/cli/ldp_estimate.go ldp.WriteMap":         "public candidates for other programs of RAPPOR, kept",
	"internal/cli/ldp_estimate.go ldp.WriteParams":      "numbers",
	"ldp/survey/header.go ldp.WriteCounts":              "numbers",
	"release/copy.go file.NewSink":                      "a private copy in Parquet, where a text is no formula",
	"service/copy.go file.Create":                       "a private copy that a server reads, which no one opens",

	"table/file/file.go parquetio.NewSink": "cells have types: a text is no formula",
	"table/file/file.go xlsx.NewSink":      "cells have types: a text is no formula, and has a mark where it looks like one",
	"table/file/file.go csvio.NewSink":     "the writer of text files, which counts and marks",
	"table/file/parts.go parts.NewTarget":  "several files by the writers above",
	"table/file/name.go pg.NewTarget":      "a table of PostgreSQL",
}

// Every writer of cells in the product is in the list above.
func TestWritersOfCells(t *testing.T) {
	writers := map[string]bool{
		"csv.NewWriter": true, "file.NewSink": true, "file.Create": true, "file.NewTarget": true, "file.NewSplitTarget": true,
		"csvio.NewSink": true, "xlsx.NewSink": true,
		"parquetio.NewSink": true, "parts.NewTarget": true, "pg.NewTarget": true, "ldp.WriteMap": true, "ldp.WriteParams": true,
		"ldp.WriteCounts": true,
	}
	found := map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "web" || d.Name() == "testdata" || d.Name() == "node_modules" || path == "examples" ||
			path == "experiments" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			// The writer of encoding/csv must be called by its own name to be found.
			if i.Path.Value == `"encoding/csv"` && i.Name != nil {
				t.Errorf("%s: encoding/csv has another name", path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && writers[written(s)] {
				found[filepath.ToSlash(path)+" "+written(s)] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if cellWriters[place] == "" {
			t.Errorf("%s writes cells: say in the list what becomes of formulas", place)
		}
	}
	for place := range cellWriters {
		if !found[place] {
			t.Errorf("%s is in the list, and there is no such writer", place)
		}
	}
}
