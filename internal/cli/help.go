package cli

import (
	"embed"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed help/*.txt
var helpFiles embed.FS

// helpFile is the name of the file with the help text of a command.
func helpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(c.CommandPath(), " ", "_") + ".txt"
}

// helpTexts gives the commands of a tree their descriptions and examples: the text of a
// file, and the lines below its line "Examples:". Commands whose text is composed in
// code have none of the two in their file.
func helpTexts(c *cobra.Command) {
	if text, err := helpFiles.ReadFile(helpFile(c)); err == nil {
		long, examples, _ := strings.Cut("\n"+string(text), "\nExamples:\n")
		long = strings.TrimSpace(long)
		if long != "" {
			c.Long = long
		}
		examples = strings.TrimRight(examples, "\n")
		if examples != "" {
			c.Example = examples
		}
	}
	for _, sub := range c.Commands() {
		helpTexts(sub)
	}
}

// plainDefaults shows the defaults of lists as a user would type them, and none where a list
// is empty.
func plainDefaults(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		inside, found := strings.CutPrefix(f.DefValue, "[")
		if !found || !strings.HasSuffix(f.Value.Type(), "Slice") && !strings.HasSuffix(f.Value.Type(), "Array") {
			return
		}
		words := strings.Split(strings.TrimSuffix(inside, "]"), ",")
		for i, w := range words {
			if x, err := strconv.ParseFloat(w, 64); err == nil {
				words[i] = strconv.FormatFloat(x, 'g', -1, 64)
			}
		}
		switch {
		case inside != "]": // pflag shows no default for [] alone
			f.DefValue = strings.Join(words, ",")
		case f.Value.Type() == "float64Slice": // but for [] of these
			f.DefValue = ""
		}
	})
	for _, sub := range c.Commands() {
		plainDefaults(sub)
	}
}
