package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A privacy loss is printed by LossText or LossFigure, which round up: no verb of package fmt
// and no other function that cuts digits is given one.
func TestLossesArePrintedRoundedUp(t *testing.T) {
	loss := regexp.MustCompile(
		`(^|\.)([eE]psilon|[dD]elta|[rR]ho|Lifetime|AllReports|PaidEpsilon|([lL]oss|[lpu])\.(Report|Record)|Leakage\.(Upper|Lower)|[lL]\.(Upper|Lower))(\(\))?$`)
	cuts := regexp.MustCompile(`^%[-+ #0]*[0-9]*\.[0-9]+[efgG]$|^%[-+ #0]*[0-9]*f$`)
	verb := regexp.MustCompile(`%[-+ #0]*[0-9]*(\.[0-9]+)?[a-zA-Z%]`)
	rounding := map[string]bool{
		"Number": true, "figure": true, "Figure": true, "short": true, "Percent": true, "share": true, "Share": true,
		"four": true, "threeDigits": true, "significant": true,
	}
	files := token.NewFileSet()
	calls := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "web" || d.Name() == "testdata" || d.Name() == "node_modules" || path != "." &&
			strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fault := func(arg ast.Expr) {
				t.Errorf("%s: %s is printed with fewer digits and may be rounded down: noren.LossText, noren.LossFigure or text.LossFigure",
					files.Position(call.Pos()), written(arg))
			}
			name := written(call.Fun)
			name = name[strings.LastIndexByte(name, '.')+1:]
			switch {
			case rounding[name] && len(call.Args) == 1 && loss.MatchString(written(call.Args[0])):
				fault(call.Args[0])
			case name == "FormatFloat" && len(call.Args) == 4 && written(call.Args[2]) != "-1" && loss.MatchString(written(call.Args[0])):
				fault(call.Args[0])
			}
			for i, arg := range call.Args {
				format, ok := arg.(*ast.BasicLit)
				if !ok || format.Kind != token.STRING || !strings.Contains(format.Value, "%") {
					continue
				}
				text, err := strconv.Unquote(format.Value)
				if err != nil {
					continue
				}
				calls++
				at := i
				for _, v := range verb.FindAllString(text, -1) {
					if v == "%%" {
						continue
					}
					if at++; at < len(call.Args) && cuts.MatchString(v) && loss.MatchString(written(call.Args[at])) {
						fault(call.Args[at])
					}
				}
				break
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls < 1000 {
		t.Errorf("only %d formats were read", calls)
	}
}

// written is an expression of names, selectors, calls and pointers as it is written.
func written(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return written(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return written(e.X)
	case *ast.ParenExpr:
		return written(e.X)
	case *ast.CallExpr:
		return written(e.Fun) + "()"
	case *ast.UnaryExpr:
		return e.Op.String() + written(e.X)
	case *ast.BasicLit:
		return e.Value
	case *ast.IndexExpr:
		return written(e.X) + "[]"
	case *ast.BinaryExpr:
		return written(e.X) + " " + e.Op.String() + " " + written(e.Y)
	}
	return ""
}
