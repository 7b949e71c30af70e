package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
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
		if long = strings.TrimSpace(long); long != "" {
			c.Long = long
		}
		if examples = strings.TrimRight(examples, "\n"); examples != "" {
			c.Example = examples
		}
	}
	for _, sub := range c.Commands() {
		helpTexts(sub)
	}
}
