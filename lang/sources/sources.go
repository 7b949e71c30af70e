// Package sources finds in Go files the texts that users read: those of errors with their
// hints and causes, of notes, and of results and pages. They are the keys of the
// catalogue of package lang; lang/check compares both.
package sources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/noren-privacy/noren"
)

// Kind says where a text is used.
type Kind string

// The kinds.
const (
	Error  Kind = "error"  // what is wrong
	Hint   Kind = "hint"   // what to do about it
	Cause  Kind = "cause"  // of an error
	Note   Kind = "note"   // a note or a warning
	Result Kind = "result" // printed or shown as a result
)

// Text is a text found.
type Text struct {
	// Key is the format in English. Parts that are not constant are %s.
	Key  string
	Kind Kind
	// Place is the file, relative to the root, and the line where it was first found.
	Place string
	// Files are all files where it was found, relative to the root, sorted.
	Files []string
	// Glued reports whether a text is made of pieces, so that its key has %s for some of them.
	Glued bool
	// Unfilled reports whether a text with choices, such as {row|rows}, is given to package fmt or errors,
	// which knows none.
	Unfilled bool
}

// Find reads all Go files below root, tests excepted, and returns the texts, sorted by
// key within each kind.
func Find(root string) ([]Text, error) {
	found := map[string]Text{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name == "report/page.html" {
				return pageTexts(path, name, found)
			}
			if skipped[name] || name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if name == "report/page.html" {
			return pageTexts(path, name, found)
		}
		if skipped[name] || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		f := &finder{found: found, file: name, place: func(n ast.Node) string { return name + ":" + strconv.Itoa(files.Position(n.Pos()).Line) }}
		f.names = strings.HasPrefix(name, "table/") && !strings.HasPrefix(name, "table/hierarchy/") && name != "table/personal/kind.go"
		ast.Inspect(file, f.visit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Text
	for _, t := range found {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Text) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return all, nil
}

// fixed finds the texts that a template gets from the catalogue.
var fixed = regexp.MustCompile("{{fixed `([^`]+)`}}")

// pageTexts collects the fixed texts of a template.
func pageTexts(path, name string, found map[string]Text) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, m := range fixed.FindAllSubmatch(source, -1) {
		addTo(found, Text{Key: string(m[1]), Kind: Result, Place: name}, name)
	}
	return nil
}

// finder collects the texts of a file.
type finder struct {
	found map[string]Text
	file  string
	names bool // lists of texts are names and no texts of ours
	place func(ast.Node) string
}

// add adds a text of at least one word.
func (f *finder) add(kind Kind, e ast.Expr) {
	text, constant := constantOf(e)
	if !constant {
		return
	}
	key := strings.TrimSpace(text)
	if (kind == Note || kind == Error) && !strings.Contains(key, " ") {
		return // a code or the name of a field
	}
	if !hasWord(key) || code.MatchString(key) {
		return
	}
	addTo(f.found, Text{Key: key, Kind: kind, Place: f.place(e), Glued: glued(e)}, f.file)
}

// addTo adds a text of a file to those that were found.
func addTo(found map[string]Text, t Text, file string) {
	if before, known := found[t.Key]; known {
		before.Glued, before.Unfilled = before.Glued || t.Glued, before.Unfilled || t.Unfilled
		t = before
	}
	if at, known := slices.BinarySearch(t.Files, file); !known {
		t.Files = slices.Insert(t.Files, at, file)
	}
	found[t.Key] = t
}

// glued reports whether a text is made of pieces by +, some of which are no literals.
func glued(e ast.Expr) bool {
	_, sum := ast.Unparen(e).(*ast.BinaryExpr)
	return sum && !joined(e)
}

// isChosen reports whether a format chooses words by a number.
func isChosen(format string) bool {
	found := false
	noren.Format(format).Choose(func(int) bool { found = true; return false })
	return found
}

// joined reports whether an expression is literals and nothing else.
func joined(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return joined(e.X)
	case *ast.BinaryExpr:
		return joined(e.X) && joined(e.Y)
	}
	return false
}

// addSentence is add for a text of several words.
func (f *finder) addSentence(kind Kind, e ast.Expr) {
	if text, constant := constantOf(e); constant && strings.Contains(strings.TrimSpace(text), " ") {
		f.add(kind, e)
	}
}

// addOther adds a sentence at a place of which nothing is known, and reports whether its
// parts are known by it.
func (f *finder) addOther(e ast.Expr) bool {
	text, _ := constantOf(e)
	key := strings.TrimSpace(text)
	if literals[key] || lists.MatchString(text) {
		return true
	}
	if !strings.Contains(key, " ") || !hasWord(symbols.ReplaceAllString(key, "")) {
		return false
	}
	f.add(Result, e)
	return true
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

// constantOf is the text of an expression, with %s for the parts that are no constants;
// constant is false where none of it is one.
func constantOf(e ast.Expr) (text string, constant bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "%s", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return constantOf(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "%s", false
		}
		left, one := constantOf(e.X)
		right, other := constantOf(e.Y)
		return left + right, one || other
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) > 0 && (s.Sel.Name == "Sprintf" || s.Sel.Name == "Text" || s.Sel.Name == "Key") {
			if text, constant := constantOf(e.Args[0]); constant {
				return text, true
			}
		}
	}
	return "%s", false
}

// visit looks at one node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field: // its tag is none
		for _, name := range n.Names {
			ast.Inspect(name, f.visit)
		}
		ast.Inspect(n.Type, f.visit)
		return false
	case *ast.CallExpr:
		f.call(n)
		return !takesNoText(n)
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && helpTexts[key.Name] {
			return false
		}
		if key, ok := n.Key.(*ast.Ident); ok {
			switch key.Name {
			case "What":
				f.add(Error, n.Value)
			case "Hint":
				f.add(Hint, n.Value)
			case "Text":
				f.add(Note, n.Value)
			case "Why", "Statement", "Label", "Caption", "Axis", "Across":
				f.add(Result, n.Value)
			case "Header":
				if heads, ok := n.Value.(*ast.CompositeLit); ok {
					for _, head := range heads.Elts {
						f.add(Result, head)
					}
				}
			}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if isUsage(to) {
				return false
			}
			if i < len(n.Rhs) {
				switch typeName(to) {
				case "What", "what":
					f.addSentence(Error, n.Rhs[i])
				case "Hint", "hint":
					f.addSentence(Hint, n.Rhs[i])
				}
			}
		}
	case *ast.CompositeLit:
		if array, ok := n.Type.(*ast.ArrayType); ok && f.names && typeName(array.Elt) == "string" {
			return false // words by which columns are recognised
		}
		if name := typeName(n.Type); name == "fault" && len(n.Elts) == 4 {
			f.add(Error, n.Elts[2])
			f.add(Hint, n.Elts[3])
		} else if name == "Line" && len(n.Elts) == 2 {
			f.add(Result, n.Elts[0])
			f.add(Result, n.Elts[1])
		}
	case *ast.BinaryExpr:
		return !f.addOther(n)
	case *ast.BasicLit:
		f.addOther(n)
	}
	return true
}

// typeName is the name of a type without its package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// call collects the texts that a call gets.
func (f *finder) call(c *ast.CallExpr) {
	name, of := "", ""
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		if x, ok := fun.X.(*ast.Ident); ok {
			of = x.Name
		}
	}
	if of == "fmt" || of == "errors" {
		for _, e := range c.Args {
			text, constant := constantOf(e)
			if key := strings.TrimSpace(text); constant && isChosen(key) {
				addTo(f.found, Text{Key: key, Kind: Result, Place: f.place(e), Unfilled: true}, f.file)
			}
		}
	}
	arg := func(kind Kind, i int) {
		if i >= 0 && i < len(c.Args) {
			f.add(kind, c.Args[i])
		}
	}
	switch {
	case name == "Usagef" || name == "usage" || name == "fault":
		arg(Error, 1)
		if name == "fault" {
			arg(Hint, 2)
		}
	case name == "bad" && len(c.Args) == 4:
		arg(Error, 2)
		arg(Hint, 3)
	case name == "bad" && len(c.Args) == 3, name == "add" && of == "f" && len(c.Args) == 4:
		arg(Error, len(c.Args)-2)
		arg(Hint, len(c.Args)-1)
	case (name == "bad" || name == "fail") && len(c.Args) == 2 && of != "noren":
		arg(Error, 0)
		arg(Hint, 1)
	case name == "badHeader" || name == "changedError":
		arg(Error, 2)
	case name == "expect" && len(c.Args) == 2:
		arg(Hint, 1)
	case name == "refuse" && len(c.Args) == 2, name == "badPlan":
		arg(Error, 0)
		arg(Hint, 1)
	case name == "Textf" || name == "Phrase", name == "Words" || name == "Key" && of == "lang":
		arg(Result, 0)
	case name == "add" && of == "bad":
		arg(Error, 1)
		arg(Hint, 2)
	case name == "openSide" || name == "readFile" || name == "ReadSide":
		arg(Error, 1)
	case name == "fixed":
		arg(Error, 0)
	case name == "unclearf":
		arg(Error, 0)
	case name == "Hinted":
		arg(Hint, 0)
	case name == "Errorf" && of == "fmt", name == "New" && of == "errors", name == "Reasonf":
		arg(Cause, 0)
	case name == "note" || name == "warn" || name == "columnNote":
		for i := range c.Args {
			arg(Note, i)
		}
	case of == "lang" && (name == "Fprintf" || name == "Fprintln"):
		arg(Result, 1)
	case name == "Text":
		arg(Result, 0)
	case name == "row":
		arg(Result, 0)
	case name == "Header":
		for i := range c.Args {
			arg(Result, i)
		}
	case name == "Counted" && len(c.Args) == 2:
		arg(Result, 1)
	case name == "printLine":
		arg(Result, 1)
		arg(Result, 2)
	}
}
