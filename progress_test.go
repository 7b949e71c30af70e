package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// progressParameters lists the exported functions and methods of a file, those of
// interfaces among them, that have a parameter of type noren.Progress.
func progressParameters(f *ast.File) []string {
	name := "" // of the package in this file; of the root package itself there is none
	for _, i := range f.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err != nil || path != "github.com/noren-privacy/noren" {
			continue
		}
		name = "noren"
		if i.Name != nil {
			name = i.Name.Name
		}
	}
	isProgress := func(e ast.Expr) bool {
		if variadic, ok := e.(*ast.Ellipsis); ok {
			e = variadic.Elt
		}
		if pointer, ok := e.(*ast.StarExpr); ok {
			e = pointer.X
		}
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name == "Progress" && (f.Name.Name == "noren" || name == ".")
		case *ast.SelectorExpr:
			x, ok := e.X.(*ast.Ident)
			return ok && name != "" && x.Name == name && e.Sel.Name == "Progress"
		}
		return false
	}
	var found []string
	take := func(name *ast.Ident, of *ast.FuncType) {
		if !name.IsExported() {
			return
		}
		for _, p := range of.Params.List {
			if isProgress(p.Type) {
				found = append(found, name.Name)
				return
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			take(n.Name, n.Type)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				if of, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
					take(m.Names[0], of)
				}
			}
		}
		return true
	})
	return found
}

// Progress is an optional field of options in every package, and never a parameter.
func TestProgressIsAnOption(t *testing.T) {
	read := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		for _, name := range progressParameters(f) {
			t.Errorf("%s: %s has a parameter of type noren.Progress: make it a field of its options", path, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 100 {
		t.Errorf("read %d files", read)
	}
}

// The test above finds what it looks for.
func TestProgressParameters(t *testing.T) {
	const root = `import "github.com/noren-privacy/noren"` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"a function":           {"package a\n" + root + "func F(n int, p noren.Progress) {}", "F"},
		"a method":             {"package a\n" + root + "func (t T) M(p noren.Progress) {}", "M"},
		"of an interface":      {"package a\n" + root + "type I interface{ M(noren.Progress) }", "M"},
		"variadic":             {"package a\n" + root + "func F(p ...noren.Progress) {}", "F"},
		"a pointer":            {"package a\n" + root + "func F(p *noren.Progress) {}", "F"},
		"under another name":   {"package a\nimport n \"github.com/noren-privacy/noren\"\nfunc F(p n.Progress) {}", "F"},
		"in the root":          {"package noren\nfunc F(p Progress) {}", "F"},
		"a receiver":           {"package noren\nfunc (p Progress) Report() {}", ""},
		"not exported":         {"package a\n" + root + "func f(p noren.Progress) {}", ""},
		"a field":              {"package a\n" + root + "type O struct{ P noren.Progress }\nfunc F(o O) {}", ""},
		"a type of its own":    {"package a\n" + root + "type Progress int\nfunc F(p Progress) {}", ""},
		"one of another place": {"package a\nimport \"noren\"\nfunc F(p noren.Progress) {}", ""},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", c.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(progressParameters(f), " "); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
