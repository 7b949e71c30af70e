package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren"
)

// WriteManual writes a manual page in the format of man(7) for every command to the
// folder dir, which it makes if there is none, and returns the names of the files:
// noren.1, noren-query.1, noren-query-count.1, ...
func WriteManual(dir string) (names []string, err error) {
	root := newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard))
	root.InitDefaultHelpCmd()
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	var walk func(c *cobra.Command) error
	walk = func(c *cobra.Command) error {
		name := pageName(c) + ".1"
		if err := writeGenerated(filepath.Join(dir, name), manualPage(c)); err != nil {
			return err
		}
		names = append(names, name)
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
				continue
			}
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return names, walk(root)
}

// WriteCompletions writes the completion scripts of bash, zsh, fish and PowerShell to the
// folder dir, which it makes if there is none, and returns the names of the files.
func WriteCompletions(dir string) (names []string, err error) {
	root := newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard))
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"noren.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"_noren", root.GenZshCompletion},
		{"noren.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"noren.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var out bytes.Buffer
		if err := s.write(&out); err != nil {
			return names, &noren.Error{Where: s.name, What: "the completion cannot be made", Err: err}
		}
		if err := writeGenerated(filepath.Join(dir, s.name), out.Bytes()); err != nil {
			return names, err
		}
		names = append(names, s.name)
	}
	return names, nil
}

// writeGenerated writes a file that was generated before over the earlier one.
func writeGenerated(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return &noren.Error{Where: noren.File(path), What: "cannot be written", Err: err}
	}
	return nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manualPage is the page of a command. It holds no date and no version, so that it
// changes with the command alone.
func manualPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Noren\" \"Noren manual\"\n", strings.ToUpper(pageName(c)))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", roff(c.UseLine()))
	section("DESCRIPTION")
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	roffText(&b, text)
	var subs []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			subs = append(subs, sub)
		}
	}
	if len(subs) > 0 {
		section("COMMANDS")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roffLine(sub.Short))
		}
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if c.HasAvailableFlags() {
		section("OPTIONS")
		c.Flags().VisitAll(func(f *pflag.Flag) { roffFlag(&b, f) })
	}
	if c.Example != "" {
		section("EXAMPLES")
		b.WriteString(".nf\n")
		for _, line := range strings.Split(c.Example, "\n") {
			fmt.Fprintln(&b, roffLine(strings.TrimPrefix(line, "  ")))
		}
		b.WriteString(".fi\n")
	}
	var see []string
	if c.HasParent() {
		see = append(see, pageName(c.Parent()))
	}
	for _, sub := range subs {
		see = append(see, pageName(sub))
	}
	if len(see) > 0 {
		section("SEE ALSO")
		for i, name := range see {
			end := ","
			if i == len(see)-1 {
				end = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), end)
		}
	}
	return b.Bytes()
}

// roffFlag writes a flag with its value, its help and its default.
func roffFlag(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	fmt.Fprintf(b, "\\fB%s\\fR", roff(name))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s", roffLine(usage))
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && !strings.Contains(usage, "default") {
		fmt.Fprintf(b, " (default %s)", roff(d))
	}
	b.WriteString("\n")
}

// roffText writes paragraphs; those that are indented keep their lines.
func roffText(b *bytes.Buffer, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		kept := false
		for _, line := range strings.Split(paragraph, "\n") {
			if indented := strings.HasPrefix(line, " "); indented != kept {
				kept = indented
				b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[kept])
			}
			fmt.Fprintln(b, roffLine(line))
		}
		if kept {
			b.WriteString(".fi\n")
		}
	}
}

// roff escapes text within a line. Characters beyond ASCII are written by their code.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\n':
			b.WriteByte(' ')
		case r > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// roffLine escapes a whole line: a dot or a quote at its start would be a request.
func roffLine(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + roff(text)
	}
	return roff(text)
}
