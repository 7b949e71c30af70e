package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atTerminal runs a command at a terminal where somebody types reply.
func atTerminal(t *testing.T, reply string, args ...string) (out, errs string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	term := newTerminal(strings.NewReader(reply), &stdout, &stderr)
	term.person = true
	root := newRoot(term)
	root.SetArgs(args)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// spending is a folder with a ledger of a data set of epsilon 1.
func spending(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	t.Setenv("NOREN_KEY", filepath.Join(folder, "key.pem"))
	t.Setenv("NOREN_LEDGER", filepath.Join(folder, "ledger.db"))
	t.Setenv("LANG", "C")
	text := "age,ward\n" + strings.Repeat("30,A\n50,B\n", 20)
	if err := os.WriteFile("t.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	questions := "version: 1\ndataset: t\nquestions:\n  - {kind: count, pay: {epsilon: 0.3}}\n"
	if err := os.WriteFile("q.yaml", []byte(questions), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ledger create", "ledger grant t --file t.csv --type age=integer --type ward=category --epsilon 1 --yes"} {
		if _, errs, err := atTerminal(t, "", strings.Fields(line)...); err != nil {
			t.Fatal(errs, err)
		}
	}
}

// left is what the ledger says is left of the data set.
func left(t *testing.T) string {
	t.Helper()
	out, errs, err := atTerminal(t, "", "ledger", "show", "t")
	if err != nil {
		t.Fatal(errs, err)
	}
	return out
}

// TestTerminalIsAsked: above a tenth of what is left a person is asked before the charge, and
// only "y" or "yes" pays.
func TestTerminalIsAsked(t *testing.T) {
	spending(t)
	before := left(t)
	for _, line := range []string{
		"query count t --epsilon 0.11", "query count t --epsilon 0.2 --request-key k", "query mean t --column age --bounds 0,100 --epsilon 0.3",
		"ask q.yaml",
		"outliers count t --columns age --box 0,100 --radius 3 --epsilon 0.2", "ldp edges t --column age --bounds 0,100 --count 2 --epsilon 0.2",
	} {
		for _, reply := range []string{"", "\n", "n\n", "no\n", "what\n"} {
			_, errs, err := atTerminal(t, reply, strings.Fields(line)...)
			if err == nil || !strings.Contains(err.Error(), "not confirmed") || !strings.Contains(errs, "Pay it? [y/N]") ||
				!strings.Contains(errs, "left for t") {
				t.Errorf("%s, reply %q: %v\n%s", line, reply, err, errs)
			}
		}
	}
	if now := left(t); now != before {
		t.Fatalf("charged without a yes:\n%s\n%s", before, now)
	}
	for _, reply := range []string{"y\n", "YES\n"} {
		if out, errs, err := atTerminal(t, reply, "query", "count", "t", "--epsilon", "0.11"); err != nil || !strings.Contains(out, "count, t") {
			t.Errorf("reply %q: %v\n%s", reply, err, errs)
		}
	}
	if left(t) == before {
		t.Fatal("a yes did not pay")
	}
}

// TestTerminalIsNotAsked: a tenth or less, --yes, a dry run and what does not fit are not
// asked about.
func TestTerminalIsNotAsked(t *testing.T) {
	spending(t)
	for line, pays := range map[string]bool{
		"query count t --epsilon 0.05": true, "query count t --epsilon 0.2 --yes": true, "ask q.yaml --yes": true,
		"query count t --epsilon 0.2 --dry-run": true, "query count t --epsilon 7": false,
	} {
		_, errs, err := atTerminal(t, "n\n", strings.Fields(line)...)
		if strings.Contains(errs, "Pay it?") || (err == nil) != pays {
			t.Errorf("%s: %v\n%s", line, err, errs)
		}
	}
}

// TestAllThatIsMissing: a query without its flags says all of them at once.
func TestAllThatIsMissing(t *testing.T) {
	spending(t)
	for line, flags := range map[string][]string{
		"query mean t":                           {"epsilon", "column", "bounds"},
		"query mean t --by ward":                 {"epsilon", "column", "bounds", "keys"},
		"query mean t --column age --by ward":    {"epsilon", "bounds", "keys"},
		"outliers count t":                       {"epsilon", "columns", "radius"},
		"outliers count t --columns age":         {"epsilon", "box", "radius"},
		"query count t --by ward --epsilon 0.01": {"keys"},
	} {
		_, _, err := atTerminal(t, "", strings.Fields(line)...)
		if err == nil {
			t.Errorf("%s: no error", line)
			continue
		}
		for _, flag := range flags {
			if strings.Count("\n"+err.Error(), "\n"+flag+":") != 1 {
				t.Errorf("%s: expected one line of %s in\n%v", line, flag, err)
			}
		}
	}
}

// TestAnswersSayOdds: an answer and its price say what they change of the odds.
func TestAnswersSayOdds(t *testing.T) {
	spending(t)
	for _, line := range []string{"query count t --epsilon 0.1", "query count t --epsilon 0.1 --dry-run", "ask q.yaml --yes"} {
		out, errs, err := atTerminal(t, "", strings.Fields(line)...)
		if err != nil || strings.Count(out, "changes the odds of this answer at most") != 1 {
			t.Errorf("%s: %v\n%s%s", line, err, out, errs)
		}
	}
}

// TestListsAreTrimmed: blanks after the commas of a list are no part of its entries.
func TestListsAreTrimmed(t *testing.T) {
	spending(t)
	for _, args := range [][]string{
		{"query", "count", "t", "--by", "ward, age", "--keys", "A, B", "--keys", "30, 50", "--epsilon", "0.01"},
		{"query", "histogram", "t", "--column", "ward", "--values", "A, B", "--epsilon", "0.01"},
		{"outliers", "count", "t", "--columns", "age, age", "--box", "0, 100", "--radius", "3", "--epsilon", "0.01", "--dry-run"},
	} {
		_, errs, err := atTerminal(t, "", args...)
		if err != nil && strings.Contains(err.Error(), `" `) {
			t.Errorf("%v: %v\n%s", args, err, errs)
		}
	}
}

// personAsked is a person who is asked, and answers after what happens meanwhile.
type personAsked struct {
	meanwhile func()
	reply     *strings.Reader
}

func (a *personAsked) Read(p []byte) (int, error) {
	if a.meanwhile != nil {
		a.meanwhile()
		a.meanwhile = nil
	}
	return a.reply.Read(p)
}

// TestAgreedPriceIsTheMost: where the schema changes while a person is asked, no other price is
// paid than the one that was agreed to.
func TestAgreedPriceIsTheMost(t *testing.T) {
	spending(t)
	for name, text := range map[string]string{
		"a.yaml": "columns:\n  age: {type: integer, bounds: [0, 110]}\n  ward: {type: category}\n",
		"b.yaml": "columns:\n  age: {type: integer, bounds: [0, 200]}\n  ward: {type: category}\n",
		"q.yaml": "version: 1\ndataset: t\nquestions:\n  - {kind: sum, column: age, margin: {within: 1100}}\n",
	} {
		if err := os.WriteFile(name, []byte("version: 1\n"+strings.TrimPrefix(text, "version: 1\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(spec string) {
		if _, errs, err := atTerminal(t, "", strings.Fields("ledger grant t --file t.csv --epsilon 1 --yes --changed --spec "+
			spec)...); err != nil {
			t.Error(errs, err)
		}
	}
	grant("a.yaml")
	var stdout, stderr bytes.Buffer
	term := newTerminal(&personAsked{func() { grant("b.yaml") }, strings.NewReader("y\n")}, &stdout, &stderr)
	term.person = true
	root := newRoot(term)
	root.SetArgs([]string{"ask", "q.yaml"})
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err := root.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(left(t), "epsilon 0 ") {
		t.Errorf("%v\n%s%s%s", err, stderr.String(), stdout.String(), left(t))
	}
}

// TestTerminalIsAskedOfNothing: a query whose answer will be noise alone, by what is public, is
// asked about however little it costs.
func TestTerminalIsAskedOfNothing(t *testing.T) {
	spending(t)
	if err := os.WriteFile("s.csv", []byte("size,shop\n30,A\n50,B\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("s.yaml", []byte("version: 1\ncolumns:\n  size: {type: integer}\n  shop: {type: category, keys: [A, B]}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := atTerminal(t, "", strings.Fields("ledger grant s --file s.csv --spec s.yaml --epsilon 100 --yes")...); err != nil {
		t.Fatal(errs, err)
	}
	for line, want := range map[string]string{
		"query count s --by shop --keys a --epsilon 0.1":           `Did you mean "A"?`,
		"query histogram s --column shop --values B,C --epsilon 1": `"C" is not among the public values of shop: "A", "B"`,
		"query count s --epsilon 0.0000001":                        "the answer will say nothing",
	} {
		_, errs, err := atTerminal(t, "n\n", strings.Fields(line)...)
		if err == nil || !strings.Contains(errs, want) || !strings.Contains(errs, "Pay it? [y/N]") {
			t.Errorf("%s: %v\n%s", line, err, errs)
		}
	}
}
