package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// longLines are the numbers of the lines of a text with too many columns, without those of which
// a part cannot be divided.
func longLines(text string, whole map[int]bool) (lines []int) {
	for i, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > most && !whole[i+1] {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// output is the first line of what an example prints.
var output = regexp.MustCompile(`(?m)^// (?i:output|unordered output):`)

// whole are the lines of a file that hold a part of a raw string or of the output of an example.
func whole(set *token.FileSet, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	add := func(n ast.Node) {
		for line := set.Position(n.Pos()).Line; line <= set.Position(n.End()).Line; line++ {
			lines[line] = true
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if output.MatchString(c.Text) {
				add(group)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
			add(l)
		}
		return true
	})
	return lines
}
