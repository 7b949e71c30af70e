package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// heldByNumbers are fuzz targets whose inputs are numbers: they read no bytes.
var heldByNumbers = map[string]bool{"noise/fuzz_test.go FuzzQuantise": true, "query/bounds_test.go FuzzBounds": true}

// Every fuzz target holds the ceiling of memory for what its input takes.
func TestFuzzTargetsHoldTheirMemory(t *testing.T) {
	targets := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			targets++
			held := false
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if ok && call.Sel.Name == "Hold" {
					x, ok := call.X.(*ast.Ident)
					held = held || ok && x.Name == "metertest"
				}
				return true
			})
			if at := filepath.ToSlash(path) + " " + f.Name.Name; held == heldByNumbers[at] {
				t.Errorf("%s: expected it to call metertest.Hold with the length of its input", at)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if targets < 60 {
		t.Errorf("%d fuzz targets found", targets)
	}
}
