package main

import (
	"go/parser"
	"go/token"
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
	if got := longLines(text); len(got) != 1 || got[0] != 2 {
		t.Errorf("found the lines %v, want line 2", got)
	}
	for dir, want := range map[string]bool{"kanon": true, "kanon/space": true, "kanonical": false, "spec": false} {
		if got := exempt(dir, []string{"kanon"}); got != want {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
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
