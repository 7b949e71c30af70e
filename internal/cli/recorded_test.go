package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/randtest"
)

var update = flag.Bool("update", false, "write testdata/recorded anew")

// recordedScripts are the scripts whose commands are recorded.
var recordedScripts = []string{
	"anonymize",
	"anonymize_json",
	"ask",
	"assess",
	"bad_input",
	"certificate",
	"first_line",
	"gate",
	"hierarchy",
	"init",
	"ldp_edges",
	"ldp_randomize",
	"ldp_rappor_files",
	"ledger",
	"ledger_zcdp",
	"limits",
	"outliers",
	"query",
	"query_budget",
	"query_faults",
	"query_unaccounted",
	"ratio_faults",
}

// TestRecorded runs the commands of scripts in both languages and compares what they print,
// their exit codes and the texts of their pages with testdata/recorded: a change of a text is
// seen wherever it shows. The checks of a script and other programs are left
// out: the random bytes of a command follow from its words. Write the records anew with
//
//	go test ./internal/cli ./internal/server -run 'TestRecorded$' -update
func TestRecorded(t *testing.T) {
	randtest.SkipShort(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the last digits of numbers and the errors of files are those of linux on amd64")
	}
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range recordedScripts {
		t.Run(name, func(t *testing.T) {
			if to := os.Getenv(recordTo); to != "" {
				writeRecord(t, data, name, to)
				return
			}
			t.Parallel()
			got := recordApart(t)
			path := filepath.Join(data, "recorded", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s differs; if that is meant: go test ./internal/cli ./internal/server -run 'TestRecorded$' -update\n%s", path, diff)
			}
		})
	}
}

// recordTo is the variable with the path to which a process of TestRecorded writes its record.
const recordTo = "NOREN_TEST_RECORD"

// recordApart records a script in a process of its own: working folder, environment and random
// bytes are those of a process, and several scripts are recorded at once.
func recordApart(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var each []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		each = append(each, "^"+regexp.QuoteMeta(part)+"$")
	}
	to := filepath.Join(t.TempDir(), "record")
	c := exec.CommandContext(t.Context(), program, "-test.run="+strings.Join(each, "/"))
	c.Env = append(os.Environ(), recordTo+"="+to, "GOGC="+rareCollection)
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// writeRecord writes what the commands of a script print in both languages.
func writeRecord(t *testing.T, data, name, to string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(data, "script", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	english, japanese := record(t, script, "en"), record(t, script, "ja")
	for i, run := range english {
		fmt.Fprintf(&got, "> %s\n%s", run.command, run.printed)
		if japanese[i].printed != run.printed {
			fmt.Fprintf(&got, "~ ja\n%s", japanese[i].printed)
		}
		got.WriteString("\n")
	}
	if err := os.WriteFile(to, []byte(got.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorded is one run of a command.
type recorded struct{ command, printed string }

// recorder runs the commands of one script in one language.
type recorder struct {
	t      *testing.T
	work   string
	lang   string
	stdin  string
	stdout string
	pages  map[string]string // the pages that were recorded, by their path
	runs   []recorded
	// numbered seeds the random bytes of a command by its place in the script, not by its words.
	numbered bool
}

// record runs the commands of a script in a folder of their own. Other lines than those that
// run noren or prepare files are passed over.
func record(t *testing.T, script []byte, lang string) []recorded {
	t.Helper()
	return (&recorder{t: t, lang: lang}).record(script)
}

func (r *recorder) record(script []byte) []recorded {
	t := r.t
	t.Helper()
	work := t.TempDir()
	archive := txtar.Parse(script)
	for _, f := range archive.Files {
		path := filepath.Join(work, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(work, ".tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	for name, value := range map[string]string{
		"WORK": work, "TMPDIR": filepath.Join(work, ".tmp"), "HOME": work, "NOREN_LEDGER": "",
		"NOREN_KEY": filepath.Join(work, "key.pem"), "LANG": r.lang + ".UTF-8", "LC_ALL": "", "LC_MESSAGES": "", "NO_COLOR": "1", "COLUMNS": "",
	} {
		t.Setenv(name, value)
	}
	r.work, r.pages = work, map[string]string{}
	for line := range strings.Lines(string(archive.Comment)) {
		if words := r.words(line); len(words) > 0 {
			r.step(words)
		}
	}
	return r.runs
}

// words splits a line as testscript does: blanks separate, single quotes hold together, and
// variables are replaced outside of them.
func (r *recorder) words(line string) (all []string) {
	var word strings.Builder
	begun := false
	pieces := strings.Split(strings.TrimSpace(strings.ReplaceAll(line, "''", "\x00")), "'")
	for i, piece := range pieces {
		if i%2 == 1 {
			word.WriteString(strings.ReplaceAll(piece, "\x00", "'"))
			begun = true
			continue
		}
		if text, comment, found := strings.Cut(piece, "#"); found && (text == "" || strings.HasSuffix(text, " ")) && comment != "" {
			piece, pieces = text, nil
		}
		piece = os.Expand(strings.ReplaceAll(piece, "\x00", ""), func(name string) string {
			switch name {
			case "/":
				return "/"
			case "DATA": // no table of it is there: what is recorded is the same wherever tests run
				return "data"
			}
			return os.Getenv(name)
		})
		for j, part := range strings.Split(piece, " ") {
			if j > 0 && (begun || word.Len() > 0) {
				all = append(all, word.String())
				word.Reset()
				begun = false
			}
			word.WriteString(part)
		}
		if pieces == nil {
			break
		}
	}
	if begun || word.Len() > 0 {
		all = append(all, word.String())
	}
	return all
}

// step runs one line.
func (r *recorder) step(words []string) {
	if words[0] == "!" || words[0] == "?" {
		words = words[1:]
	}
	try := func(err error) {
		if err != nil {
			r.t.Fatalf("%s: %v", strings.Join(words, " "), err)
		}
	}
	switch {
	case len(words) > 1 && words[0] == "exec" && words[1] == "noren":
		r.noren(words[2:])
	case len(words) > 1 && words[0] == "exits":
		r.noren(words[2:])
	case words[0] == "noren":
		r.noren(words[1:])
	case words[0] == "env":
		for _, setting := range words[1:] {
			name, value, _ := strings.Cut(setting, "=")
			r.t.Setenv(name, value)
		}
	case words[0] == "stdin":
		text, err := r.read(words[1])
		try(err)
		r.stdin = text
	case words[0] == "cd":
		r.t.Chdir(words[1])
	case words[0] == "mkdir":
		for _, name := range words[1:] {
			try(os.MkdirAll(name, 0o755))
		}
	case words[0] == "rm":
		for _, name := range words[1:] {
			try(os.RemoveAll(name))
		}
	case words[0] == "mv":
		try(os.Rename(words[1], words[2]))
	case words[0] == "symlink":
		try(os.Symlink(words[3], words[1]))
	case words[0] == "cp":
		to := words[len(words)-1]
		for _, from := range words[1 : len(words)-1] {
			text, err := r.read(from)
			try(err)
			path := to
			if info, err := os.Stat(to); err == nil && info.IsDir() {
				path = filepath.Join(to, filepath.Base(from))
			}
			try(os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

// read reads a file, or what the last command printed.
func (r *recorder) read(name string) (string, error) {
	if name == "stdout" {
		return r.stdout, nil
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// noren runs a command. Its random bytes follow from its words alone, so that another
// command before it changes nothing here.
func (r *recorder) noren(args []string) {
	seed := fnv.New64a()
	if r.numbered {
		fmt.Fprint(seed, len(r.runs))
	} else {
		fmt.Fprintf(seed, "%q", args)
	}
	cryptotest.SetGlobalRandom(r.t, seed.Sum64())
	var out, problems bytes.Buffer
	code := cli.Run(r.t.Context(), args, strings.NewReader(r.stdin), &out, &problems)
	r.stdin, r.stdout = "", out.String()
	var b strings.Builder
	if code != 0 {
		fmt.Fprintf(&b, "exit code %d\n", code)
	}
	for _, part := range []struct{ name, text string }{{"stdout", out.String()}, {"stderr", problems.String()}} {
		if part.text != "" {
			fmt.Fprintf(&b, "~ %s\n%s", part.name, strings.TrimSuffix(r.marked(part.text), "\n")+"\n")
		}
	}
	for _, page := range r.newPages() {
		fmt.Fprintf(&b, "~ %s\n%s\n", page, r.marked(textOfPage(r.pages[page])))
	}
	r.runs = append(r.runs, recorded{r.marked("noren " + strings.Join(args, " ")), b.String()})
}

// newPages are the pages that the last command wrote.
func (r *recorder) newPages() (names []string) {
	err := filepath.WalkDir(r.work, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.work, path)
		if r.pages[name] != string(text) {
			names = append(names, name)
		}
		r.pages[name] = string(text)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return names
}

var (
	unseen    = regexp.MustCompile(`(?s)<style.*?</style>|<script.*?</script>`)
	described = regexp.MustCompile(`<[^>]* (?:aria-label|title|alt)="([^"]*)"[^>]*>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
	blank     = regexp.MustCompile(`\s*\n\s*`)
)

// textOfPage is the text of a page, a line for each element.
func textOfPage(page string) string {
	page = unseen.ReplaceAllString(page, "")
	page = described.ReplaceAllString(page, "\n$1\n")
	page = tag.ReplaceAllString(page, "\n")
	return strings.TrimSpace(blank.ReplaceAllString(html.UnescapeString(page), "\n"))
}

// marks replace what differs between two runs.
var marks = []struct {
	of   *regexp.Regexp
	mark string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|[+-]\d\d:\d\d)?`), "<time>"},
	{regexp.MustCompile(`(?m)^( *(?:seconds|秒) +)[0-9.]+[:：] .*$`), "$1<measured>"},
	{regexp.MustCompile(`(?s)"seconds": \{.*?\}`), `"seconds": <measured>`},
	{regexp.MustCompile(`(?m)^\d+\.\d s$`), "<duration>"},
	{regexp.MustCompile(`\b[0-9a-f]{16,}\b`), "<hex>"},
	{regexp.MustCompile(`"[A-Za-z0-9+/_-]{43,}={0,2}"`), `"<base64>"`},
	{regexp.MustCompile(`"(milliseconds|nanoseconds|seconds|heap_bytes|peak_bytes)": [0-9.e+-]+`), `"$1": <measured>`},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`), "<duration>"},
}

// marked is a text whose times, keys and paths are replaced by marks.
func (r *recorder) marked(text string) string {
	text = strings.ReplaceAll(text, r.work, "<work>")
	for _, day := range []time.Time{time.Now(), time.Now().UTC(), time.Now().Add(-time.Hour)} {
		for _, form := range []string{"2006-01-02", "2 January 2006", "January 2, 2006", "2006年1月2日"} {
			if strings.Contains(text, day.Format(form)) {
				text = regexp.MustCompile(regexp.QuoteMeta(day.Format(form))+`([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)?)?`).
					ReplaceAllString(text, "<today>")
			}
		}
	}
	for _, m := range marks {
		text = m.of.ReplaceAllString(text, m.mark)
	}
	return text
}
