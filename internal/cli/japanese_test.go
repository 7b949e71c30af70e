package cli

import (
	"bytes"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
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
var ours = regexp.MustCompile(`--[a-z-]+|noren [a-z]+( [a-z-]+)*|[^ ]*[/.=_][^ ]*|"[^"]*"|\{[^}]*\}|[A-Z][A-Za-z-]*`)

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
		people.WriteString(strings.Join([]string{"P" + string(rune('a'+i%26)) + string(rune('a'+i/26)), []string{"31", "35", "42", "58"}[i%4], []string{"奈良", "神戸", "not known"}[i%3], []string{"風邪", "喘息"}[i%2]}, ",") + "\n")
	}
	write("people.csv", people.String())
	write("schema.yaml", "version: 1\ncolumns:\n  患者: {role: identifier, type: category}\n  年齢: {type: integer, bounds: [\"0\", \"110\"]}\n  市: {type: category, keys: [奈良, 神戸, not known]}\n  診断: {type: category}\n")
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
		{3, "anonymize people.csv -o x.csv --k 100 --quasi 年齢 --identifier 患者"},
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
	page, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(`<html lang="ja">`)) {
		t.Error("the page does not state its language")
	}
	body := regexp.MustCompile(`(?s)<style.*?</style>`).ReplaceAll(page, nil)
	for _, line := range english(html.UnescapeString(string(regexp.MustCompile(`<[^>]+>`).ReplaceAll(body, []byte("\n"))))) {
		t.Errorf("the page: in English: %s", line)
	}
}
