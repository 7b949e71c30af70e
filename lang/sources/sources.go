// Package sources finds in the code of a program the texts that users read: the constants that have a type of
// texts where they are used, and those of errors.New. They are the keys of the catalogue of package lang;
// lang/check compares both.
package sources

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"

	"github.com/noren-privacy/noren"
)

// Text is a text found.
type Text struct {
	// Key is the format in English.
	Key string
	// Place is the file, relative to the root, and the line where it was first found.
	Place string
	// Files are all files where it was found, relative to the root, sorted.
	Files []string
	// Glued reports whether the program makes the text, by + or of a string that is no constant. Its key is the
	// expression then.
	Glued bool
	// Unfilled reports whether a text with choices, such as {row|rows}, is given to package fmt or errors,
	// which knows none.
	Unfilled bool
}

// program is the program whose texts are found. Packages that it does not have, such as those of experiments, are
// in English.
const program = "./cmd/noren"

// textTypes are the types of texts. Their own packages make values of them of any string.
var textTypes = map[string]bool{"noren.Format": true, "noren.Phrase": true, "noren.Term": true, "lang.Key": true}

// Find returns the texts of the program of a module, sorted by key.
func Find(root string) ([]Text, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	all, err := load(root)
	if err != nil {
		return nil, err
	}
	f := &finder{root: root, found: map[string]*Text{}}
	for _, p := range all {
		f.pkg = p
		for _, file := range p.Syntax {
			f.file = f.relative(p.Fset.Position(file.Package).Filename)
			ast.Inspect(file, f.visit)
		}
		for _, name := range p.EmbedFiles {
			if filepath.Ext(name) == ".html" {
				if err := f.template(name); err != nil {
					return nil, err
				}
			}
		}
	}
	out := make([]Text, 0, len(f.found))
	for _, t := range f.found {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Text) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// load reads the packages of the module that the program has, with their types.
func load(root string) ([]*packages.Package, error) {
	names := packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule, Dir: root}
	of, err := packages.Load(&names, program)
	if err != nil {
		return nil, err
	}
	var own []string
	packages.Visit(of, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main {
			own = append(own, p.PkgPath)
		}
	})
	slices.Sort(own)
	syntax := packages.Config{Mode: packages.LoadSyntax | packages.NeedEmbedFiles, Dir: root}
	all, err := packages.Load(&syntax, own...)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, p := range all {
		for _, fault := range p.Errors {
			faults = append(faults, fault)
		}
	}
	slices.SortFunc(all, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return all, errors.Join(faults...)
}

// finder collects the texts of packages.
type finder struct {
	root  string
	found map[string]*Text
	pkg   *packages.Package
	file  string
}

// relative is the name of a file, relative to the root.
func (f *finder) relative(name string) string {
	if short, err := filepath.Rel(f.root, name); err == nil {
		name = short
	}
	return filepath.ToSlash(name)
}

// fixed finds the texts that a template gets from the catalogue.
var fixed = regexp.MustCompile("{{fixed `([^`]+)`}}")

// template collects the fixed texts of a template.
func (f *finder) template(name string) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f.file = f.relative(name)
	for _, m := range fixed.FindAllSubmatch(source, -1) {
		f.add(string(m[1]), f.file)
	}
	return nil
}

// add adds a text of the file that is read.
func (f *finder) add(key, place string) *Text {
	t, known := f.found[key]
	if !known {
		t = &Text{Key: key, Place: place}
		f.found[key] = t
	}
	if at, known := slices.BinarySearch(t.Files, f.file); !known {
		t.Files = slices.Insert(t.Files, at, f.file)
	}
	return t
}

// visit looks at one node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		f.call(n)
		if made := f.pkg.TypesInfo.Types[n.Fun]; made.IsType() && isText(made.Type) && f.value(n) == nil {
			f.glue(n, made.Type)
		}
	case *ast.BinaryExpr:
		if of := f.pkg.TypesInfo.TypeOf(n); isText(of) && f.value(n) == nil {
			f.glue(n, of)
			return false
		}
	}
	e, ok := n.(ast.Expr)
	if !ok {
		return true
	}
	if value := f.value(e); value != nil && isText(f.pkg.TypesInfo.TypeOf(e)) {
		f.constant(value, e)
		return false
	}
	return true
}

// value is the value of a constant string; nil for another expression.
func (f *finder) value(e ast.Expr) constant.Value {
	if value := f.pkg.TypesInfo.Types[e].Value; value != nil && value.Kind() == constant.String {
		return value
	}
	return nil
}

// isText reports whether a type is one of texts.
func isText(of types.Type) bool {
	named, ok := types.Unalias(of).(*types.Named)
	return ok && named.Obj().Pkg() != nil && textTypes[named.Obj().Pkg().Name()+"."+named.Obj().Name()]
}

// constant adds a text that has a word.
func (f *finder) constant(value constant.Value, e ast.Expr) *Text {
	key := strings.TrimSpace(constant.StringVal(value))
	if !hasWord(key) {
		return nil
	}
	return f.add(key, f.place(e))
}

// glue adds a text that the program makes, unless it does so in the package of the type.
func (f *finder) glue(e ast.Expr, of types.Type) {
	name := types.Unalias(of).(*types.Named).Obj().Name()
	if f.pkg.Name == "noren" || f.pkg.Name == "lang" || name == "Term" {
		return // a term may be a stored word
	}
	f.add(types.ExprString(e), f.place(e)).Glued = true
}

// place is the file and line of a node.
func (f *finder) place(n ast.Node) string {
	return f.file + ":" + strconv.Itoa(f.pkg.Fset.Position(n.Pos()).Line)
}

// call looks at the call of a function of another package: errors.New makes a text, and package fmt knows no choices.
func (f *finder) call(c *ast.CallExpr) {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	of := f.pkg.TypesInfo.Uses[s.Sel]
	if of == nil || of.Pkg() == nil {
		return
	}
	path := of.Pkg().Path()
	if path != "fmt" && path != "errors" {
		return
	}
	for _, e := range c.Args {
		value := f.value(e)
		if value == nil {
			continue
		}
		if path == "errors" {
			f.constant(value, e)
		}
		if key := strings.TrimSpace(constant.StringVal(value)); isChosen(key) {
			f.add(key, f.place(e)).Unfilled = true
		}
	}
}

// isChosen reports whether a format chooses words by a number.
func isChosen(format string) bool {
	found := false
	noren.Format(format).Choose(func(int) bool { found = true; return false })
	return found
}

// hasWord reports whether a format has a word of two letters beside its verbs.
func hasWord(format string) bool {
	run := 0
	for i, r := range format {
		if i > 0 && format[i-1] == '%' {
			run = 0
			continue
		}
		if !unicode.IsLetter(r) {
			run = 0
			continue
		}
		if run++; run == 2 {
			return true
		}
	}
	return false
}
