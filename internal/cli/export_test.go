package cli

import (
	"context"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Example is a command line that a help text shows.
type Example struct {
	Command string // whose help shows it, as "noren query sum"
	Line    string // as a user types it
}

// longLine is an indented example of a Long text, with a remark after it.
var longLine = regexp.MustCompile(`^  (noren .*?)(?:\s{3,}.*)?$`)

// HelpExamples lists the example of every command of the program, and the indented
// command lines of its long description, in the order of the tree.
func HelpExamples() []Example {
	var list []Example
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.SplitSeq(c.Long, "\n") {
			if m := longLine.FindStringSubmatch(line); m != nil {
				list = append(list, Example{c.CommandPath(), m[1]})
			}
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			line = strings.TrimSpace(line)
			if line != "" {
				list = append(list, Example{c.CommandPath(), line})
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard)))
	return list
}

// ParseOnly finds the command of the arguments, and checks its flags and the number
// of its arguments, without running it.
func ParseOnly(ctx context.Context, args []string, stderr io.Writer) int {
	root := newRoot(newTerminal(strings.NewReader(""), io.Discard, stderr))
	root.SetArgs(args)
	root.SetOut(io.Discard)
	var off func(c *cobra.Command)
	off = func(c *cobra.Command) {
		if c.RunE != nil {
			c.RunE = func(*cobra.Command, []string) error { return nil }
		}
		for _, sub := range c.Commands() {
			off(sub)
		}
	}
	off(root)
	if err := root.ExecuteContext(ctx); err != nil {
		io.WriteString(stderr, err.Error()+"\n")
		return 2
	}
	return 0
}

// EnglishLines are the lines of a text that hold words in English.
func EnglishLines(text string) []string { return english(text) }

// PageText is the text of a page without its markup.
func PageText(page []byte) string {
	body := regexp.MustCompile(`(?s)<(style|script).*?</(style|script)>`).ReplaceAll(page, nil)
	return html.UnescapeString(string(regexp.MustCompile(`<[^>]+>`).ReplaceAll(body, []byte("\n"))))
}
