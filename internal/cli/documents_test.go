package cli_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A step is a command of a document, and what the document shows below it.
type step struct {
	line     string
	shown    []string // nil where nothing is shown
	position int      // line of the document
}

// documentSteps are the commands of the indented and fenced blocks of a Markdown text:
// lines that begin with "$ ", and those that begin with noren or go. A backslash at the
// end continues a command. Below a "$ " line stands what it prints, up to the next
// command or the end of the block.
func documentSteps(text string) []step {
	var steps []step
	fenced, showing, continued := false, false, false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced, showing = !fenced, false
			continue
		}
		body, indented := strings.CutPrefix(line, "    ")
		switch {
		case !fenced && !indented && strings.TrimSpace(line) != "":
			showing, continued = false, false
			continue
		case fenced:
			body = line
		}
		last := len(steps) - 1
		shell, prompted := strings.CutPrefix(body, "$ ")
		switch {
		case continued:
			steps[last].line += " " + strings.TrimSuffix(strings.TrimSpace(body), `\`)
			continued = strings.HasSuffix(body, `\`)
		case prompted || strings.HasPrefix(body, "noren ") || strings.HasPrefix(body, "go run ") || strings.HasPrefix(body, "go install ./") ||
			strings.HasPrefix(body, "go test "):
			continued = strings.HasSuffix(shell, `\`)
			steps = append(steps, step{line: strings.TrimSuffix(shell, `\`), position: i + 1})
			showing = prompted
		case showing && (steps[last].shown != nil || strings.TrimSpace(body) != ""):
			steps[last].shown = append(steps[last].shown, body)
		}
	}
	return steps
}

// passedOver are the lines of a Markdown text that look like commands and are none of
// its steps: those of a block that is indented by fewer or more spaces, as in a list.
func passedOver(text string, steps []step) (lines []int) {
	for i, line := range strings.Split(text, "\n") {
		is := func(s step) bool { return s.position == i+1 }
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "$ ") && !slices.ContainsFunc(steps, is) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// translated is the English document of which a document is the Japanese, and whether it
// is one: README.ja.md is of README.md, docs/ja/NAME.md of docs/NAME.md.
func translated(name string) (english string, japanese bool) {
	if rest, ok := strings.CutPrefix(name, "docs/ja/"); ok {
		return "docs/" + rest, true
	}
	if rest, ok := strings.CutSuffix(name, ".ja.md"); ok {
		return rest + ".md", true
	}
	return name, false
}

// A documentState is how a document's commands are run.
type documentState struct {
	begin  string
	before map[string]string
	long   bool // only parsed
	slow   bool // only parsed but by [TestLongDocuments]
}

// stateOf is the state of a document: its own, or that of the English document.
func stateOf(name string) documentState {
	if own, ok := documentStates[name]; ok {
		return own
	}
	english, _ := translated(name)
	return documentStates[english]
}

// documentStates says in which state a document's commands begin, in a folder with
// nothing else in it, and what must be made before a command, by how it begins. A
// Japanese document without a state of its own has that of the English one.
var documentStates = map[string]documentState{
	"README.ja.md":           {slow: true}, // its commands are those of README.md
	"docs/benchmarks.md":     {long: true},
	"docs/k-anonymity.md":    {slow: true}, // README.md has its commands
	"docs/ja/k-anonymity.md": {slow: true}, // README.ja.md has its first commands
	"docs/cluster.md":        {long: true}, // of a cluster
	"docs/questions.md":      {long: true}, // of a server
	"docs/cli.md": {before: map[string]string{
		"noren ledger grant survey": `awk 'BEGIN { print "city,age"; for (i = 0; i < 200; i++) print (i%3 ? "Kobe" : "Nara") "," 20+i%50 }' > survey.csv && noren ledger create`,
	}},
	"examples/dependence/README.md": {begin: `mkdir examples && cp -R "$ROOT/examples/dependence" examples/`, slow: true},
	"docs/density-ratio.md": {begin: `awk 'BEGIN { print "age,education,sex,salary-class" > "private.csv"; print "age,education,sex,salary-class" > "public.csv"
for (i = 0; i < 400; i++) { print 20+i*7%50 "," (i%3 ? "HS-grad" : "Masters") "," (i%2 ? "Female" : "Male") "," (i%5 ? "<=50K" : ">50K") > (i%2+i%3 ? "public.csv" : "private.csv") } }'`},
}

// TestDocuments runs the commands of README.md, docs/*.md, their Japanese documents
// (README.ja.md, docs/ja/*.md, in Japanese) and the example of dependent records in their
// order, in one folder for each document, and compares what they print with what is shown.
// White space counts as one space wherever it is, and as none beside a character beyond
// ASCII, as a line of Japanese breaks anywhere; "..." stands for anything. Masked, on both
// sides, is what differs from run to run:
//
//   - hexadecimal texts of 16 and more digits: keys, ids, hashes;
//   - all numbers of the line "seconds" (秒);
//   - all numbers in the answer of a command that charges a budget (see paid), but for
//     the lines that state guarantee, mechanism, charge and cost;
//   - notes and warnings, which go to stderr;
//   - the records of a released file that head prints, whose order is random: its
//     first line is compared.
//
// A command whose shown output begins with "noren: " fails, every other succeeds. go
// run builds the program of this repository; go install looks whether it is there; go test is not run. Under -short only
// README.md is run, and the commands of README.ja.md are parsed.
func TestDocuments(t *testing.T) { testDocuments(t, false) }

// TestLongDocuments runs the documents whose commands take seconds.
func TestLongDocuments(t *testing.T) {
	randtest.Long(t)
	testDocuments(t, true)
}

func testDocuments(t *testing.T, slow bool) {
	if runtime.GOOS == "windows" {
		t.Skip("commands are for a POSIX shell")
	}
	root := repository(t)
	paths := []string{filepath.Join(root, "examples/dependence/README.md")}
	for _, pattern := range []string{"README*.md", "docs/*.md", "docs/ja/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		steps, text := stepsOf(t, path)
		english, japanese := translated(name)
		if japanese {
			for _, line := range passedOver(text, steps) {
				t.Errorf("%s:%d: is not run: indent its block by four spaces, or fence it", name, line)
			}
			if original, _ := stepsOf(t, filepath.Join(root, english)); len(steps) == 0 && len(original) > 0 {
				t.Errorf("%s has no command, and %s has %d", name, english, len(original))
			}
		}
		readme := english == "README.md" // in every language
		if len(steps) == 0 || slow && !stateOf(name).slow || testing.Short() && !readme {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := exampleEnv(t)
			if japanese {
				env = append(env, "LANG=ja_JP.UTF-8")
			}
			runDocument(t, root, name, env, steps, slow)
		})
	}
}

// stepsOf reads the commands of a document; none where there is no such file.
func stepsOf(t *testing.T, path string) ([]step, string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return documentSteps(string(text)), string(text)
}

// goRun matches a program that a document runs from its source.
var goRun = regexp.MustCompile(`go run \./(\S+)`)

func runDocument(t *testing.T, root, name string, env []string, steps []step, slow bool) {
	state := stateOf(name)
	state.long = state.long || state.slow && !slow || testing.Short() && name != "README.md"
	dir, bin := t.TempDir(), t.TempDir()
	if state.begin != "" {
		if out, code := shell(t, dir, env, state.begin); code != 0 {
			t.Fatalf("its folder cannot be made:\n%s", out)
		}
	}
	unused := maps.Clone(state.before)
	for _, s := range steps {
		line := goRun.ReplaceAllStringFunc(s.line, func(m string) string {
			program := strings.TrimPrefix(m, "go run ./")
			if program == "cmd/noren" {
				return "noren"
			}
			if state.long {
				return ": "
			}
			at := filepath.Join(bin, filepath.Base(filepath.Dir(program)))
			c := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", at, "./"+program)
			c.Dir = root
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s:%d: %s\n%s", name, s.position, s.line, out)
			}
			return at
		})
		if strings.HasPrefix(line, "go test ") {
			continue
		}
		if program, ok := strings.CutPrefix(line, "go install "); ok { // of which there must be one
			c := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Name}}", program)
			c.Dir = root
			if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "main" {
				t.Errorf("%s:%d: %s\n%s", name, s.position, s.line, out)
			}
			continue
		}
		if to, ok := strings.CutPrefix(line, "cd "); ok {
			if !state.long { // otherwise there is no such folder
				dir = filepath.Join(dir, to)
			}
			continue
		}
		if state.long && !strings.Contains(line, "noren ") {
			continue // it shows a file that was not made
		}
		for prefix, command := range state.before {
			if strings.HasPrefix(line, prefix) {
				delete(unused, prefix)
				if out, code := shell(t, dir, env, command); code != 0 {
					t.Fatalf("%s:%d: %s\nexit code %d:\n%s", name, s.position, command, code, out)
				}
			}
		}
		run := shell
		// A database and the folder of a server are not at hand everywhere, and a server does not end.
		if state.long || strings.Contains(line, "pg:") || strings.Contains(line, "/var/lib/noren/") || strings.HasPrefix(line, "noren serve") {
			run = parse
		}
		out, code := run(t, dir, env, line)
		if state.long {
			if code != 0 {
				t.Errorf("%s:%d: %s\nexit code %d:\n%s", name, s.position, s.line, code, out)
			}
			continue
		}
		fails := len(s.shown) > 0 && strings.HasPrefix(s.shown[0], "noren: ")
		if (code != 0) != fails {
			t.Errorf("%s:%d: %s\nexit code %d:\n%s", name, s.position, s.line, code, out)
			continue
		}
		if shown := strings.Join(s.shown, "\n"); s.shown != nil && !sameOutput(s.line, shown, out) {
			t.Errorf("%s:%d: %s\nshown:\n%s\nprinted:\n%s", name, s.position, s.line, shown, out)
		}
	}
	for prefix := range unused {
		t.Errorf("%s: no command begins with %q", name, prefix)
	}
}

var (
	longHex = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)
	remark  = regexp.MustCompile(`(?m)^(note|warning|注意|警告): .*\n?`)
	number  = regexp.MustCompile(`-?\d[\d,]*(\.\d+)?`)
	paid    = regexp.MustCompile(
		`^noren (query|ratio fit|ratio check|ratio answer|outliers count|correlated answer|ldp edges|ldp randomize|ldp estimate)`)
	// stated are the first words of the lines whose numbers are public facts.
	stated = []string{
		"mechanism", "charged", "cost", "budget", "noise", "guarantee",
		"仕組み", "課金", "費用", "予算", "雑音", "保証",
	}
	// beside matches white space before or after a character beyond ASCII.
	beside = regexp.MustCompile(`([^\x00-\x7f])\s+|\s+([^\x00-\x7f])`)
)

// masked is the output of a command without what differs from run to run.
func masked(command, out string) string {
	out = longHex.ReplaceAllString(remark.ReplaceAllString(out, ""), "HEX")
	if strings.HasPrefix(out, "noren: ") {
		return out
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if strings.HasPrefix(command, "head ") {
		return lines[0]
	}
	for i, line := range lines {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if first == "seconds" || first == "秒" || paid.MatchString(command) && !slices.Contains(stated, first) {
			lines[i] = number.ReplaceAllString(line, "#")
		}
	}
	return strings.Join(lines, "\n")
}

// joined is a text without the white space beside characters beyond ASCII.
func joined(text string) string { return beside.ReplaceAllString(text, "$1$2") }

// sameOutput compares what is shown below a command with what it printed.
func sameOutput(command, shown, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`(?s)^\s*`)
	tokens := strings.Fields(joined(masked(command, shown)))
	for i, token := range tokens {
		switch {
		case i == 0:
		case strings.HasPrefix(token, "...") || strings.HasSuffix(tokens[i-1], "..."):
			pattern.WriteString(`(\s+|[^\x00-\x7f])`) // beside what is not shown
		default:
			pattern.WriteString(`\s+`)
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(token), `\.\.\.`, `.*?`))
	}
	pattern.WriteString(`\s*$`)
	return regexp.MustCompile(pattern.String()).MatchString(joined(masked(command, printed)))
}

func TestDocumentSteps(t *testing.T) {
	text := "Text\n\n    $ noren a b\n    out 1\n\n      out 2\n\nand\n\n    noren c \\\n      --d\n\n    $ noren e\n    $ noren f\n    " +
		"noren: no\n"
	var got []string
	for _, s := range documentSteps(text) {
		got = append(got, strings.Join(strings.Fields(s.line+" | "+strings.Join(s.shown, " / ")), " "))
	}
	want := []string{"noren a b | out 1 / / out 2 /", "noren c --d |", "noren e |", "noren f | noren: no /"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPassedOver(t *testing.T) {
	text := "    $ noren a\n\n1. Text\n   $ noren b\n\n```\n$ noren c\n```\n"
	if got := passedOver(text, documentSteps(text)); !slices.Equal(got, []int{4}) {
		t.Errorf("got %v", got)
	}
}

func TestTranslated(t *testing.T) {
	for name, want := range map[string]string{"README.ja.md": "README.md", "docs/ja/a.md": "docs/a.md", "docs/a.md": ""} {
		if got, japanese := translated(name); japanese != (want != "") || japanese && got != want {
			t.Errorf("%s: %s, %v", name, got, japanese)
		}
	}
}

func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		command, shown, printed string
		same                    bool
	}{
		{"noren inspect v.csv", "5 records\n\na  b\n...", "5 records\n\na   b\nc   d\n", true},
		{"noren inspect v.csv", "5 records", "6 records\n", false},
		{"noren inspect v.csv", "5 records", "5 records\nmore\n", false},
		{"noren anonymize v.csv", "  loss 3%\n  seconds  1.5: read 0.1", "  loss 3%\n  seconds  2: read 0.11\n", true},
		{"noren anonymize v.csv", "  loss 3%\n  seconds  1.5: read 0.1", "  loss 4%\n  seconds  2: read 0.11\n", false},
		{"noren query mean v", "mean 3.5\n  charged 0.5", "mean -4\n  charged 0.5\n", true},
		{"noren query mean v", "mean 3.5\n  charged 0.5", "mean 4\n  charged 0.6\n", false},
		{"noren query mean v", "noren: 0.5\nleft", "noren: 0.5 left\n", true},
		{"noren query mean v", "noren: 0.5\nleft", "noren: 0.6 left\n", false},
		{"head -2 out.csv", "a,b\n1,2", "a,b\n3,4\n", true},
		{"head -2 out.csv", "a,b\n1,2", "a,c\n1,2\n", false},
		{"noren anonymize v.csv", "noren: v.csv: no", "note: kept: a\nnoren: v.csv: no\n", true},
		{"noren query mean v", "  仕組み laplace\n  課金 0.5", "  仕組み      laplace\n  課金        0.6\n", false},
		{"noren query mean v", "平均 3.5\n  課金 0.5", "平均 -4\n  課金 0.5\n", true},
		{"noren anonymize v.csv", "  秒  1.5: 読み込み 0.1", "  秒  2: 読み込み 0.11\n", true},
		{"noren query mean v", "noren: 予算が\n足りません", "noren: 予算が足りません\n", true},
		{"noren query mean v", "noren: 予算が\n...\n足りません", "noren: 予算がとても足りません\n", true},
		{"noren query mean v", "noren: 予算が\n足りません", "noren: 予算が足ります\n", false},
		{"noren assess v.csv", "一意 4 (9%)\n...\n人 5\n...", "一意 4 (9%)\n最大 7\n人 5\n平均 1\n", true},
		{"noren assess v.csv", "一意 4\n...\n人 5", "一意 49\n最大 7\n人 5\n", false},
		{"noren anonymize v.csv", "noren: v.csv: 列がありません", "注意: 残す列: a\nnoren: v.csv: 列がありません\n", true},
		{"noren certificate show c", "id 0123456789abcdef", "id 0123456789abcdee\n", true},
	} {
		if got := sameOutput(c.command, c.shown, c.printed); got != c.same {
			t.Errorf("%s: %q and %q: same = %v", c.command, c.shown, c.printed, got)
		}
	}
}
