// Command generate writes the power in each minute as CSV, to standard output or, with
// -o, to a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/dependence"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(noren.KindOf(err).ExitCode())
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	days := flags.Int("days", 1, "`number` of days of 1,440 minutes")
	seed := flags.Uint64("seed", 1, "seed of the table")
	output := flags.String("o", "-", "`file` to write; - is standard output")
	force := flags.Bool("force", false, "replace the file if it exists")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return nil
	case err != nil || flags.NArg() > 0 || *days < 1:
		return &noren.Error{Kind: noren.Usage, What: "expected -days, -seed and -o alone", Hint: "-h lists them"}
	}
	if *output == "-" {
		return dependence.Write(ctx, stdout, *days, *seed)
	}
	file, err := atomicfile.Create(*output, *force)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := dependence.Write(ctx, file, *days, *seed); err != nil {
		return err
	}
	return file.Commit()
}
