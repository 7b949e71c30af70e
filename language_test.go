package noren_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unusedPhrases are idioms that cost a reader time, each with what to write.
var unusedPhrases = []struct{ pattern, instead string }{
	{`\bnobody\b`, "no person, no user; or name the subject"},
	{`\bwhoever\b`, "a person who"},
	{`\bto be had\b`, "available"},
	{`\bat the (most|least)\b`, "at most, at least"},
	{`\bhand(s|ed|ing)? out\b`, "release, publish, return"},
	{`\b(is|are|was|were) told\b`, "is passed, gets, receives"},
	{`\blaws?\b`, "distribution"},
	{`\b(stands?|stood|standing) in\b`, "is in; replaces"},
	{`\bgets? its name\b`, "is created, is renamed into place"},
	{`\bso (many|much) (records|values|bytes|rows|bits|people)\b`, "n, this number of"},
	{`\bby so much\b`, "by up to"},
	{`\bminutes of\b`, "n minutes"},
	{`\brooms?\b`, "package; free space"},
	{`\bbettered\b`, "improved"},
	{`\bshaken\b`, "perturbed"},
	{`\btolls?\b`, "dual price"},
	{`\bdesign notes?\b`, "docs/NAME.md, section N"},
	{`\bcrowds?\b`, "population, sample"},
	{`\bprice tag\b`, "cost"},
	{`\b(bought|buys?|buying)\b`, "pays for; costs"},
	{`\bcame into being\b`, "was created"},
	{`\bthe curtain at the door\b`, "a privacy toolkit"},
	{`\ba file a thought\b`, "one topic per file"},
	{`\btaken apart\b`, "decomposed"},
	{`\b(the|a|no|this|its|is|are|was|were) promised?\b`, "guarantee"},
}

// allowedPhrases contain an unused phrase in another meaning.
var allowedPhrases = regexp.MustCompile(`(?i)\b(power laws?|law of (large numbers|total (probability|variance|expectation)|cosines)|by law|data protection law|emergency room|waiting rooms?|rooms? (number|occupancy))\b`)

func unusedPhrase(text string) (found, instead string) {
	lower := strings.ToLower(text)
	for _, p := range compiledPhrases {
		if !strings.Contains(lower, p.part) || !p.MatchString(text) {
			continue
		}
		if m := p.FindString(allowedPhrases.ReplaceAllString(text, "")); m != "" {
			return m, p.instead
		}
	}
	return "", ""
}

// compiledPhrase is a pattern, and a part that every text of it has in small letters,
// which is faster to look for.
type compiledPhrase struct {
	*regexp.Regexp
	part, instead string
}

var compiledPhrases = func() (all []compiledPhrase) {
	optional := regexp.MustCompile(`\([^()]*\)\??|\\b|[a-z]\?`)
	for _, p := range unusedPhrases {
		part := ""
		for _, s := range strings.Split(optional.ReplaceAllString(p.pattern, "|"), "|") {
			if len(s) > len(part) {
				part = s
			}
		}
		all = append(all, compiledPhrase{regexp.MustCompile("(?i)" + p.pattern), part, p.instead})
	}
	return all
}()

// Documents, comments, help, errors and notes are written in plain language.
func TestPlainLanguage(t *testing.T) {
	check := func(at, text string) {
		if found, instead := unusedPhrase(strings.Join(strings.Fields(text), " ")); found != "" {
			t.Errorf("%s: %q; write: %s", at, found, instead)
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "testdata" || name == "dist" || len(name) > 1 && name[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case path == "language_test.go":
		case strings.HasSuffix(path, ".md"), strings.HasPrefix(filepath.ToSlash(path), "internal/cli/help/"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, paragraph := range strings.Split(string(text), "\n\n") {
				line, _, _ := strings.Cut(strings.TrimSpace(paragraph), "\n")
				check(path+": "+line, paragraph)
			}
		case strings.HasSuffix(path, ".go"):
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, group := range f.Comments {
				check(set.Position(group.Pos()).String(), group.Text())
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					check(set.Position(l.Pos()).String(), l.Value)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

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
