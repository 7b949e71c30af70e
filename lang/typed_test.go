package lang_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// names read like texts of Noren, and are names of columns, values and files all the same.
var names = []string{
	"none", "of at least %d records", "analyst 7", "cannot be written", "column age", "100 %", "2 records", "{row|rows}",
	"a (b)",
}

// An argument of an error that is a name is the same in every language, whatever it reads like.
func TestNamesInErrors(t *testing.T) {
	for _, name := range names {
		for _, err := range []*noren.Error{
			noren.Usagef("quasi", "the file has no column %s", name).Hinted("did you mean %s?", name),
			{Kind: noren.BadData, What: "has no column %q", Args: []any{name}},
			{Kind: noren.Usage, What: "%s", Args: []any{
				noren.Texts{noren.Textf("%q is named twice", name), noren.Textf("column %s is named twice", name)},
			}},
		} {
			for _, l := range lang.All() {
				if said := l.Error(err); strings.Count(said, name) != strings.Count(err.Error(), name) {
					t.Errorf("%s: %q is said as %q", l, err.Error(), said)
				}
			}
		}
	}
}

// Arguments that are texts are shown in the language: phrases, texts, causes, places, and
// texts of libraries that are known.
func TestTextsInErrors(t *testing.T) {
	cause := noren.Usagef(noren.Textf("column %s", "age"), "the column is named twice")
	for _, c := range []struct {
		err  error
		want string
	}{
		{noren.Usagef("", "%s cannot be read", noren.Phrase("the questions")), "質問を読めません"},
		{noren.Usagef("", "%s", noren.Texts{noren.Textf("k is %d: it must be at least 1", 0)}), "k が 0 です。1 以上にします"},
		{
			noren.Usagef("", "%s: %s", noren.Place{noren.Textf("column %s", "age")}, noren.Textf("the column is named twice")),
			"列 age: 同じ列が 2 回指定されています",
		},
		{noren.Usagef("", "%s", noren.TextOf(cause)), "列 age: 同じ列が 2 回指定されています"},
		{noren.Usagef("", "%s", noren.TextOf(errors.New("words of a library"))), "words of a library（原文）"},
	} {
		if got := lang.Japanese.Error(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A format without arguments is the text itself.
func TestPercent(t *testing.T) {
	for _, err := range []*noren.Error{noren.Usagef("x", "100 %% of it"), {Where: "x", What: "100 % of it"}} {
		for _, l := range lang.All() {
			if got := l.Error(err); got != "x: 100 % of it" {
				t.Errorf("%s: %q", l, got)
			}
		}
	}
}

// A front end that says an error in its own words leaves no argument of the former ones.
func TestOtherWordsForAnError(t *testing.T) {
	err := noren.Usagef("x", "column %s is named twice", "age").Hinted("did you mean %s?", "sex")
	err.Saying("does not go with --changed").Hinted("leave it out")
	if got := err.Error(); got != "x: does not go with --changed (leave it out)" {
		t.Error(got)
	}
}

// A text of an error is set with its arguments, by Saying and Hinted: an assignment to the
// format alone would leave the arguments of the former one.
func TestTextsAreSetWithTheirArguments(t *testing.T) {
	assigns := regexp.MustCompile(`\b\w+\.(What|Hint)(, \w+\.\w+)* = (noren\.\w+, )?"`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range assigns.FindAllString(string(text), -1) {
			t.Errorf("%s: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A format that a function gets is filled by [noren.Format.Fill], which knows choices: package fmt would print
// their braces.
func TestFormatsAreFilled(t *testing.T) {
	past := regexp.MustCompile(`fmt\.(Sprintf|Errorf|Fprintf|Appendf)\(([\w.&]+, )?("[^"]*" ?\+ ?)?(string\()?\w*[fF]ormat\b.*`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		if d != nil && d.IsDir() && (name == "../experiments" || name == "../internal/reproduce" || name == "../lang/check" ||
			d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range past.FindAllString(string(text), -1) {
			t.Errorf("%s: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
