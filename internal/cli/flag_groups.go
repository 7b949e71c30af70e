package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/spec"
)

// flagGroup is a part of the flags of a command, as its help shows them.
type flagGroup struct {
	heading string
	flags   []string
}

// releaseGroups are the flags of noren anonymize. The first group holds those that most
// releases need. A parameter says itself where it stands.
func releaseGroups() []flagGroup {
	groups := []flagGroup{
		{heading: "Needed for most releases", flags: []string{"output", "quasi", "identifier", "unit", "spec"}},
		{heading: "What to release", flags: []string{"sensitive", "other", "drop", "round", "hierarchy"}},
		{heading: "Guarantee", flags: []string{"previous", "previous-source", "previous-quasi", "previous-certificate"}},
		{heading: "Reading INPUT", flags: []string{
			"sheet", "header", "no-header", "header-row", "hidden", "totals", "delimiter", "encoding", "missing", "type", "format", "order", "query",
		}},
		{heading: "Writing OUTPUT", flags: []string{"force", "split-rows", "output-delimiter", "output-encoding", "certificate", "report"}},
		{heading: "Effort", flags: []string{"workers", "memory"}},
		{heading: "Running", flags: []string{"dry-run", "json", "seed", "seed-insecure", "help"}},
	}
	for _, p := range spec.Parameters() {
		for i := range groups {
			g := &groups[i]
			if at := slices.Index(g.flags, p.After); at >= 0 || g.heading == p.After {
				g.flags = slices.Insert(g.flags, at+1, p.Name)
			}
		}
	}
	return groups
}

// otherGroup and globalGroup are the flags that no group of a command names, and those of
// the whole program.
var otherGroup, globalGroup = flagGroup{heading: "Other flags"}, flagGroup{heading: "Global flags"}

// groupFlags shows the flags of a command in groups.
func groupFlags(c *cobra.Command, groups []flagGroup) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprint(w, "Usage:\n  ", c.UseLine(), "\n")
		if c.HasExample() {
			fmt.Fprint(w, "\nExamples:\n", c.Example, "\n")
		}
		var named []string
		for _, g := range groups {
			named = append(named, g.flags...)
			g.print(w, c.LocalFlags())
		}
		otherGroup.of(c.LocalFlags(), named).print(w, c.LocalFlags())
		globalGroup.of(c.InheritedFlags(), nil).print(w, c.InheritedFlags())
		return nil
	})
}

// of is the group with all flags of a set but some.
func (g flagGroup) of(set *pflag.FlagSet, but []string) flagGroup {
	set.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(but, f.Name) {
			g.flags = append(g.flags, f.Name)
		}
	})
	return g
}

// print prints the flags of a group in its order, under its heading.
func (g flagGroup) print(w io.Writer, from *pflag.FlagSet) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, name := range g.flags {
		if f := from.Lookup(name); f != nil {
			set.AddFlag(f)
		}
	}
	if set.HasAvailableFlags() {
		fmt.Fprint(w, "\n", g.heading, ":\n", set.FlagUsages())
	}
}
