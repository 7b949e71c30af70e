package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// initialisers are the places where the initialiser of an if assigns to variables of before
// and none of them is an error: the assignment outlives the if, which a reader of the
// condition does not see.
func initialisers(f *ast.File) (places []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		a, ok := s.Init.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return true
		}
		for _, to := range a.Lhs {
			if isError(to) {
				return true
			}
		}
		places = append(places, s.Pos())
		return true
	})
	return places
}

// isError reports whether a variable or field has the name of an error.
func isError(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.HasSuffix(e.Name, "err") || strings.HasSuffix(e.Name, "Err")
	case *ast.SelectorExpr:
		return isError(e.Sel)
	case *ast.StarExpr:
		return isError(e.X)
	case *ast.IndexExpr:
		return isError(e.X)
	}
	return false
}
