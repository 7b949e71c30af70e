package noren_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inlineCode   = regexp.MustCompile("`[^`]*`")
	heading      = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	linkText     = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// prose are the lines of a Markdown text without fenced blocks.
func prose(text string) (lines []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// anchor is the anchor of a heading, as GitHub makes it: letters and digits of all
// scripts in small letters, hyphens and underscores, and a hyphen for a space.
func anchor(title string) string {
	title = strings.ReplaceAll(linkText.ReplaceAllString(title, "$1"), "`", "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// hasAnchor reports whether a Markdown text has a heading of the anchor.
func hasAnchor(text, wanted string) bool {
	for _, line := range prose(text) {
		if m := heading.FindStringSubmatch(line); m != nil && anchor(m[1]) == wanted {
			return true
		}
	}
	return false
}

// brokenLink says what is wrong with a link of the document at path; "" for nothing.
// Links to other sites are not looked at.
func brokenLink(path, link string) string {
	to, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme != "" || to.Host != "":
		return ""
	}
	target := path
	if to.Path != "" {
		target = filepath.Join(filepath.Dir(path), filepath.FromSlash(to.Path))
	}
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		return "leads to no file"
	} else if err != nil || to.Fragment == "" || !strings.HasSuffix(target, ".md") {
		return ""
	}
	text, err := os.ReadFile(target)
	if err == nil && !hasAnchor(string(text), to.Fragment) {
		return "leads to no heading"
	}
	return ""
}

// Relative links of README*.md and of all documents in docs lead to files and headings.
func TestDocumentLinks(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(strings.Join(prose(string(text)), "\n"), ""), -1) {
			checked++
			if fault := brokenLink(path, m[1]); fault != "" {
				t.Errorf("%s: %s %s", path, m[1], fault)
			}
		}
	}
	if checked < 100 {
		t.Errorf("found only %d links", checked)
	}
}

func TestAnchor(t *testing.T) {
	for title, want := range map[string]string{
		"Use as a library": "use-as-a-library", "3.1 Budgets in zCDP": "31-budgets-in-zcdp", "`noren.yaml`, and more": "norenyaml-and-more",
		"ライブラリとして使う": "ライブラリとして使う", "1. 保証（k-匿名性）": "1-保証k-匿名性", "The [paper](a.md)": "the-paper",
	} {
		if got := anchor(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	if !hasAnchor("```\n# No\n```\n## Yes, it is\n", "yes-it-is") || hasAnchor("```\n# No\n```\n", "no") {
		t.Error("headings are not found")
	}
}
