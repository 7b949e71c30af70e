package noren_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// deadLink matches what is left of a link in a comment that resolves to nothing: it is
// shown with its brackets.
var deadLink = regexp.MustCompile(`\[\*?([a-z]\w*\.)?[A-Z]\w+(\.\w+)?\]`)

// deadLinks are the links of a comment, as go doc reads it, that resolve to nothing.
func deadLinks(p *comment.Parser, text string) (links []string) {
	var of func(all []comment.Text)
	of = func(all []comment.Text) {
		var run strings.Builder
		for _, t := range all {
			switch t := t.(type) {
			case comment.Plain:
				run.WriteString(string(t))
			case comment.Italic:
				run.WriteString(string(t))
			case *comment.Link:
				of(t.Text)
			}
		}
		links = append(links, deadLink.FindAllString(run.String(), -1)...)
	}
	var blocks func(all []comment.Block)
	blocks = func(all []comment.Block) {
		for _, b := range all {
			switch b := b.(type) {
			case *comment.Paragraph:
				of(b.Text)
			case *comment.Heading:
				of(b.Text)
			case *comment.List:
				for _, item := range b.Items {
					blocks(item.Content)
				}
			}
		}
	}
	blocks(p.Parse(text).Content)
	return links
}

// A link in a comment that go doc shows leads to an identifier.
func TestDocLinks(t *testing.T) {
	fset := token.NewFileSet()
	folders := map[string][]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "testdata" || len(name) > 1 && name[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		dir := filepath.Dir(path)
		folders[dir] = append(folders[dir], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for dir, files := range folders {
		p, err := doc.NewFromFiles(fset, files, "github.com/noren-privacy/noren/"+filepath.ToSlash(dir))
		if err != nil {
			t.Fatal(err)
		}
		check := func(at, text string) {
			checked++
			for _, link := range deadLinks(p.Parser(), text) {
				t.Errorf("%s: %s: %s leads to nothing", dir, at, link)
			}
		}
		functions := func(all []*doc.Func) {
			for _, f := range all {
				check(f.Recv+" "+f.Name, f.Doc)
			}
		}
		values := func(all []*doc.Value) {
			for _, v := range all {
				check(strings.Join(v.Names, ", "), v.Doc)
			}
		}
		check("package", p.Doc)
		functions(p.Funcs)
		values(p.Consts)
		values(p.Vars)
		for _, of := range p.Types {
			check(of.Name, of.Doc)
			functions(of.Funcs)
			functions(of.Methods)
			values(of.Consts)
			values(of.Vars)
			for _, s := range of.Decl.Specs {
				if s, ok := s.(*ast.TypeSpec).Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						check(of.Name+"'s fields", f.Doc.Text())
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("read only %d comments", checked)
	}
}

func TestDeadLinks(t *testing.T) {
	p := &comment.Parser{LookupSym: func(_, name string) bool { return name == "Known" }}
	for text, want := range map[string]int{
		"See [Known].": 0, "See [Unknown].": 1, "See [*Unknown].": 1, "An interval [0, N] and x[i].": 0,
		"  - a list with [Unknown.Field]": 1, "# A heading": 0, "Code:\n\n\tof [Unknown]": 0,
	} {
		if got := deadLinks(p, text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
