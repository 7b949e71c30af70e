package service_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The programs that README.md shows are the code of this package's examples, which run
// as tests, and are as short as it states.
func TestReadmeShowsTheExamples(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	must(t, err)
	examples := map[string]string{}
	paths, err := filepath.Glob("example_*_test.go")
	must(t, err)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		must(t, err)
		examples[path] = withoutIndent(string(source))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Errorf("README.md shows %d programs, expected 2", len(blocks))
	}
	for _, b := range blocks {
		code := withoutIndent(b[1])
		if n := strings.Count(code, "\n"); n > 10 {
			t.Errorf("a program of %d lines, expected at most 10:\n%s", n, code)
		}
		found := false
		for _, source := range examples {
			found = found || strings.Contains(source, "\n"+code)
		}
		if !found {
			t.Errorf("no example of this package has this code of README.md:\n%s", code)
		}
	}
}

// withoutIndent is a text whose lines begin with their first letter.
func withoutIndent(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}
