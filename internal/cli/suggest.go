package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// commandHint is what to do about arguments that a command does not take: its first may
// be a command whose name was mistyped.
func commandHint(c *cobra.Command, args []string) noren.Text {
	if len(args) > 0 {
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(append(names, sub.Name()), sub.Aliases...)
			}
		}
		if args[0] == "median" && slices.Contains(names, "quantile") {
			return noren.Textf("did you mean %s %s?", c.CommandPath(), "quantile")
		}
		if best := table.Nearest(args[0], names); best != "" {
			return noren.Textf("did you mean %s %s?", c.CommandPath(), best)
		}
	}
	return noren.Textf("see %s --help", helpPath(c))
}

// sparkCommands are the commands of noren-spark that pass their flags on to stages.
var sparkCommands = map[string]string{
	"start": "anonymize", "verify-start": "verify", "query": "query", "ldp-count": "ldp-count",
	"ldp-sum": "ldp-count",
}

// helpPath is the command whose help lists the flags of c. The stages of a cluster are typed
// by noren-spark alone.
func helpPath(c *cobra.Command) string {
	for p := c; p != nil; p = p.Parent() {
		if parent := p.Parent(); parent != nil && parent.Name() == "worker" {
			if name, known := sparkCommands[p.Name()]; known {
				return strings.Join([]string{"noren-spark", name}, " ")
			}
		}
	}
	return c.CommandPath()
}

// flagFault is what is wrong with a flag. Of letters behind one dash only the first that no
// flag has is repeated: other programs take a password there, as in -pSECRET.
func flagFault(err error) *noren.Error {
	if missing := (*pflag.NotExistError)(nil); errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "" {
		return (&noren.Error{Kind: noren.Usage}).Saying("unknown shorthand flag: -%s", missing.GetSpecifiedName())
	}
	// The text of the standard library names its own functions.
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) && errors.Is(err, strconv.ErrSyntax) {
		switch bad.GetFlag().Value.Type() {
		case "int", "int64":
			return noren.Usagef("--"+bad.GetFlag().Name, "expected a whole number")
		case "float64":
			return noren.Usagef("--"+bad.GetFlag().Name, "expected a number")
		}
	}
	return (&noren.Error{Kind: noren.Usage}).SayingText(noren.Textf("%s", noren.Foreign(err.Error())))
}

// flagHint is what to do about a flag that cannot be parsed: its name may be mistyped.
func flagHint(c *cobra.Command, err error) noren.Text {
	if missing := (*pflag.NotExistError)(nil); errors.As(err, &missing) && missing.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Deprecated == "" {
				names = append(names, f.Name)
			}
		})
		if best := table.Nearest(missing.GetSpecifiedName(), names); best != "" {
			return noren.Textf("did you mean --%s?", best)
		}
	}
	return noren.Textf("see %s --help", helpPath(c))
}
