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

// .ci/run runs long trials by their name: a test is called TestLong... if and only if
// its first statement is randtest.Long(t).
func TestTrialsAreFound(t *testing.T) {
	trials := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			named, calls := strings.HasPrefix(f.Name.Name, "TestLong"), callsLong(f)
			if named != calls {
				t.Errorf("%s: %s: the name begins with TestLong is %v, and it begins with randtest.Long(t) is %v", path, f.Name.Name, named, calls)
			}
			if calls {
				trials++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if trials == 0 {
		t.Error("there are no long trials")
	}
}

func callsLong(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	s, ok := f.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := name.X.(*ast.Ident)
	return ok && from.Name == "randtest" && name.Sel.Name == "Long"
}
