package service_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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

// Every operation has one form, so that a front end can treat all alike:
//
//	M(ctx, r *api.MRequest) (*T, error)
//
// Without a request it takes ctx alone, and without a result it returns an error alone.
// MPrice and QueryAccuracy take the request of the operation whose cost or error they
// MPrice, QueryAccuracy and AnonymizePlan take the request of the operation that they say
// something about.
func TestOperationsHaveOneForm(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	operations := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || types.ExprString(f.Recv.List[0].Type) != "*Service" {
				continue
			}
			operations++
			if fault := operationFault(f); fault != "" {
				t.Errorf("%s: %s: %s", path, f.Name, fault)
			}
		}
	}
	if n := reflect.TypeFor[*service.Service]().NumMethod(); operations != n {
		t.Errorf("read %d operations of %d", operations, n)
	}
}

func TestOperationFault(t *testing.T) {
	for signature, sound := range map[string]bool{
		"Sum(ctx context.Context, r *api.SumRequest) (*api.Sum, error)":           true,
		"SumPrice(ctx context.Context, r *api.SumRequest) (*api.Quote[X], error)": true,
		"Sum(_ context.Context, r *api.SumRequest) error":                         true,
		"Sum(context.Context) (*api.Sum, error)":                                  true,
		"Sum(ctx context.Context, r api.SumRequest) (*api.Sum, error)":            false,
		"Sum(ctx context.Context, q *api.SumRequest) (*api.Sum, error)":           false,
		"Sum(ctx context.Context, r *api.CountRequest) (*api.Sum, error)":         false,
		"Sum(ctx context.Context, path string) (*api.Sum, error)":                 false,
		"Sum(r *api.SumRequest, ctx context.Context) (*api.Sum, error)":           false,
		"Sum(ctx context.Context, r *api.SumRequest, n int) (*api.Sum, error)":    false,
		"Sum(ctx context.Context, r *api.SumRequest) (api.Sum, error)":            false,
		"Sum(ctx context.Context, r *api.SumRequest) (*api.Sum, bool, error)":     false,
		"Sum(ctx context.Context, r *api.SumRequest) *api.Sum":                    false,
		"Sum(r *api.SumRequest) error":                                            false,
		"Sum(ctx context.Context, r *api.SumRequest)":                             false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc (s *Service) "+signature, 0)
		must(t, err)
		if fault := operationFault(file.Decls[0].(*ast.FuncDecl)); (fault == "") != sound {
			t.Errorf("%s: %q", signature, fault)
		}
	}
}

// operationFault says how a method differs from the form of an operation; "" if it has
// that form.
func operationFault(f *ast.FuncDecl) string {
	arguments := f.Type.Params.List
	if len(arguments) == 0 || types.ExprString(arguments[0].Type) != "context.Context" || len(arguments[0].Names) > 1 {
		return "expected a context first"
	}
	if len(arguments) > 2 {
		return "expected one request"
	}
	if len(arguments) == 2 {
		of := strings.TrimSuffix(strings.TrimSuffix(f.Name.Name, "Price"), "Accuracy")
		if of == "AnonymizePlan" {
			of = "Anonymize"
		}
		want := "*api." + of + "Request"
		if got := types.ExprString(arguments[1].Type); got != want {
			return "expected the request " + want + ", got " + got
		}
		if names := arguments[1].Names; len(names) != 1 || names[0].Name != "r" {
			return "expected the request to be named r"
		}
	}
	var results []string
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			results = append(results, types.ExprString(r.Type))
		}
	}
	if n := len(results); n == 0 || n > 2 || results[n-1] != "error" || n == 2 && !strings.HasPrefix(results[0], "*") {
		return "expected a pointer to the result and an error, or an error"
	}
	return ""
}
