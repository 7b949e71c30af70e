package lang

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every stage that a package reports has a translation, and every translation a stage.
func TestStages(t *testing.T) {
	reported := regexp.MustCompile(`(?:(?:Report|Progress)\(\s*|Parallel\(ctx, [^"\n]*)"([a-z ]+?) ?"`)
	found := map[string]bool{}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, m := range reported.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
			if Japanese.Stage(string(m[1])) == string(m[1]) {
				t.Errorf("%s: the stage %q has no translation", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range Catalogue() {
		if e.Context == Stage && !found[string(e.Key)] {
			t.Errorf("%q is no stage", e.Key)
		}
	}
}
