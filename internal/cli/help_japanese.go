package cli

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/po"
)

// japaneseHelpFiles are the Japanese texts of commands, a file each, and the pieces of help.
// They are read when help is shown.
//
//go:embed help/ja
var japaneseHelpFiles embed.FS

// piecesFile has the pieces of help that are not the text of one command, as translators open
// them: what flags do, what commands do in one line, and headings.
const piecesFile = "help/ja/pieces.po"

// Contexts of the pieces.
const (
	flagPiece    = "flag"    // what a flag does
	commandPiece = "command" // what a command does
	headingPiece = "heading" // a heading, and what stands around names
)

// pieces are the pieces of help in Japanese, by their context and English.
type pieces map[[2]string]string

// readPieces reads the pieces, which are in the program and which a test has read.
func readPieces() pieces {
	file, _ := japaneseHelpFiles.ReadFile(piecesFile)
	entries, _ := po.Read(string(file))
	p := make(pieces, len(entries))
	for _, e := range entries {
		p[[2]string{e.Context, e.ID}] = e.Text
	}
	return p
}

// of is a piece in Japanese; in English where there is none.
func (p pieces) of(context, english string) string {
	return cmp.Or(p[[2]string{context, english}], english)
}

// japaneseFile is the name of the file with the Japanese help text of a command.
func japaneseFile(c *cobra.Command) string {
	return strings.Replace(helpFile(c), "help/", "help/ja/", 1)
}

// japaneseHelp shows the help of a command in Japanese where the terminal is. Commands that
// are hidden have none.
func japaneseHelp(t *terminal, root *cobra.Command) {
	english := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		text, err := japaneseHelpFiles.ReadFile(japaneseFile(c))
		if t.lang != lang.Japanese || err != nil {
			english(c, args)
			return
		}
		readPieces().print(c.OutOrStdout(), c, string(text))
	})
}

// print prints the help of a command with a text.
func (p pieces) print(w io.Writer, c *cobra.Command, text string) {
	fmt.Fprint(w, text, "\n", p.of(headingPiece, "Usage"), ":\n")
	if c.Runnable() {
		fmt.Fprint(w, "  ", c.UseLine(), "\n")
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "  ", c.CommandPath(), " COMMAND\n")
	}
	if c.HasExample() {
		fmt.Fprint(w, "\n", p.of(headingPiece, "Examples"), ":\n", c.Example, "\n")
	}
	p.printCommands(w, c)
	groups := []flagGroup{flagGroup{heading: "Flags"}.of(c.LocalFlags(), nil)}
	if c.Name() == "anonymize" {
		groups = releaseGroups()
	}
	for _, g := range groups {
		p.printFlags(w, g, c.LocalFlags())
	}
	p.printFlags(w, globalGroup.of(c.InheritedFlags(), nil), c.InheritedFlags())
}

// printCommands lists the commands below a command, those of each group under its heading.
func (p pieces) printCommands(w io.Writer, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	rest := &cobra.Group{Title: "Commands"}
	if len(c.Groups()) > 0 {
		rest.Title = "Other commands"
	}
	groups := slices.Concat(c.Groups(), []*cobra.Group{rest})
	width := 0
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			width = max(width, len(sub.Name()))
		}
	}
	for _, g := range groups {
		fmt.Fprint(w, "\n", p.of(headingPiece, strings.TrimSuffix(g.Title, ":")), ":\n")
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(w, "  %-*s  %s\n", width, sub.Name(), p.of(commandPiece, sub.Short))
			}
		}
	}
	language := ""
	if c.Root().PersistentFlags().Changed("lang") { // and not what the environment asks for
		language = " --lang ja"
	}
	fmt.Fprintf(w, "\n%s: %s COMMAND --help%s\n", p.of(headingPiece, "Help of a command"), c.CommandPath(), language)
}

// printFlags prints the flags of a group in its order, under its heading.
func (p pieces) printFlags(w io.Writer, g flagGroup, from *pflag.FlagSet) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	from.VisitAll(func(f *pflag.Flag) {
		own := *f
		own.Usage = p.of(flagPiece, usageOf(f))
		set.AddFlag(&own)
	})
	g.heading = p.of(headingPiece, g.heading)
	var b strings.Builder
	g.print(&b, set)
	before, after, _ := strings.Cut(p.of(headingPiece, "(default %s)"), "%s")
	fmt.Fprint(w, defaulted.ReplaceAllString(b.String(), before+"$1"+after))
}

// usageOf is what a flag does, the same for all commands: help adds names of commands to some.
func usageOf(f *pflag.Flag) string {
	if before, _, found := strings.Cut(f.Usage, " for "); found && (f.Name == "help" || f.Name == "version") {
		return before
	}
	return f.Usage
}

// defaulted finds the default at the end of a line, as pflag writes it.
var defaulted = regexp.MustCompile(`(?m) \(default "?([^"\n]*?)"?\)$`)
