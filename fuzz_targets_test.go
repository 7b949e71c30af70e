package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
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

// computes are modules that read no bytes of a file, and those of Go's own authors.
var computes = []string{"golang.org/x/", "gonum.org/v1/"}

// Where a library of others reads what the fuzz targets of a package give it, a test captures
// what the process writes meanwhile (metertest.Silent).
func TestLibrariesAreSilent(t *testing.T) {
	fuzzed, silent, foreign := map[string]bool{}, map[string]bool{}, map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasSuffix(path, "_test.go") {
			for _, i := range file.Imports {
				module := strings.Trim(i.Path.Value, `"`)
				own := strings.HasPrefix(module, "github.com/noren-privacy/") || !strings.Contains(strings.SplitN(module, "/", 2)[0], ".")
				if !own && !slices.ContainsFunc(computes, func(c string) bool { return strings.HasPrefix(module, c) }) {
					foreign[folder] = module
				}
			}
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				fuzzed[folder] = fuzzed[folder] || strings.HasPrefix(n.Name.Name, "Fuzz")
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && x.Name == "metertest" && n.Sel.Name == "Silent" {
					silent[folder] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, module := range foreign {
		if fuzzed[folder] && !silent[folder] {
			t.Errorf("%s reads by %s: expected a test that calls metertest.Silent", folder, module)
		}
	}
	if len(silent) < 9 {
		t.Errorf("%d packages with tests found", len(silent))
	}
}
