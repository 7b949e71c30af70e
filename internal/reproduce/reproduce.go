// Package reproduce is the command line of noren-reproduce, which repeats the experiments of
// the papers that Noren's methods come from. It is in English only, and no part of noren
// (docs/decisions/0011-a-program-for-the-papers.md).
package reproduce

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

// Run runs the program with the given arguments (without its name) and returns its exit code,
// which is that of noren for the same kind of error.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	t := newTerminal(stdout, stderr)
	root := newRoot(t)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	t.progress.clear()
	if err == nil {
		return 0
	}
	kind := noren.KindOf(err)
	if ctx.Err() != nil {
		kind = noren.Interrupted
		fmt.Fprintln(stderr, "noren-reproduce: interrupted; nothing was written")
	} else {
		fmt.Fprintln(stderr, "noren-reproduce:", withFlag(command, err))
	}
	return kind.ExitCode()
}

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "noren-reproduce",
		Short:         "Reproduce the experiments of the papers and compare the figures",
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newKanon(t), newOutlier(t), newCorrelated(t), newLDP(t), newRatio(t))
	for _, c := range append(root.Commands(), root) {
		check := c.Args
		c.Args = func(c *cobra.Command, args []string) error { return usage(check(c, args)) }
		describe(c)
		c.LocalFlags().VisitAll(plainDefault)
	}
	return root
}

// usage makes a complaint about arguments a usage error.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, What: "%s", Args: []any{noren.Foreign(strings.TrimSuffix(err.Error(), "."))},
		Hint: "noren-reproduce --help",
	}
}

//go:embed help/*.txt
var helpFiles embed.FS

// describe gives a command the text and the examples of its file.
func describe(c *cobra.Command) {
	name := c.Name()
	if !c.HasParent() {
		name = "root"
	}
	text, err := helpFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		return // a test demands a file for each command
	}
	long, examples, _ := strings.Cut(string(text), "\nExamples:\n")
	c.Long, c.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
}

// plainDefault shows the default of a list as a user would type it.
func plainDefault(f *pflag.Flag) {
	if strings.HasSuffix(f.Value.Type(), "Slice") {
		f.DefValue = strings.Trim(f.DefValue, "[]")
	}
}

// withFlag is err with the flag in the place of the option that the error is about.
func withFlag(c *cobra.Command, err error) error {
	e, ok := err.(*noren.Error)
	if !ok || noren.KindOf(e) != noren.Usage || e.Where == nil || c.Flags().Lookup(e.Place()) == nil {
		return err
	}
	out := *e
	out.Where = "--" + e.Place()
	return &out
}

// referenceTable refuses a table of a data set of a ledger: the figures of an experiment are
// not charged.
func referenceTable(ctx context.Context, path string) error {
	return service.Public(ctx, &service.Service{Ledgers: []string{os.Getenv("NOREN_LEDGER"), "noren.db"}}, path)
}

// dataFolder is the folder of the reference data sets.
func dataFolder(flag string) string {
	if flag != "" {
		return flag
	}
	if dir := os.Getenv("NOREN_DATA"); dir != "" {
		return dir
	}
	return "../shared/data"
}

// emitKind writes a row as one line of JSON that says what it is.
func emitKind(enc *json.Encoder, kind string, row any) error {
	plain, err := json.Marshal(row)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(plain, &fields); err != nil {
		return err
	}
	fields["kind"] = kind
	return enc.Encode(fields)
}

func figure(x float64) string { return words.Figure(x) }
