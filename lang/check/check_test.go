package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/lang"
)

// Every text that users read has a translation, every translation is of such a text and has its
// arguments, and no count has risen.
func TestTexts(t *testing.T) {
	s, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.code) < 4000 || len(s.entries) < 4000 {
		t.Fatalf("found only %d texts and %d translations", len(s.code), len(s.entries))
	}
	known, err := readCounts("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report(&out, known, s.findings()); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if all := lang.Catalogue(); len(all) != len(s.entries) {
		t.Errorf("the program has %d translations, and the files have %d", len(all), len(s.entries))
	}
}

// planted makes a module with texts and translations.
func planted(t *testing.T, code, translations string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module planted\n\ngo 1.26\n", "cmd/noren/main.go": "package main\n\nimport _ \"planted/a\"\n\nfunc main() {}\n",
		"noren/noren.go": "package noren\n\ntype Format string\n\nfunc Textf(Format, ...any) {}\n",
		"a/a.go":         code, "lang/ja/noren.po": translations, countsFile: "missing 0\nunused 0\narguments 0\nglued 0\n",
	} {
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

const (
	plantedCode = "package a\n\nimport . \"planted/noren\"; func F(b Format) { Textf(\"the first text\"); Textf(\"%d of the rows in %s\", " +
		"1, \"\"); Textf(\"a \" + b) }\n"
	plantedPO = "msgid \"the first text\"\nmsgstr \"一\"\n\nmsgid \"%d of the rows in %s\"\nmsgstr \"%s の %d 行\"\n\n# why\nmsgid \"no " +
		"text any more\"\nmsgstr \"無\"\n"
)

// Each kind of fault is found.
func TestFindings(t *testing.T) {
	s, err := load(planted(t, plantedCode, plantedPO))
	if err != nil {
		t.Fatal(err)
	}
	found := s.findings()
	for k, want := range map[kind]string{
		missing:   "",
		unused:    `noren.po: "no text any more"`,
		arguments: `noren.po: "%d of the rows in %s" writes argument 1 by %s, the key by %d`,
		glued:     `a/a.go:3: "a " + b`,
		misplaced: "a.po noren.po",
	} {
		var lines []string
		for _, line := range found[k] {
			if !strings.Contains(line, ": message ") && !strings.Contains(line, ": word ") { // of the module itself
				lines = append(lines, line)
			}
		}
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("%s: %s, want %s", k, got, want)
		}
	}
	var out bytes.Buffer
	if err := report(&out, map[kind]int{glued: 1, missing: 1000}, found); err == nil || strings.Contains(out.String(), "lang/messages.go") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A number with what it counts has a choice, and a choice is for what knows it.
func TestPlurals(t *testing.T) {
	for format, want := range map[string]bool{
		"%d rows are left out":                     true,
		"%d hidden rows":                           true,
		"%s records":                               true,
		"%[2]d different values":                   true,
		"%d {row|rows} of %d columns":              true,
		"%d {row is|rows are} left out":            false,
		"%s %d {value|values}":                     false,
		"line %d names the columns":                false,
		"more than %d rows":                        false,
		"%s holds values":                          false,
		"%d of %d {class|classes} {1|has|have} %s": false,
	} {
		if got := lacksPlural(format); got != want {
			t.Errorf("%q: %v", format, got)
		}
	}
	code := "package a\n\nimport ( \"fmt\"; . \"planted/noren\" ); func F() { _ = fmt.Sprint(\"%d {row|rows} of it\", 1); Textf(\"%d " +
		"{row|rows} of them\", 1); Textf(\"%d rows of these\", 1) }\n"
	s, err := load(planted(t, code, plantedPO))
	if err != nil {
		t.Fatal(err)
	}
	found := s.findings()
	if got := strings.Join(found[unfilled], " "); got != `a/a.go:3: "%d {row|rows} of it"` {
		t.Error(got)
	}
	if got := strings.Join(found[plurals], " "); got != `a/a.go:3: "%d rows of these"` {
		t.Error(got)
	}
}

// A translation is added to the file of its package, and a text of no code is refused. The file
// is written with the places, and comments stay.
func TestAdd(t *testing.T) {
	root := planted(t, plantedCode, plantedPO)
	if err := run(root, options{write: true, add: true}, []string{"not in the code", "無"}); err == nil ||
		!strings.Contains(err.Error(), "no text of the code") {
		t.Error(err)
	}
	if err := run(root, options{write: true, add: true}, []string{"%d of the rows in %s", "%s の %d 行"}); err == nil ||
		!strings.Contains(err.Error(), "writes argument 1") {
		t.Error(err)
	}
	_ = run(root, options{write: true, add: true}, []string{"%d of the rows in %s", "%[2]s の %[1]d 行"}) // it lacks messages
	got, err := os.ReadFile(filepath.Join(root, "lang", "ja", "a.po"))
	if err != nil {
		t.Fatal(err)
	}
	if _, entries, _ := strings.Cut(string(got), "\n\n"); entries != `#: a/a.go
msgid "%d of the rows in %s"
msgstr "%[2]s の %[1]d 行"

#: a/a.go
msgid "the first text"
msgstr "一"
` {
		t.Errorf("%s", got)
	}
	if got, _ := os.ReadFile(filepath.Join(root, "lang", "ja", "noren.po")); !strings.Contains(string(got),
		"# why\nmsgid \"no text any more\"") {
		t.Errorf("%s", got)
	}
	_ = run(root, options{write: true, remove: true}, nil)
	if _, err := os.ReadFile(filepath.Join(root, "lang", "ja", "noren.po")); !os.IsNotExist(err) {
		t.Errorf("the unused text is left: %v", err)
	}
}

// A count that has fallen is written, and one that has risen is not.
func TestCounts(t *testing.T) {
	root := planted(t, plantedCode, plantedPO)
	if err := writeCounts(root, map[kind]int{missing: 5, glued: 0}, map[kind][]string{missing: {"a"}, glued: {"b"}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := readCounts(root); got[missing] != 1 || got[glued] != 0 {
		t.Errorf("%v", got)
	}
}
