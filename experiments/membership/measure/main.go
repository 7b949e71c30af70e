// Command measure measures membership inference against releases of half of a table
// (package experiments/membership) and writes a table of AUCs in Markdown.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/experiments/membership"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(noren.KindOf(err).ExitCode())
	}
}

// ways are the releases that are compared.
var ways = []struct {
	name    string
	options kanon.Options
}{
	{"`aggregate`, `minmax`, `--refine fast`", kanon.Options{Publish: publish.Aggregate, Scale: space.MinMax, Refine: refine.Fast}},
	{"`aggregate`", kanon.Options{Publish: publish.Aggregate, Scale: space.ZScore, Refine: refine.Auto}},
	{"`matched`", kanon.Options{Publish: publish.Matched, Scale: space.ZScore, Refine: refine.Auto}},
	{"`shares`", kanon.Options{Publish: publish.Shares, Scale: space.ZScore, Refine: refine.Auto}},
	{"`generalize`", kanon.Options{Publish: publish.Generalize, Scale: space.ZScore, Refine: refine.Auto}},
	{"`generalize --ranges fixed`", kanon.Options{
		Publish: publish.Generalize, Ranges: publish.Fixed, Scale: space.ZScore,
		Refine: refine.Auto,
	}},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quasi := flags.String("quasi", "", "quasi-identifiers, separated by commas; required")
	ks := flags.String("k", "2,5,10,50", "values of k, separated by commas")
	splits := flags.Int("splits", 1, "number of random divisions; figures are means")
	seed := flags.Uint64("seed", 1, "seed of the first division")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return nil
	case err != nil:
		return &noren.Error{Kind: noren.Usage, Err: err}
	case flags.NArg() != 1 || *quasi == "" || *splits < 1:
		return &noren.Error{Kind: noren.Usage, What: "expected -quasi COLUMN,... and one CSV file"}
	}
	all, err := membership.Read(flags.Arg(0), strings.Split(*quasi, ","))
	if err != nil {
		return err
	}
	var k []int
	for _, text := range strings.Split(*ks, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 2 {
			return &noren.Error{Kind: noren.Usage, Where: "-k", What: "expected whole numbers of 2 or more"}
		}
		k = append(k, n)
	}
	_, _ = fmt.Fprintf(stdout, "| k = %s | AUC | advantage | outsiders excluded |\n|---|---|---|---|\n",
		strings.Join(strings.Split(*ks, ","), " / "))
	original, err := measure(ctx, all, nil, *splits, *seed)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stdout, "| the members themselves | %s | %s | |\n", figure(original.AUC), figure(original.Advantage))
	for _, way := range ways {
		columns := make([][]string, 3)
		for _, k := range k {
			o := way.options
			o.K = k
			m, err := measure(ctx, all, &o, *splits, *seed)
			if err != nil {
				return err
			}
			for c, v := range []float64{m.AUC, m.Advantage, m.Excluded} {
				columns[c] = append(columns[c], figure(v))
			}
		}
		if !way.options.Publish.Boxes() {
			columns[2] = nil
		}
		_, err := fmt.Fprintf(stdout, "| %s | %s | %s | %s |\n", way.name, strings.Join(columns[0], " / "), strings.Join(columns[1], " / "),
			strings.Join(columns[2], " / "))
		if err != nil {
			return &noren.Error{What: "cannot write", Err: err}
		}
	}
	return nil
}

// measure is the mean over divisions; o is nil for an attack on the members' own table.
func measure(ctx context.Context, all *membership.Table, o *kanon.Options, splits int, seed uint64) (membership.Outcome, error) {
	var sum membership.Outcome
	for s := range splits {
		members, outsiders := all.Split(seed + uint64(s))
		release := members.Rows
		if o != nil {
			var err error
			if release, err = membership.Release(ctx, members, *o); err != nil {
				return sum, err
			}
		}
		m, err := membership.Measure(ctx, members, outsiders, release)
		if err != nil {
			return sum, err
		}
		sum.AUC += m.AUC / float64(splits)
		sum.Advantage += m.Advantage / float64(splits)
		sum.Excluded += m.Excluded / float64(splits)
	}
	return sum, nil
}

// figure has three digits and no zero before the point.
func figure(v float64) string { return strings.TrimPrefix(strconv.FormatFloat(v, 'f', 3, 64), "0") }
