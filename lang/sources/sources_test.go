package sources_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/lang/sources"
)

// plant writes the files of a module.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module planted\n\ngo 1.26\n"
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A text is a constant that has a type of texts where it is used, whatever its name and the function that gets it.
// Other strings are none, and nor are packages that the program does not have.
func TestFind(t *testing.T) {
	found, err := sources.Find(plant(t, map[string]string{
		"noren/noren.go": "package noren\n\ntype Format string\n\ntype Phrase string\n\ntype Term string\n\ntype Error struct {\n\tWhat " +
			"Format\n\tArgs []any\n}\n",
		"cmd/noren/main.go": `package main

import "planted/used"

func main() { used.Show("shown by the program", 1) }
`,
		"apart/apart.go": `package apart

import "planted/noren"

var E = noren.Error{What: "of a package that the program does not have"}
`,
		"used/used.go": `package used

import (
	"errors"
	"fmt"

	"planted/noren"
)

type row struct {
	A string ` + "`json:\"a\" doc:\"What is in a.\"`" + `
}

const (
	statement = "SELECT a FROM b WHERE c = ?"
	again     = "the same " + "constant"
	reason noren.Term = "a stored reason"
)

var Left = errors.New("something is left")

func Show(format noren.Format, args ...any) string { return fmt.Sprintf(string(format), args...) }

func All(stored, name string, part noren.Format) []any {
	return []any{
		row{A: statement}, fmt.Sprintf("a share of %s", name), string(reason), noren.Term(stored),
		noren.Error{What: again}, []noren.Phrase{"a phrase in a list", "%s: %d"},
		noren.Format(name), part + " with more",
	}
}
`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []sources.Text{
		{Key: "a phrase in a list"},
		{Key: "a stored reason"},
		{Key: "noren.Format(name)", Glued: true},
		{Key: "part + \" with more\"", Glued: true},
		{Key: "shown by the program"},
		{Key: "something is left"},
		{Key: "the same constant"},
	}
	if len(found) != len(want) {
		t.Fatalf("got %v, want %v", found, want)
	}
	for i, w := range want {
		if got := found[i]; got.Key != w.Key || got.Glued != w.Glued {
			t.Errorf("got %q, glued %t; want %q, %t", got.Key, got.Glued, w.Key, w.Glued)
		}
	}
}
