package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/internal/randtest"
)

// Every command has a page that names its flags, and no line of text is a request of
// man(7) by accident.
func TestManual(t *testing.T) {
	randtest.SkipShort(t)
	dir := filepath.Join(t.TempDir(), "man")
	names, err := WriteManual(dir)
	if err != nil {
		t.Fatal(err)
	}
	requests := []string{".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".nf", ".fi"}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := pageName(c) + ".1"
		if !slices.Contains(names, name) {
			t.Errorf("%s has no page", c.CommandPath())
			return
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		page := string(text)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, roff("--"+f.Name)+`\fR`) {
				t.Errorf("%s does not name --%s", name, f.Name)
			}
		})
		for _, line := range strings.Split(page, "\n") {
			first, _, _ := strings.Cut(line, " ")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(requests, first) {
				t.Errorf("%s: a line that is a request: %s", name, line)
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub)
			}
		}
	}
	walk(newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard)))
	for _, lint := range [][]string{{"mandoc", "-T", "lint", "-W", "error"}, {"groff", "-T", "utf8", "-man", "-ww", "-z"}} {
		path, err := exec.LookPath(lint[0])
		if err != nil {
			continue
		}
		for _, name := range names {
			if out, err := exec.Command(path, append(lint[1:], filepath.Join(dir, name))...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %s: %v: %s", lint[0], name, err, out)
			}
		}
	}
	again := t.TempDir()
	if _, err := WriteManual(again); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		one, _ := os.ReadFile(filepath.Join(dir, name))
		two, _ := os.ReadFile(filepath.Join(again, name))
		if string(one) != string(two) || len(one) == 0 {
			t.Errorf("%s differs from one run to the next", name)
		}
	}
}

func TestRoffEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`.hidden`: `\&.hidden`, `'quoted'`: `\&'quoted'`, `a\b --c`: `a\eb \-\-c`, `plain`: `plain`, "M月": `M\[u6708]`,
	} {
		if got := roffLine(text); got != want {
			t.Errorf("roffLine(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "completions")
	names, err := WriteCompletions(dir)
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), "__complete") {
			t.Errorf("%s does not ask the program: %v", name, err)
		}
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		if out, err := exec.Command(bash, "-n", filepath.Join(dir, "noren.bash")).CombinedOutput(); err != nil {
			t.Errorf("bash: %v: %s", err, out)
		}
	}
}
