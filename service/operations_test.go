package service_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/service"
)

// Every operation runs in a test of this package, which has neither a command line nor a
// terminal nor environment variables.
func TestEveryOperationHasATest(t *testing.T) {
	called := map[string]bool{}
	tests, err := filepath.Glob("*_test.go")
	must(t, err)
	for _, path := range tests {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok {
					called[method.Sel.Name] = true
				}
			}
			return true
		})
	}
	operations := reflect.TypeFor[*service.Service]()
	if operations.NumMethod() < 5 {
		t.Fatalf("found only %d operations", operations.NumMethod())
	}
	for i := range operations.NumMethod() {
		if name := operations.Method(i).Name; !called[name] {
			t.Errorf("no test of this package calls %s", name)
		}
	}
}

// Operations know no command line, no terminal and no environment: those are for front
// ends, and a server has others.
func TestOperationsKnowNoFrontEnd(t *testing.T) {
	forbidden := map[string][]string{
		"os": {
			"Stdin", "Stdout", "Stderr", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Args", "Exit",
			"UserHomeDir", "UserConfigDir", "UserCacheDir",
		},
		"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"log": {"Print", "Printf", "Println", "Fatal", "Fatalf"},
	}
	imports := []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term", "os/user", "os/signal", "net/http", "flag"}
	for _, dir := range []string{".", filepath.Join("..", "api"), filepath.Join("..", "report", "text")} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		if len(paths) == 0 {
			t.Fatalf("no file in %s", dir)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			must(t, err)
			file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
			must(t, err)
			for _, spec := range file.Imports {
				for _, not := range imports {
					if strings.Trim(spec.Path.Value, `"`) == not {
						t.Errorf("%s imports %s", path, not)
					}
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok {
						for _, name := range forbidden[of.Name] {
							if s.Sel.Name == name {
								t.Errorf("%s uses %s.%s", path, of.Name, name)
							}
						}
					}
				}
				return true
			})
			if strings.Contains(string(source), `"--`) || strings.Contains(string(source), "noren ledger") {
				t.Errorf("%s names a flag or a command", path)
			}
		}
	}
}
