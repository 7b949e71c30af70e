package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kinds"
)

// module is the path of this module: comments of its types are in its folders.
var module = strings.TrimSuffix(reflect.TypeFor[noren.Error]().PkgPath(), "/")

// comments reads doc comments of types and of their fields.
type comments struct {
	root  string // of the module
	known map[string]map[string]string
}

// of is the comment of a type, or of one of its fields; "" where there is none.
func (c *comments) of(t reflect.Type, field string) (string, error) {
	if t == kinds.Flat() {
		t = reflect.TypeFor[kinds.Question]()
	}
	path, inside := strings.CutPrefix(t.PkgPath(), module)
	if !inside || t.Name() == "" {
		return "", nil
	}
	if c.known[path] == nil {
		texts, err := parse(filepath.Join(c.root, filepath.FromSlash(path)))
		if err != nil {
			return "", err
		}
		c.known[path] = texts
	}
	name, _, _ := strings.Cut(t.Name(), "[") // of a generic type
	if field != "" {
		name += "." + field
	}
	return c.known[path][name], nil
}

// parse reads the comments of the package in a folder, by Type and Type.Field.
func parse(dir string) (map[string]string, error) {
	out, made := map[string]string{}, map[string]string{} // made: of another type of the package, with its fields
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				typed := spec.(*ast.TypeSpec)
				text := typed.Doc
				if text == nil {
					text = group.Doc
				}
				out[typed.Name.Name] = plain(text.Text())
				switch of := typed.Type.(type) {
				case *ast.StructType:
					fieldComments(out, typed.Name.Name, of)
				case *ast.Ident:
					made[typed.Name.Name] = of.Name
				}
			}
		}
	}
	for name, of := range made {
		for field, text := range maps.Clone(out) {
			if own, ok := strings.CutPrefix(field, of+"."); ok {
				out[name+"."+own] = text
			}
		}
	}
	return out, nil
}

// fieldComments takes the comment above a field or behind it.
func fieldComments(out map[string]string, name string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		text := plain(f.Doc.Text())
		if behind := plain(f.Comment.Text()); text == "" {
			text = behind
		} else if behind != "" {
			text += " " + behind
		}
		for _, id := range f.Names {
			out[name+"."+id.Name] = text
		}
	}
}

// link is a link to an identifier in a comment.
var link = regexp.MustCompile(`(^|[^\w\]])\[(\*?[A-Za-z][\w.]*)\]`)

// plain is a comment on one line, without links.
func plain(text string) string {
	return link.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1$2")
}
