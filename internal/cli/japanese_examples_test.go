package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/randtest"
)

// runJapanese runs an example in Japanese and fails for a sentence in English that it
// prints, or that is in a page that it writes.
func runJapanese(t *testing.T, folders *folders, env []string, e cli.Example, s state) {
	if s.serves || s.long || s.data && os.Getenv("NOREN_DATA") == "" || strings.Contains(e.Line, "pg:") {
		t.Skip("it takes long, or needs what is not here")
	}
	shared := s.prepare
	if byPath.MatchString(e.Line) {
		shared = ""
	}
	folder, err := folders.in(shared)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if shared != s.prepare {
		if out, code := shell(t, dir, env, s.prepare); code != 0 {
			t.Fatalf("its state cannot be made (exit code %d):\n%s", code, out)
		}
	}
	var made []string
	for _, m := range target.FindAllStringSubmatch(e.Line, -1) {
		made = append(made, filepath.Join(dir, m[1]))
		if err := os.RemoveAll(filepath.Join(dir, m[1])); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := shell(t, dir, append(slices.Clone(env), "LC_ALL=ja_JP.UTF-8"), e.Line)
	if strings.Contains(e.Line, "--json") || strings.Contains(e.Line, "--schema") {
		out = "" // the same in every language
	}
	for _, path := range made {
		page, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".html") {
			out += cli.PageText(page)
		}
	}
	for _, line := range cli.EnglishLines(data.ReplaceAllString(out, "§")) {
		t.Errorf("in English: %s", line)
	}
}

// data are names and values of the tables of examples, and lines of files of reports, which are the same in every language.
var data = regexp.MustCompile(
	`an assumption about a synthetic household|\b(visit_id|person_id|name|age|sex|postcode|visit_date|department|diagnosis|severity|insurance|weight_kg|systolic|cost_yen|note|education|occupation|region|income|height_cm|day)\b,?|mild, moderate, severe, critical|urinary tract inf…|# noren ldp values: .*|[0-9]{4}-[0-9]{2}-[0-9]{2}  .*`)

// TestLongJapaneseExamples runs the examples of all help texts in Japanese: no sentence of what
// they print, and of the pages that they write, is in English.
func TestLongJapaneseExamples(t *testing.T) {
	randtest.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("it runs all examples in a POSIX shell")
	}
	env := exampleEnv(t)
	folders := &folders{t: t, env: env, made: map[string]func() (string, error){
		"": sync.OnceValues(func() (string, error) { return exampleFolder(t, env), nil }),
	}}
	seen := map[string]bool{}
	for _, e := range cli.HelpExamples() {
		if seen[e.Line] {
			continue
		}
		seen[e.Line] = true
		s := beforeExample(e.Line)
		t.Run(e.Line, func(t *testing.T) {
			t.Parallel()
			runJapanese(t, folders, env, e, s)
		})
	}
}

// beforeExample is the state that an example needs.
func beforeExample(line string) (s state) {
	for i := range states {
		if strings.HasPrefix(line, states[i].match) && len(states[i].match) > len(s.match) {
			s = states[i]
		}
	}
	return s
}
