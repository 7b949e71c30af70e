package parts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table/parts"
)

// Where a file system cannot exchange names, a kill between two renames leaves the old folder
// under another name: the next run gives it its own back, or removes it beside the new one.
func TestTargetAfterAKill(t *testing.T) {
	for name, c := range map[string]struct{ there, replace, left bool }{
		"before the new one": {false, true, false}, "before the new one, and nothing may be replaced": {false, false, false},
		"after the new one": {true, true, false}, "after the new one, and nothing may be replaced": {true, false, true},
	} {
		dir := t.TempDir()
		aside, folder := filepath.Join(dir, ".out.noren-old"), filepath.Join(dir, "out")
		for path, text := range map[string]string{aside: "old", folder: "new"} {
			if path == folder && !c.there {
				continue
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "part-00001.csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := parts.NewTarget(parts.TargetOptions{Path: filepath.Join(folder, "part-*.csv"), Rows: 1, Replace: c.replace})
		if (err == nil) != c.replace {
			t.Errorf("%s: %v", name, err)
		}
		want := "old"
		if c.there {
			want = "new"
		}
		if text, err := os.ReadFile(filepath.Join(folder, "part-00001.csv")); err != nil || string(text) != want {
			t.Errorf("%s: the folder has %q, %v", name, text, err)
		}
		if _, err := os.Lstat(aside); (err == nil) != c.left {
			t.Errorf("%s: the old folder: %v", name, err)
		}
	}
}
