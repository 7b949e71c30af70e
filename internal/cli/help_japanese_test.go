package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/lang"
)

// englishHelp finds a run of English in a line of help that is no example, option or name.
var englishHelp = regexp.MustCompile(`\b(the|and|of|which|that|with|default|help for|Usage|Flags|Examples)\b`)

// Where a command has Japanese help, all of it is: text, headings, and each flag. Every file
// and every translation is in use.
func TestJapaneseHelp(t *testing.T) {
	files, err := japaneseHelpFiles.ReadDir("help/ja")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, f := range files {
		unused["help/ja/"+f.Name()] = true
	}
	used := map[string]bool{}
	var out bytes.Buffer
	term := newTerminal(strings.NewReader(""), &out, io.Discard)
	term.lang = lang.Japanese
	root := newRoot(term)
	root.SetOut(&out)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if unused[japaneseFile(c)] {
			delete(unused, japaneseFile(c))
			out.Reset()
			c.InitDefaultHelpFlag()
			if err := c.Help(); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if c.HasExample() {
				text = strings.Replace(text, c.Example, "", 1)
			}
			for line := range strings.SplitSeq(text, "\n") {
				if englishHelp.MatchString(line) && !strings.HasPrefix(line, "  noren ") {
					t.Errorf("%s: %s", c.CommandPath(), line)
				}
			}
			check := func(f *pflag.Flag) {
				used[f.Usage] = true
				if _, known := usageInJapanese(f.Usage); !known && !f.Hidden && f.Name != "help" && f.Name != "version" {
					t.Errorf("%s --%s has no usage in Japanese: %q", c.CommandPath(), f.Name, f.Usage)
				}
			}
			c.LocalFlags().VisitAll(check)
			c.InheritedFlags().VisitAll(check)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for name := range unused {
		t.Errorf("%s is of no command", name)
	}
	for _, both := range japaneseUsages {
		usage := both[0]
		if !used[usage] {
			t.Errorf("no flag has the usage %q", usage)
		}
	}
	for _, c := range root.Commands() {
		if c.GroupID != "" && japaneseShorts[c.Short] == "" {
			t.Errorf("%s is not said in Japanese: %q", c.Name(), c.Short)
		}
	}
}
