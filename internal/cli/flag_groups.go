package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a part of the flags of a command, as its help shows them.
type flagGroup struct {
	title string
	flags []string
}

// releaseGroups are the flags of noren anonymize. The first group holds those that most
// releases need.
var releaseGroups = []flagGroup{
	{"Needed for most releases", []string{"output", "k", "quasi", "identifier", "unit", "spec"}},
	{"What to release", []string{"sensitive", "other", "publish", "ranges", "round", "hierarchy", "pseudonym", "suppress"}},
	{"Guarantee", []string{
		"l", "l-model", "c", "l-missing", "t", "unit-linkage",
		"previous", "previous-source", "previous-quasi", "previous-certificate",
	}},
	{"Reading INPUT", []string{
		"sheet", "header", "no-header", "header-row", "hidden", "delimiter", "encoding", "missing", "type", "format", "order", "query",
	}},
	{"Writing OUTPUT", []string{"force", "split-rows", "output-delimiter", "output-encoding", "formulas", "keep-order", "certificate", "report"}},
	{"Effort", []string{"method", "refine", "gap", "scale", "coarse", "m", "gamma", "workers", "memory"}},
	{"Running", []string{"dry-run", "json", "seed", "seed-insecure", "help"}},
}

// groupFlags shows the flags of a command in groups. What no group names stands at the end.
func groupFlags(c *cobra.Command, groups []flagGroup) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
		if c.HasExample() {
			fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
		}
		var named []string
		for _, g := range groups {
			named = append(named, g.flags...)
			printFlags(c, g.title, g.flags)
		}
		var rest []string
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(named, f.Name) {
				rest = append(rest, f.Name)
			}
		})
		printFlags(c, "Other flags", rest)
		if c.HasAvailableInheritedFlags() {
			fmt.Fprintf(w, "\nGlobal Flags:\n%s", strings.TrimRight(c.InheritedFlags().FlagUsages(), " "))
		}
		return nil
	})
}

// printFlags prints flags under a title, in the order of names.
func printFlags(c *cobra.Command, title string, names []string) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, name := range names {
		if f := c.LocalFlags().Lookup(name); f != nil {
			set.AddFlag(f)
		}
	}
	if set.HasAvailableFlags() {
		fmt.Fprintf(c.OutOrStderr(), "\n%s:\n%s", title, set.FlagUsages())
	}
}
