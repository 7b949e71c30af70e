// Command generate writes a synthetic table as CSV, to standard output or,
// with -o, to a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	rows := flags.Int64("rows", 100_000, "`number` of records")
	seed := flags.Uint64("seed", 1, "seed of the table")
	extra := flags.Bool("extra", false, "add id, diagnosis, spending and note")
	sensors := flags.Bool("sensors", false, "write readings of sensors in the plane instead of people")
	output := flags.String("o", "-", "`file` to write; - is standard output")
	force := flags.Bool("force", false, "replace the file if it exists")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return nil
	case err != nil:
		return &noren.Error{Kind: noren.Usage, Err: err}
	case flags.NArg() > 0:
		return &noren.Error{Kind: noren.Usage, What: "takes flags alone", Hint: "-h lists them"}
	}
	if *sensors && *extra {
		return &noren.Error{Kind: noren.Usage, Where: "-extra", What: "adds columns to people, not to sensors"}
	}
	if strings.EqualFold(filepath.Ext(*output), ".parquet") {
		return &noren.Error{
			Kind: noren.Usage, Where: "-o " + *output, What: "a CSV file should not be called that",
			Hint: "write CSV, and convert it",
		}
	}
	write := bigtable.Write
	if *sensors {
		write = bigtable.WriteSensors
	}
	options := bigtable.Options{Rows: *rows, Seed: *seed, Extra: *extra}
	if *output == "-" {
		return write(ctx, stdout, options)
	}
	file, err := atomicfile.Create(*output, *force)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := write(ctx, file, options); err != nil {
		return err
	}
	return file.Commit()
}
