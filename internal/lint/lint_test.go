package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestUnusedPhrase(t *testing.T) {
	for text, want := range map[string]string{
		"Nobody knows":                   "Nobody",
		"at the most five":               "at the most",
		"drawn by the law of the noise":  "law",
		"degrees follow a power law":     "",
		"publishes at most five records": "",
		"what it handed out":             "handed out",
		"the Waiting room":               "",
		"a ROOM beside the waiting room": "ROOM",
		"two tolls":                      "tolls",
		"What she buys":                  "buys",
	} {
		if got, _ := unusedPhrase(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

func TestLinesAboveTheLimit(t *testing.T) {
	fits := "\t// " + strings.Repeat("é", most-4)
	text := fits + "\n" + fits + "e\n" + fits
	if got := longLines(text, nil); len(got) != 1 || got[0] != 2 {
		t.Errorf("found the lines %v, want line 2", got)
	}
}

func TestLinesThatCannotBeDivided(t *testing.T) {
	long := strings.Repeat("é", most)
	text := "package a\n\nvar a = `" + long + "`\nvar b = `\n" + long + "\n`\nvar c = \"" + long + "\"\n\nfunc Example() {\n\t// " + long +
		"\n\tf()\n\t// Output:\n\t// " + long + "\n}\n"
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "a.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := longLines(text, whole(set, f)), []int{7, 10}; !slices.Equal(got, want) {
		t.Errorf("found the lines %v, want %v", got, want)
	}
}

func TestInitialisers(t *testing.T) {
	for statement, want := range map[string]int{
		"if x = 1; x > 0 {}":                  1,
		"if x += 1; x > 0 {}":                 1,
		"if x, ok = f(); ok {}":               1,
		"if y { } else if x = 1; x > 0 {}":    1,
		"if x := 1; x > 0 {}":                 0,
		"if err = f(); err != nil {}":         0,
		"if p.x, *err = f(); *err != nil {}":  0,
		"if x, r.writeErr = f(); x > 0 {}":    0,
		"if f(); x > 0 {}":                    0,
		"for x = 1; x > 0; x++ { if y { } }":  0,
		"if errs[0] = f(); errs[0] != nil {}": 1,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc g() {\n"+statement+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := initialisers(f); len(got) != want {
			t.Errorf("%s: found %d, want %d", statement, len(got), want)
		}
	}
}
