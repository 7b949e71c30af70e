package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// frontEndText is a flag or a command of the command line in a text.
var frontEndText = regexp.MustCompile(
	`(^|[^-\w])--[a-z]|\bnoren (anonymize|assess|certificate|correlated|init|inspect|ledger|outliers|query|ratio|reconcile|verify) `)

// Errors of library packages name no flag and no command: a front end knows its own. The table
// of parameters holds the help of their flags.
func TestLibrariesNameNoFlags(t *testing.T) {
	for _, dir := range []string{
		"account", "api", "assess", "certificate", "correlated", "dataset", "kanon", "ldp", "learn", "ledger",
		"noise", "outlier", "query", "ratio", "release", "report", "service", "spec", "table",
	} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				path == filepath.Join("spec", "parameters.go") {
				return err
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && frontEndText.MatchString(strings.Trim(l.Value, "`\"")) {
					t.Errorf("%s: a flag or command in %s", set.Position(l.Pos()), l.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !frontEndText.MatchString("allow more (--memory)") || !frontEndText.MatchString("see noren ledger show ") ||
		frontEndText.MatchString("a -- b, l-diversity") {
		t.Error("the pattern is wrong")
	}
}
