// Package cli is the command line: one file a command, each of which parses
// flags, calls a library and prints. Results go to stdout; progress, notes and
// warnings to stderr. It never exits: [Run] returns the exit code.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// Run runs the program with the given arguments (without its name) and
// returns its exit code: 0 ok, 1 internal, 2 usage, 3 bad data, 4 guarantee
// not met, 5 budget refused, 130 interrupted.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{w: stdout}
	t := newTerminal(stdin, out, stderr)
	t.lang = asked(args, t.lang)
	root := newRoot(t)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // of a shell that completes
		complete(root, t)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	command, err := root, refuseConnections(args)
	if err == nil {
		command, err = root.ExecuteContextC(ctx)
	}
	t.progress.clear()
	if lost := out.failure(); lost != nil && (err == nil || errors.Is(err, atomicfile.Reason(lost))) {
		err = unwritten(command, lost)
	}
	if err == nil {
		return 0
	}
	kind := noren.KindOf(err)
	if ctx.Err() != nil {
		kind = noren.Interrupted
	}
	var said *alreadySaid
	if !errors.As(err, &said) {
		t.failed(shown(command, err), kind, wantsJSON(command, args))
	}
	return kind.ExitCode()
}

// alreadySaid wraps an error whose story the command has printed in full.
type alreadySaid struct{ error }

func (e *alreadySaid) Unwrap() error { return e.error }

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "noren",
		Short:         "Release tables, query data sets and collect data with privacy guarantees",
		Version:       versionText(buildInfo()),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		// No command below has one of its own, which would take the place of this one.
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return trimLists(c.Flags()) },
	}
	root.SetVersionTemplate("noren {{.Version}}\n")
	root.PersistentFlags().Var(&languageFlag{t}, "lang",
		"language of results and errors: en or ja (default: that of LC_ALL, LC_MESSAGES or LANG, else en)")
	root.PersistentFlags().Lookup("lang").DefValue = "" // help does not depend on the environment
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// An unknown flag behind an unknown command is a flag of that command.
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
			if unknown := c.ValidateArgs(args); unknown != nil {
				return unknown
			}
		}
		return flagFault(err).Advising(flagHint(c, err))
	})
	for _, g := range []struct {
		heading  string
		commands []*cobra.Command
	}{
		{heading: "Release tables:", commands: []*cobra.Command{
			newDemo(t), newInspect(t), newInit(t), newHierarchy(t), newAnonymize(t),
			newVerify(t), newAssess(t), newServe(t),
		}},
		{heading: "Query data sets:", commands: []*cobra.Command{
			newLedger(t), newQuery(t), newAsk(t), newOutliers(t), newCorrelated(t),
			newHarm(t), newRatio(t),
		}},
		{heading: "Collect data from devices:", commands: []*cobra.Command{newLDP(t)}},
		{heading: "Prove:", commands: []*cobra.Command{newCertificate(t)}},
		{heading: "Look up:", commands: []*cobra.Command{newExplain(t)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.heading, Title: g.heading})
		for _, c := range g.commands {
			c.GroupID = g.heading
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newVersion(t), newWorker(t), newMoved())
	helpTexts(root)
	plainDefaults(root)
	usageArgs(root)
	japaneseHelp(t, root)
	return root
}

// usageArgs makes every complaint about arguments a usage error.
func usageArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if own := (*noren.Error)(nil); errors.As(err, &own) {
				return own
			}
			if err != nil {
				return noren.Usagef("", "%s", noren.TextOf(err)).Advising(commandHint(c, args))
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

// exactly demands the named arguments and no others.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return noren.Reasonf("expected no argument, found %d", len(args))
		}
		return noren.Reasonf("expected %s, found %d {argument|arguments}", noren.Names(names), len(args))
	}
}

// printJSON writes v as one indented object.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return &noren.Error{What: "cannot write the result", Err: err}
	}
	return nil
}
