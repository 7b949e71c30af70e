package cli

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/spec"
)

// Every word of values is one that the help of a flag of that name states.
func TestCompletedWordsAreStated(t *testing.T) {
	stated := map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { stated[f.Name] += " " + f.Usage })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard)))
	for _, one := range lists {
		if wordsOf(one) == nil {
			t.Errorf("a list of --%s, which has no words", one)
		}
	}
	flags := slices.Collect(maps.Keys(values))
	for _, p := range spec.Parameters() {
		flags = append(flags, p.Name)
	}
	for _, flag := range flags {
		for _, w := range wordsOf(flag) {
			if !mentions(stated[flag], w) {
				t.Errorf("--%s completes %s, which no help states", flag, w)
			}
		}
	}
	for flag := range newColumn {
		if stated[flag] == "" {
			t.Errorf("no command has --%s", flag)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"auto, mondrian-strict or mdav", "mondrian", false},
		{"auto, mondrian-strict or mdav", "mondrian-strict", true},
		{"automatic", "auto", false},
		{"(default auto)", "auto", true},
		{"", "auto", false},
	} {
		if got := mentions(c.text, c.word); got != c.want {
			t.Errorf("mentions(%q, %q) = %t", c.text, c.word, got)
		}
	}
}
