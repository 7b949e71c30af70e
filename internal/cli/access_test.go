package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/internal/access"
	"github.com/noren-privacy/noren/internal/randtest"
)

// runnable are the commands that do something, by their names.
func runnable() (names []string) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() && !c.HasSubCommands() || c.Name() == "serve" || c.CommandPath() == "noren assess" {
			names = append(names, strings.TrimPrefix(c.CommandPath(), "noren "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard)))
	return names
}

// Every command is a way, and every way of the command line is a command.
func TestWaysOfCommands(t *testing.T) {
	var listed []string
	for _, w := range access.Commands() {
		listed = append(listed, w.Name)
	}
	have := runnable()
	for _, name := range have {
		if !slices.Contains(listed, name) {
			t.Errorf("noren %s is not listed in internal/access: say what it reads, what it writes, who gets it, and what holds", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(have, name) {
			t.Errorf("noren %s is listed in internal/access and is no command", name)
		}
	}
}

// onGranted are the arguments of each command that takes a table, for the granted table
// T.csv (or its data set), and what else it needs. OUT is a file to be written.
var onGranted = map[string]string{
	"anonymize":              "T.csv -o OUT.csv --k 2 --quasi age --other ward,id",
	"ask":                    "questions.yaml -o OUT",
	"assess":                 "T.csv --quasi age --report OUT",
	"assess curve":           "T.csv --quasi age --k 2,3 --report OUT",
	"correlated answer":      "M --query {\"count\":\"on\"} --epsilon 0.01",
	"correlated fit":         "T.csv --column ward --length 4 --source hospital -o OUT",
	"hierarchy check":        "h.csv T.csv --column ward",
	"hierarchy propose":      "T.csv --column ward -o OUT.csv",
	"init":                   "T.csv -o OUT.yaml",
	"inspect":                "T.csv",
	"ldp edges":              "T --column age --bounds 0,100 --count 4 --epsilon 0.01",
	"ldp estimate":           "T.csv --mechanism grr --labels 1,2,3 --epsilon 1",
	"ldp evaluate":           "T.csv --label ward --folds 2 --repeats 1 --report OUT",
	"ldp randomize":          "T.csv --column ward --mechanism grr --labels 1,2,3 --epsilon 1 -o OUT",
	"ldp simulate":           "T.csv --column ward --mechanism grr --labels 1,2,3 --epsilon 1 --n 100 --report OUT",
	"ledger grant":           "T --file T.csv --epsilon 2 --yes",
	"outliers count":         "T --columns age --radius 1 --box 0,100 --epsilon 0.01",
	"outliers sensitivity":   "T.csv --columns age --radius2 1",
	"query count":            "T --epsilon 0.01",
	"query histogram":        "T --column ward --keys ward=1,2,3 --epsilon 0.01",
	"query mean":             "T --column age --bounds 0,100 --epsilon 0.01",
	"query quantile":         "T --column age --bounds 0,100 --rank 0.5 --epsilon 0.01",
	"query sum":              "T --column age --bounds 0,100 --epsilon 0.01",
	"query variance":         "T --column age --bounds 0,100 --epsilon 0.01",
	"ratio answer":           "T.csv mean --column age",
	"ratio check":            "T W.csv --epsilon 0.01",
	"ratio fit":              "T public.csv --columns age --bounds age=0,100 --epsilon 0.01 -o OUT.csv",
	"ratio plan":             "T.csv --columns age --epsilon 1 --records 2000",
	"verify":                 "T.csv --k 2 --quasi age",
	"worker ldp-count":       "T.csv --mechanism rappor --rappor k=8,h=1,m=2,p=0.2,q=0.8,f=0.1",
	"worker query count":     "T --epsilon 0.01 --job JOB",
	"worker query histogram": "T --column ward --keys ward=1,2,3 --epsilon 0.01 --job JOB",
	"worker query mean":      "T --column age --bounds 0,100 --epsilon 0.01 --job JOB",
	"worker query sum":       "T --column age --bounds 0,100 --epsilon 0.01 --job JOB",
	"worker query variance":  "T --column age --bounds 0,100 --epsilon 0.01 --job JOB",
	// An operation of a server's job reads what its request names: package internal/server/apart.
	"worker operation": "",
	// Stages of a release and of its verification read what a job names: scripts shards.
	"worker start":        "",
	"worker survey":       "",
	"worker check":        "",
	"worker commit":       "",
	"worker merge":        "",
	"worker query-part":   "",
	"worker release":      "",
	"worker route":        "",
	"worker verdict":      "",
	"worker verify-part":  "",
	"worker verify-start": "",
}

const grantedTable = "id,ward,age\na,1,30\nb,2,31\nc,2,32\nd,3,33\ne,1,34\nf,1,35\ng,2,36\nh,3,37\n"

// spentOf is what ledger show prints of what was spent of each data set.
var spentOf = regexp.MustCompile(`(?m)^[TM] +epsilon [0-9.]+`)

// chain is a model of a column of 8 states.
const chain = `{"type":"chain","states":["off","on"],"init":[0.6,0.4],"P":[[0.9,0.1],[0.2,0.8]],"length":8}`

// A command that takes a table does with a granted one what internal/access says: it charges,
// refuses, or keeps what it writes for the steward.
func TestWaysToGrantedTables(t *testing.T) {
	randtest.SkipShort(t)
	for _, w := range access.Commands() {
		if !w.Has(access.None) {
			if _, known := onGranted[w.Name]; !known {
				t.Errorf("noren %s reads a table: say in onGranted how it is run on a granted one", w.Name)
				continue
			}
		}
		line := onGranted[w.Name]
		if line == "" {
			continue
		}
		t.Run(w.Name, func(t *testing.T) { tryGranted(t, &w, line) })
		if w.Name == "verify" {
			t.Run("verify of a table that meets all", func(t *testing.T) { tryGranted(t, &w, "T.csv --k 1 --quasi age") })
		}
	}
}

func tryGranted(t *testing.T, w *access.Way, line string) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"T.csv": grantedTable, "h.csv": "1,all\n2,all\n3,all\n",
		"questions.yaml": "version: 1\ndataset: T\nquestions:\n  - kind: count\n    pay: {epsilon: 0.01}\n",
		"public.csv":     "age\n" + strings.Repeat("30\n34\n37\n", 10), "M.csv": "state\non\noff\non\non\noff\noff\non\noff\n",
		"chain.json": chain,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "JOB"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOREN_LEDGER", filepath.Join(dir, "noren.db"))
	t.Setenv("NOREN_KEY", filepath.Join(dir, "key.pem"))
	t.Chdir(dir)
	noren := func(line string) (int, string, string) {
		var out, errs bytes.Buffer
		code := Run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &errs)
		return code, out.String(), errs.String()
	}
	spent := func() string {
		_, out, errs := noren("ledger show")
		m := spentOf.FindAllString(out, -1)
		if len(m) != 2 {
			t.Fatalf("ledger show: %s%s", out, errs)
		}
		return strings.Join(m, "; ")
	}
	for _, line := range []string{
		"ledger create", "ledger grant T --file T.csv --type id=category --type ward=category --type age=integer --epsilon 1 --yes",
		"ledger grant M --file M.csv --model chain.json --model-column state --neighbours replace-one --epsilon 1 --yes",
	} {
		if code, _, errs := noren(line); code != 0 {
			t.Fatalf("%s: %s", line, errs)
		}
	}
	if w.Name == "ratio check" {
		if code, _, errs := noren("ratio fit T public.csv --columns age --bounds age=0,100 --epsilon 0.01 -o W.csv"); code != 0 {
			t.Fatal(errs)
		}
	}
	before := spent()
	code, out, errs := noren(w.Name + " " + line)
	charged := spent() != before
	made, _ := filepath.Glob(filepath.Join(dir, "OUT*"))
	switch {
	case w.Has(access.Charged):
		if code != 0 || !charged {
			t.Errorf("exit code %d, charged %v, want an answer that is charged\n%s", code, charged, errs)
		}
	case w.Has(access.Ungranted):
		if code != 5 || out != "" || len(made) > 0 || charged {
			t.Errorf("exit code %d, %d files, want a refusal with the code 5 and nothing written\n%s%s", code, len(made), out, errs)
		}
	case w.Has(access.Gate):
		if code != 0 || charged || len(made) != 1 {
			t.Errorf("exit code %d, %d files, want a release\n%s", code, len(made), errs)
		}
	case w.Has(access.Private):
		if code != 0 && code != 4 || charged {
			t.Errorf("exit code %d, charged %v, want a private output\n%s", code, charged, errs)
		}
		if strings.Contains(line, "OUT") != (len(made) == 1) {
			t.Errorf("%d files were written", len(made))
		}
		for _, path := range made {
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v, want 0600", filepath.Base(path), info.Mode().Perm())
			}
		}
		if said := strings.ToLower(out + errs); len(made) == 0 && !strings.Contains(said, "private") {
			t.Errorf("nothing says that the output is private:\n%s", out)
		}
		_, out, errs = noren(w.Name + " " + line + " --json --force")
		if strings.Contains(errs, "--force") {
			_, out, _ = noren(w.Name + " " + line + " --json")
		}
		if strings.HasPrefix(out, "{") && !strings.Contains(out, `"private": `) {
			t.Errorf("--json: nothing says that the output is private:\n%s", out)
		}
	}
	if w.Has(access.Unaccounted) {
		if code, out, errs := noren(w.Name + " " + strings.Replace(line, "T ", "T.csv ", 1) +
			" --unaccounted --force --type id=category --type ward=category --type age=integer"); code != 5 || out != "" {
			t.Errorf("--unaccounted of a granted file: exit code %d\n%s%s", code, out, errs)
		}
	}
}
