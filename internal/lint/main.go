// Command lint checks the style of all sources below the working folder: phrases that are not
// used in documents, comments, help and texts, lines of Go above 140 columns, and assignments
// to anything but an error in the initialiser of an if.
//
//	go run ./internal/lint
//
// A line that holds a part of a raw string, or of the output of an example, may be longer: to
// divide it would change it.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// most is the number of columns of a line; a tab is one.
const most = 140

func main() {
	faults, err := lint(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	for _, fault := range faults {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// lint returns what is wrong in the sources below root, each with its place.
func lint(root string) (faults []string, err error) {
	check := func(at, text string) {
		if found, instead := unusedPhrase(strings.Join(strings.Fields(text), " ")); found != "" {
			faults = append(faults, fmt.Sprintf("%s: %q; write: %s", at, found, instead))
		}
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "testdata" || name == "dist" || len(name) > 1 && name[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		name := filepath.ToSlash(path)
		document := strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt") && strings.Contains(name, "/help/")
		if !document && !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if document {
			for _, paragraph := range strings.Split(string(text), "\n\n") {
				line, _, _ := strings.Cut(strings.TrimSpace(paragraph), "\n")
				check(name+": "+line, paragraph)
			}
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, line := range longLines(string(text), whole(set, f)) {
			faults = append(faults, fmt.Sprintf("%s:%d: above %d columns", name, line, most))
		}
		if strings.HasPrefix(name, "internal/lint/") {
			return nil // it has the phrases
		}
		for _, at := range initialisers(f) {
			faults = append(faults, set.Position(at).String()+": assigned in the initialiser of an if; write the assignment before it")
		}
		for _, group := range f.Comments {
			check(set.Position(group.Pos()).String(), group.Text())
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				check(set.Position(l.Pos()).String(), l.Value)
			}
			return true
		})
		return nil
	})
	return faults, err
}
