package noren_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// A codeUse is a place in the program's source that sets a code, with the kind that is
// set beside it, "" where there is none.
type codeUse struct {
	position, code, kind string
}

// sources parses the program's files, without tests.
func sources(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	set, files := token.NewFileSet(), map[string]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files[path], err = parser.ParseFile(set, path, nil, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, files
}

// stringConstants are the constants of all files, by folder and name.
func stringConstants(files map[string]*ast.File) map[string]string {
	out := map[string]string{}
	for path, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) {
					continue
				}
				if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					out[filepath.Dir(path)+"."+name.Name] = text
				}
			}
			return true
		})
	}
	return out
}

// codeUses finds the literals of Error, the assignments to a field Code, and the calls of
// Coded, whose code can be read off the source.
func codeUses(t *testing.T) []codeUse {
	set, files := sources(t)
	constants := stringConstants(files)
	var uses []codeUse
	for path, file := range files {
		value := func(e ast.Expr) string {
			switch e := e.(type) {
			case *ast.BasicLit:
				text, _ := strconv.Unquote(e.Value)
				return text
			case *ast.Ident:
				return constants[filepath.Dir(path)+"."+e.Name]
			case *ast.SelectorExpr:
				if of, ok := e.X.(*ast.Ident); ok {
					for name, text := range constants {
						if strings.HasSuffix("/"+name, "/"+of.Name+"."+e.Sel.Name) {
							return text
						}
					}
				}
			}
			return ""
		}
		add := func(n ast.Node, code ast.Expr, kind string) {
			if text := value(code); text != "" {
				uses = append(uses, codeUse{set.Position(n.Pos()).String(), text, kind})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if !isError(n.Type) {
					return true
				}
				var code ast.Expr
				kind := ""
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						switch fmt.Sprint(pair.Key) {
						case "Code":
							code = pair.Value
						case "Kind":
							if s, ok := pair.Value.(*ast.SelectorExpr); ok && fmt.Sprint(s.X) == "noren" {
								kind = s.Sel.Name
							} else if _, plain := pair.Value.(*ast.Ident); !plain {
								kind = "?" // of another error
							}
						}
					}
				}
				if code != nil {
					if kind == "" {
						kind = "Internal"
					}
					add(n, code, strings.TrimPrefix(kind, "?"))
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" && i < len(n.Rhs) {
						add(n, n.Rhs[i], "")
					}
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Coded" && len(n.Args) == 1 {
					add(n, n.Args[0], "")
				}
			}
			return true
		})
	}
	return uses
}

func isError(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return fmt.Sprint(e.X) == "noren" && e.Sel.Name == "Error"
	case *ast.Ident:
		return e.Name == "Error"
	}
	return false
}

// kindName is the name of the constant of a kind.
var kindName = map[noren.Kind]string{
	noren.Internal: "Internal", noren.Usage: "Usage", noren.BadData: "BadData",
	noren.NotMet: "NotMet", noren.Refused: "Refused", noren.Interrupted: "Interrupted",
}

// Every code is in the one table, and is set with the kind that it has there.
func TestCodesAreInTheTable(t *testing.T) {
	table, used := map[string]noren.Kind{}, map[string]bool{}
	for _, c := range noren.Codes() {
		if _, twice := table[c.Name]; twice || c.Meaning == "" {
			t.Errorf("code %s stands twice, or has no meaning", c.Name)
		}
		table[c.Name] = c.Kind
	}
	if !slices.IsSortedFunc(noren.Codes(), func(a, b noren.Code) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the codes are not sorted by name: KindOf would not find them")
	}
	uses := codeUses(t)
	if len(uses) < 40 {
		t.Fatalf("found only %d places that set a code", len(uses))
	}
	for _, u := range uses {
		kind, known := table[u.code]
		switch {
		case !known:
			t.Errorf("%s: code %q is not in codes.go", u.position, u.code)
		case u.kind != "" && u.kind != kindName[kind]:
			t.Errorf("%s: code %q has kind %s here and %s in codes.go", u.position, u.code, u.kind, kindName[kind])
		}
		used[u.code] = true
	}
	for name := range table {
		if !used[name] {
			t.Errorf("code %s is set nowhere", name)
		}
	}
}

func TestKindFollowsCode(t *testing.T) {
	for _, c := range noren.Codes() {
		if kind := noren.KindOf(&noren.Error{Code: c.Name}); kind != c.Kind {
			t.Errorf("KindOf with code %s is %v, want %v", c.Name, kind, c.Kind)
		}
		if e := noren.Usagef("x", "%d", 1).Coded(c.Name); e.Kind != c.Kind || e.Code != c.Name {
			t.Errorf("Coded(%q): %+v", c.Name, e)
		}
	}
	if kind := noren.KindOf(&noren.Error{Kind: noren.NotMet, Code: "no such code"}); kind != noren.NotMet {
		t.Errorf("an unknown code changed the kind to %v", kind)
	}
}
