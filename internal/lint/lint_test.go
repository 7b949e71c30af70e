package main

import (
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
