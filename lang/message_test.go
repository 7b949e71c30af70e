package lang_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Arguments, plurals and choices within each other are written.
func TestMessage(t *testing.T) {
	for _, c := range []struct {
		lang lang.Lang
		code string
		args map[string]any
		want string
	}{
		{
			lang.English, "role-quasi-name",
			map[string]any{"values": int64(1), "unique": 0, "about": 0},
			"1 value, typical of what others know by its name",
		},
		{
			lang.English, "role-quasi-name",
			map[string]any{"values": 3.0, "unique": 1.0},
			"every value is different, typical of what others know by its name",
		},
		{
			lang.English, "role-quasi-name",
			map[string]any{"values": int64(1200), "about": 1},
			"about 1200 values, typical of what others know by its name",
		},
		{lang.Japanese, "role-quasi-name", map[string]any{"values": 1200.0, "about": 1.0}, "値は約 1,200 個で、列名から見て他人がよく知ることです"},
		{
			lang.English, "book-now",
			map[string]any{"unit": "record", "neighbours": "add-remove", "odds": "2.72", "epsilon": "1", "delta": "0"},
			"Whether one record is in the table or not changes the odds of all answers so far at most 2.72 times (epsilon 1).",
		},
		{lang.English, "book-now", map[string]any{
			"unit": "person", "neighbours": "replace-one", "odds": "2.72", "epsilon": "1",
			"delta": "0.000001", "rho": "0.1",
		}, "Whether one person is in the table or another in its place changes the odds of all answers so far at most 2.72 times (epsilon 1, " +
			"except with a probability of the order of delta 0.000001; rho 0.1)."},
		{lang.English, "asked.count", map[string]any{"by": "0", "where": "a = \"{by}\""}, "Number of records by 0, where a = \"{by}\""},
		{lang.English, "care.fit", map[string]any{"finding": "visits.csv: the totals are left out"}, "visits.csv: the totals are left out."},
		{lang.English, "care.fit", map[string]any{"finding": "the ratio is rough"}, "The ratio is rough."},
		{
			lang.English, "formulas",
			map[string]any{"cells": 31, "names": 0, "columns": "note"},
			"spreadsheets take 31 cells for formulas (columns note); they are written as they are",
		},
		{
			lang.English, "formulas",
			map[string]any{"cells": 0, "names": 1, "columns": "=note"},
			"spreadsheets take 1 column name for formulas (columns =note); they are written as they are",
		},
		{
			lang.English, "formulas",
			map[string]any{"cells": 1, "names": 2, "columns": "=a, =b"},
			"spreadsheets take 1 cell and 2 column names for formulas (columns =a, =b); they are written as they are",
		},
		{lang.Japanese, "formulas", map[string]any{"cells": 31, "names": 0, "columns": "note"}, "表計算ソフトは 31 個のセルを数式とみなします（列 note）。そのまま書き出します"},
		{
			lang.Japanese, "formulas-text",
			map[string]any{"cells": 3, "names": 1, "columns": "=note"},
			"表計算ソフトは 3 個のセルと 1 個の列名を数式とみなします（列 =note）。それぞれの前にアポストロフィを付け、文字列として書き出します",
		},
		{
			lang.English, "verified",
			map[string]any{"classes": 12345, "k": 5, "unit": "persons"},
			"The file was read back: each of its 12,345 classes holds 5 persons or more.",
		},
	} {
		if got, ok := c.lang.Message(c.code, c.args); !ok || got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.code, c.lang, got, c.want)
		}
	}
	if _, ok := lang.Japanese.Message("none", nil); ok {
		t.Error("a code without a text was said")
	}
}

// A column is never translated, whatever it is called.
func TestNamesInMessages(t *testing.T) {
	numbers := []string{"record", "records", "persons", "add-remove", "free text"}
	for _, m := range lang.Messages() {
		for _, name := range append(slices.Clone(names), numbers...) {
			args := map[string]any{}
			for _, of := range []string{"column", "columns", "by", "where", "states", "query"} {
				args[of] = name
			}
			for _, l := range lang.All() {
				said, _ := l.Message(m.Code, args)
				template := map[lang.Lang]string{lang.English: m.English, lang.Japanese: m.Japanese}[l]
				for _, of := range []string{"{column}", "{columns}"} {
					if strings.Contains(template, of) && !strings.Contains(said, name) {
						t.Errorf("%s: %s of %q is %q", l, m.Code, name, said)
					}
				}
			}
		}
	}
}

// Every code that is said has a text, every text is said, and no text names an argument that its
// message does not have.
func TestCodesOfMessages(t *testing.T) {
	known := map[string]bool{}
	whole := regexp.MustCompile(`^[^{}\[\]]*$`)
	for _, m := range lang.Messages() {
		if known[m.Code] {
			t.Errorf("%s is there twice", m.Code)
		}
		known[m.Code] = true
		for _, l := range lang.All() {
			if said, _ := l.Message(m.Code, nil); said == "" && l == lang.Japanese || !whole.MatchString(said) {
				t.Errorf("%s in %s: %q is not closed", m.Code, l, said)
			}
		}
		if !regexp.MustCompile(`\p{Hiragana}|\p{Katakana}|\p{Han}`).MatchString(m.Japanese) {
			t.Errorf("%s: %q is not Japanese", m.Code, m.Japanese)
		}
	}
	literals, said := map[string]bool{}, 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == filepath.Join("..", "lang") || d.Name() == "node_modules" || d.Name() == "testdata" ||
			strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if code, ok := literal(n); ok {
				literals[code] = true
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 || name(call.Fun) != "Say" {
				return true
			}
			code, ok := literal(call.Args[0])
			if !ok {
				return true
			}
			said++
			if !known[code] {
				t.Errorf("%s: the code %s has no text", path, code)
			}
			args, ok := call.Args[1].(*ast.CompositeLit)
			if !ok {
				return true
			}
			given := map[string]bool{}
			for _, e := range args.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					of, _ := literal(kv.Key)
					given[of] = true
				}
			}
			for _, l := range lang.All() {
				for of := range l.MessageArguments(code) {
					if !given[of] {
						t.Errorf("%s: the text of %s in %s names %s, and the message has %v", path, code, l, of, slices.Sorted(maps.Keys(given)))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if said < 60 {
		t.Fatalf("found only %d messages", said)
	}
	for code := range known {
		first, rest, _ := strings.Cut(code, ".")
		rest, _, _ = strings.Cut(rest, "_delta")
		if !literals[code] && !literals[first+"."] && !(first == "odds" || first == "odds_replace") && first != "promise" || rest != "" &&
			first != "promise" && !literals[code] && !literals[rest] {
			t.Errorf("the text of %s is not used", code)
		}
	}
}

func literal(n ast.Node) (string, bool) {
	b, ok := n.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(b.Value)
	return s, err == nil
}

func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// A finding begins a sentence by its first character, not by its first byte; a column that it names is
// the same in every language.
func TestFindingsBeginSentences(t *testing.T) {
	for _, c := range []struct {
		finding           noren.Text
		english, japanese string
	}{
		{
			noren.Textf("one public record carries %.0f%% of the weight", 30.0), "One public record carries 30% of the weight.",
			"重みの適合: 一つの公開のレコードが重みの 30% を担っています。",
		},
		{noren.Textf("%s", "年齢"), "年齢.", "重みの適合: 年齢。"},
		{noren.Textf("%s", "éducation"), "Éducation.", "重みの適合: éducation。"},
		{
			noren.Textf("about %.0f%% of the private records have values of %s that no public record has: nothing can be said of them", 7.0, "none"),
			"About 7% of the private records have values of none that no public record has: nothing can be said of them.", "",
		},
	} {
		for l, want := range map[lang.Lang]string{lang.English: c.english, lang.Japanese: c.japanese} {
			got, _ := l.Message("care.fit", map[string]any{"finding": c.finding})
			if want != "" && got != want || want == "" && !strings.Contains(got, " none ") {
				t.Errorf("%v: %q, want %q", l, got, want)
			}
		}
	}
}
