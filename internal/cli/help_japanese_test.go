package cli

import (
	"bytes"
	"flag"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/po"
)

// helpTree is the program with all its commands, and those of them that a user sees.
func helpTree(t *terminal) (root *cobra.Command, shown []*cobra.Command) {
	root = newRoot(t)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		shown = append(shown, c)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				walk(sub)
			}
		}
	}
	walk(root)
	return root, shown
}

// neededPieces are the pieces of the help of commands in the order of the tree, without
// translations. A piece has as its place the first command and flag that need it.
func neededPieces(shown []*cobra.Command) (needed []po.Entry) {
	known := map[[2]string]bool{}
	add := func(context, english, place string) {
		if key := [2]string{context, english}; !known[key] {
			known[key] = true
			needed = append(needed, po.Entry{Context: context, ID: english, Places: []string{place}})
		}
	}
	headings := []string{"Usage", "Examples", "Commands", "Other commands", "Help of a command", "Flags", globalGroup.heading, "(default %s)"}
	for _, g := range shown[0].Groups() {
		headings = append(headings, strings.TrimSuffix(g.Title, ":"))
	}
	for _, g := range releaseGroups() {
		headings = append(headings, g.heading)
	}
	for _, heading := range headings {
		add(headingPiece, heading, "noren")
	}
	for _, c := range shown {
		place := strings.ReplaceAll(c.CommandPath(), " ", "-")
		if c.HasParent() {
			add(commandPiece, c.Short, place)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				add(flagPiece, usageOf(f), place+"--"+f.Name)
			}
		})
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { add(flagPiece, usageOf(f), place+"--"+f.Name) })
	}
	return needed
}

// The file of pieces has all headings, commands and flags, each in Japanese, and no other. It is
// written anew, with empty translations for what is new and without what is gone, by
//
//	go test ./internal/cli -run TestJapanesePieces -update
func TestJapanesePieces(t *testing.T) {
	file, err := os.ReadFile(piecesFile)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := po.ReadAll(string(file))
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[[2]string]po.Entry{}
	for _, e := range entries {
		byKey[[2]string{e.Context, e.ID}] = e
	}
	_, shown := helpTree(newTerminal(strings.NewReader(""), io.Discard, io.Discard))
	needed := neededPieces(shown)
	for i, e := range needed {
		before := byKey[[2]string{e.Context, e.ID}]
		needed[i].Text, needed[i].Comments = before.Text, before.Comments
		if fault := pieceFault(needed[i]); fault != "" {
			t.Errorf("%s: %q %s", e.Places[0], e.ID, fault)
		}
	}
	written := po.Write(needed)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(piecesFile, written, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(file, written) {
		for _, e := range entries {
			if !slices.ContainsFunc(needed, func(n po.Entry) bool { return n.Context == e.Context && n.ID == e.ID }) {
				t.Errorf("no command has the %s %q", e.Context, e.ID)
			}
		}
		t.Errorf("write %s anew: go test ./internal/cli -run TestJapanesePieces -update; then fill in each empty msgstr", piecesFile)
	}
}

// pieceFault says what is wrong with a piece; "" if nothing is. It names the same flags and the
// same value as the English.
func pieceFault(e po.Entry) string {
	english, _ := pflag.UnquoteUsage(&pflag.Flag{Usage: e.ID, Value: textFlag{}})
	japanese, _ := pflag.UnquoteUsage(&pflag.Flag{Usage: e.Text, Value: textFlag{}})
	switch {
	case strings.TrimSpace(e.Text) == "":
		return "has no translation"
	case english != japanese:
		return "names its value " + english + ", in Japanese " + japanese
	case !slices.Equal(flagsOf(e.ID), flagsOf(e.Text)):
		return "does not name the same flags in Japanese: " + e.Text
	case strings.Count(e.ID, "%s") != strings.Count(e.Text, "%s"):
		return "has no %s in Japanese"
	}
	return ""
}

// textFlag is the value of a flag that has none.
type textFlag struct{}

func (textFlag) String() string   { return "" }
func (textFlag) Set(string) error { return nil }
func (textFlag) Type() string     { return "string" }

// namedFlag finds a flag in a text.
var namedFlag = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]*)`)

// flagsOf are the flags that a text names, sorted.
func flagsOf(text string) []string {
	names := map[string]bool{}
	for _, m := range namedFlag.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// textFault says what is wrong with the Japanese text of a command beside its English; "" if
// nothing is. Both name the same flags, and have the same lines of commands and files, which are
// indented and not translated. Indented lines of both are as many.
func textFault(english, japanese string) string {
	if e, j := flagsOf(english), flagsOf(japanese); !slices.Equal(e, j) {
		return "the English names the flags " + strings.Join(e, " ") + ", the Japanese " + strings.Join(j, " ")
	}
	eLines, jLines := indented(english), indented(japanese)
	if len(eLines) != len(jLines) {
		return "an indented line is in one language alone"
	}
	for i, line := range jLines {
		e := eLines[i]
		if m := longLine.FindStringSubmatch(e); m != nil { // a command with a remark
			e = m[1]
		}
		if m := longLine.FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		if !strings.ContainsFunc(line, isJapanese) && strings.TrimSpace(line) != strings.TrimSpace(e) {
			return "differs: " + line
		}
	}
	return ""
}

// isJapanese reports whether a character is one that only Japanese has.
func isJapanese(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// indented are the lines of a text that begin with blanks.
func indented(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" && (line[0] == ' ' || line[0] == '\t') {
			lines = append(lines, line)
		}
	}
	return lines
}

// quotedOrFlag finds what is in English in Japanese help: conditions and flags.
var quotedOrFlag = regexp.MustCompile(`"[^"]*"|--[a-z-]+`)

// englishHelp finds a run of English in a line of help that is no example, option or name.
var englishHelp = regexp.MustCompile(`\b(the|and|of|which|that|with|default|help for|Usage|Flags|Examples)\b`)

// Every command that a user sees has Japanese help, and all of it is Japanese: the text, which
// says what the English says, headings, and each flag. Examples are those of the English help.
// Every file is of a command.
func TestJapaneseHelp(t *testing.T) {
	files, err := japaneseHelpFiles.ReadDir("help/ja")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, f := range files {
		unused["help/ja/"+f.Name()] = true
	}
	delete(unused, piecesFile)
	var out bytes.Buffer
	term := newTerminal(strings.NewReader(""), &out, io.Discard)
	term.lang = lang.Japanese
	root, shown := helpTree(term)
	root.SetOut(&out)
	flags := map[string]bool{}
	for _, c := range shown {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for _, c := range shown {
		name := japaneseFile(c)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s has no Japanese help: %v", c.CommandPath(), err)
			continue
		}
		delete(unused, name)
		english := c.Long
		if english == "" {
			english = c.Short
		}
		if fault := textFault(english, string(text)); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
		out.Reset()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		help := out.String()
		if !strings.HasPrefix(help, string(text)) || c.HasExample() && !strings.Contains(help, "\n"+c.Example+"\n") {
			t.Errorf("%s: the help is not the text and the examples:\n%s", c.CommandPath(), help)
		}
		for line := range strings.SplitSeq(strings.Replace(help, c.Example, "", 1), "\n") {
			if slices.Contains(indented(english), line) {
				continue
			}
			for _, flag := range flagsOf(line) {
				if !flags[flag] {
					t.Errorf("%s: there is no flag --%s", c.CommandPath(), flag)
				}
			}
			if englishHelp.MatchString(quotedOrFlag.ReplaceAllString(line, "")) {
				t.Errorf("%s: %s", c.CommandPath(), line)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s is of no command", name)
	}
}

// Each kind of fault of a translation is found.
func TestJapaneseFaults(t *testing.T) {
	const english = "Count records (--all).\n\n  noren count x --by y   of each\n  {\"a\": 1}\n"
	const japanese = "レコードを数えます（--all）。\n\n  noren count x --by y   それぞれ\n  {\"a\": 1}\n"
	if fault := textFault(english, japanese); fault != "" {
		t.Error(fault)
	}
	for name, change := range map[string][2]string{
		"a flag that there is not": {"（--all）", "（--bye）"},
		"a flag less":              {"（--all）", ""},
		"another example":          {"x --by y", "z --by y"},
		"another line of a file":   {"1", "2"},
		"an example less":          {"  {\"a\": 1}\n", ""},
	} {
		if textFault(english, strings.Replace(japanese, change[0], change[1], 1)) == "" {
			t.Errorf("%s: no fault", name)
		}
	}
	for _, text := range []string{"", "`FILE` に書きます", "--yes のとき `NAME` に書きます", "%s を `NAME` に書きます"} {
		if pieceFault(po.Entry{ID: "write to `NAME`", Text: text}) == "" {
			t.Errorf("%q: no fault", text)
		}
	}
}
