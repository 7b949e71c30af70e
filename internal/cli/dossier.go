package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLine is the command as it was given; a seed is left out, as it is secret.
func commandLine(c *cobra.Command, args []string) string {
	words := append([]string{c.CommandPath()}, args...)
	c.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case f.Name == "seed":
			value = "(secret)"
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name, value)
	})
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$*?") && i > 0 {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}
