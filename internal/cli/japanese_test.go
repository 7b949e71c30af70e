package cli

import (
	"bytes"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// inJapanese runs a command in Japanese.
func inJapanese(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Run(t.Context(), append(args, "--lang", "ja"), strings.NewReader(""), &out, &problems)
	return code, out.String(), problems.String()
}

// ours are parts of results that are the same in every language: flags, commands, files,
// names of columns, values and methods.
var ours = regexp.MustCompile(`次のどれか: [^）]*|--[a-z-]+|noren [a-z]+( [a-z-]+)*|[^ ]*[/.=_][^ ]*|"[^"]*"|\{[^}]*\}|[A-Z][A-Za-z-]*`)

// englishWords are four words of English in a row.
var englishWords = regexp.MustCompile(`(?:\b[a-z][a-z'-]+[ ,:;]+){3,}[a-z'-]+`)

// english are the lines of a text that hold a englishWords in English.
func english(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if englishWords.MatchString(ours.ReplaceAllString(line, "§")) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Results, notes, errors and pages in Japanese hold no English englishWords.
func TestJapaneseResults(t *testing.T) {
	randtest.SkipShort(t)
	t.Setenv("NOREN_KEY", t.TempDir()+"/key.pem")
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var people strings.Builder
	people.WriteString("患者,年齢,市,診断\n")
	for i := range 60 {
		people.WriteString(strings.Join([]string{
			"P" + string(rune('a'+i%26)) + string(rune('a'+i/26)), []string{"31", "35", "42", "58"}[i%4],
			[]string{"奈良", "神戸", "not known"}[i%3], []string{"風邪", "喘息"}[i%2],
		}, ",") + "\n")
	}
	write("people.csv", people.String())
	write("schema.yaml", "version: 1\ncolumns:\n  患者: {role: identifier, type: category}\n  年齢: {type: integer, bounds: [\"0\", \"110\"]}\n  "+
		"市: {type: category, keys: [奈良, 神戸, not known]}\n  診断: {type: category}\n")
	write("bad.yaml", "version: 1\ncolumns:\n  年齢: {typ: integer}\n")
	write("asked.yaml", "version: 1\ndataset: people\nquestions:\n  - {kind: count, by: [市], pay: {epsilon: 0.1}}\n")
	for _, c := range []struct {
		code int
		args string
	}{
		{0, "anonymize people.csv -o out.csv --k 4 --quasi 年齢,市 --identifier 患者 --sensitive 診断 --report page.html --certificate c.json"},
		{0, "anonymize people.csv --dry-run --k 4 --quasi 年齢,市 --identifier 患者"},
		{0, "inspect people.csv"},
		{0, "verify out.csv --k 4 --quasi 年齢,市"},
		{4, "verify out.csv --k 50 --quasi 年齢,市"},
		{0, "assess people.csv --quasi 年齢,市 --against out.csv"},
		{0, "assess curve people.csv --quasi 年齢,市 --k 2,4"},
		{0, "certificate show c.json"},
		{0, "ledger create"},
		{0, "ledger grant people --file people.csv --spec schema.yaml --epsilon 3 --yes"},
		{0, "query count people --where 年齢>=40 --epsilon 0.1"},
		{0, "query mean people --column 年齢 --by 市 --epsilon 0.5"},
		{0, "query count people --epsilon 0.1 --dry-run"},
		{5, "query count people --epsilon 9"},
		{0, "ledger show"},
		{0, "ledger history"},
		{0, "ledger verify"},
		{2, "anonimize"},
		{2, "anonymize people.csv -o out.csv --k 4 --quasi 年令,市"},
		{2, "anonymize none.csv -o x.csv --k 4 --quasi a"},
		{2, "anonymize people.csv --k 4 --quasi 年齢"},
		{3, "anonymize people.csv -o x.csv --k 100 --quasi 年齢 --identifier 患者 --other 市"},
		{0, "query count people --epsilon 0.1 --accuracy"},
		{2, "query count people --epsilon 0.1 --where 年齢>="},
		{2, "query count people --epsilon 0.1 --where 齢>3"},
		{5, "query count nothing.csv --epsilon 0.1"},
		{2, "query sum people --epsilon 0.1 --column 年齢 --bogus"},
		{2, "query quantile people --epsilon 0.1 --column 診断"},
		{2, "ledger grant people --file people.csv --epsilon 1 --yes"},
		{2, "certificate check out.csv nothing.json"},
		{0, "init people.csv"},
		{0, "hierarchy propose people.csv --column 年齢 -o ages.csv"},
		{3, "hierarchy propose people.csv --column 市 --kind icd10 -o x.csv"},
		{2, "anonymize people.csv -o x.csv --spec bad.yaml"},
		{2, "anonymize people.csv -o x.csv --spec nothing.yaml"},
		{2, "ask questions.yaml"},
		{0, "ask asked.yaml --dry-run"},
		{0, "outliers plan --n 10000 --dimensions 2 --k 5 --epsilon 0.5"},
		{2, "outliers plan --dimensions 0 --epsilon 1"},
		{0, "ldp design --size 5 --epsilon 1 --n 10000 --repeats 3"},
		{0, "ldp design --candidates 200 --epsilon 2 --n 1000"},
		{0, "ldp randomize people.csv --column 市 --mechanism grr --labels 奈良,神戸 --labels not --epsilon 1 --client 患者 --other not " +
			"--not-charged -o reports.txt"},
		{0, "ldp estimate reports.txt --mechanism grr --labels 奈良,神戸 --labels not --other not --epsilon 1 --report reports.html"},
		{2, "ldp estimate reports.txt --mechanism magic --size 3 --epsilon 1"},
		{0, "ldp simulate --size 4 --mechanism grr --epsilon 1 --n 100 --trials 2"},
		{0, "ldp evaluate people.csv --label 診断 --drop 患者 --epsilon 1 --repeats 2 --folds 2"},
	} {
		code, out, problems := inJapanese(t, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("noren %s: exit code %d, %s", c.args, code, problems)
		}
		if strings.Contains(c.args, "--by") && !strings.Contains(out, "not known") {
			t.Errorf("noren %s: a value of the table was translated: %s", c.args, out)
		}
		for _, line := range english(out + "\n" + problems) {
			t.Errorf("noren %s: in English: %s", c.args, line)
		}
	}
	if _, _, problems := inJapanese(t, "inspect", "people.csv", "--bogus"); !strings.Contains(problems, "知られていないフラグ") {
		t.Errorf("a flag before --lang: %s", problems)
	}
	for _, name := range []string{"page.html"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, []byte(`<html lang="ja">`)) {
			t.Errorf("%s does not state its language", name)
		}
		body := regexp.MustCompile(`(?s)<style.*?</style>`).ReplaceAll(page, nil)
		text := html.UnescapeString(string(regexp.MustCompile(`<[^>]+>`).ReplaceAll(body, []byte("\n"))))
		for _, line := range english(text) {
			t.Errorf("%s: in English: %s", name, line)
		}
		if list := regexp.MustCompile(`[^ \n]+ and [^ \n]+`).FindString(text); list != "" {
			t.Errorf("%s: a list in English: %s", name, list)
		}
	}
}

// Names of columns and files and values of tables that read like texts of ours stay as they
// are in Japanese results.
func TestJapaneseKeepsNames(t *testing.T) {
	t.Setenv("NOREN_KEY", t.TempDir()+"/key.pem")
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("note,age\n")
	for i := range 300 {
		rows.WriteString([]string{"not known", "over 65", "none"}[i%3] + "," + []string{"31", "45", "58"}[i/3%3] + "\n")
	}
	for name, text := range map[string]string{
		"none.csv": rows.String(), "public.csv": strings.ReplaceAll(rows.String(), ",31", ",32"),
		"schema.yaml": "version: 1\ninput: {missing: []}\ncolumns:\n  note: {type: category, keys: [not known, over 65, none]}\n  age: {type: " +
			"integer, bounds: [\"0\", \"110\"]}\n",
		"ldp.yaml": "version: 1\ncolumn: note\nmechanism: grr\nepsilon: 4\nlabels: [not known, over 65, none]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		rows bool
	}{
		{[]string{"ledger", "create"}, false},
		{[]string{"ledger", "grant", "none", "--file", "none.csv", "--spec", "schema.yaml", "--epsilon", "1000", "--yes"}, false},
		{[]string{"query", "histogram", "none", "--column", "note", "--values", "not known,over 65,none", "--epsilon", "10"}, true},
		{
			[]string{"ratio", "fit", "none", "public.csv", "--columns", "note", "--features", "marginals", "--epsilon", "100", "-o", "weighted.csv"},
			false,
		},
		{[]string{"ratio", "answer", "weighted.csv", "histogram", "--column", "note", "--values", "not known,over 65,none"}, true},
		{[]string{"ldp", "randomize", "none.csv", "--spec", "ldp.yaml", "--not-charged", "-o", "reports.txt"}, false},
		{[]string{"ldp", "estimate", "reports.txt", "--spec", "ldp.yaml"}, true},
	} {
		code, out, problems := inJapanese(t, c.args...)
		if code != 0 {
			t.Fatalf("noren %s: exit code %d, %s", strings.Join(c.args, " "), code, problems)
		}
		if !c.rows {
			continue
		}
		for _, value := range []string{"not known", "over 65", "none"} {
			if !regexp.MustCompile("(?m)^  " + value + "  +[-0-9]").MatchString(out) {
				t.Errorf("noren %s: the value %q is not kept:\n%s", strings.Join(c.args, " "), value, out)
			}
		}
		if !strings.Contains(out, "note") {
			t.Errorf("noren %s: the column note is not named:\n%s", strings.Join(c.args, " "), out)
		}
	}
}
