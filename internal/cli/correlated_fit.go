package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
)

type correlatedFitFlags struct {
	columnFlags
	request api.CorrelatedFitRequest
	centre  string
	output  string
	force   bool
}

func newCorrelatedFit(t *terminal) *cobra.Command {
	var f correlatedFitFlags
	c := &cobra.Command{
		Use:   "fit FILE --column COLUMN --length N --source TEXT -o MODEL",
		Short: "Estimate a model from public or older data, with confidence bounds",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c, t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	r := &f.request
	s.StringVar(&r.Column, "column", "", "the `COLUMN` of states, for a chain")
	s.StringVar(&r.Sequence, "sequence", "", "the `COLUMN` whose equal values mark the rows of one sequence (default: all rows are one)")
	s.IntVar(&r.Length, "length", 0, "number of records of the chain")
	s.StringSliceVar(&r.Columns, "columns", nil, "the `columns`, each a record, for a tree")
	s.StringSliceVar(&r.States, "states", nil, "the names of the states, in their order (default: those in the data, in byte order)")
	s.StringVar(&r.Source, "source", "", "a `TEXT` that says where the data came from; every guarantee states it")
	s.Float64Var(&r.Confidence, "confidence", 0.95, "the probability with which the interval model contains the true distribution")
	s.Float64Var(&r.Smoothing, "smoothing", 0.5, "added to every count for the point estimate")
	s.StringVar(&f.centre, "centre", "", "write the point estimate to this `FILE`: a guarantee for it depends on one estimate")
	s.StringVarP(&f.output, "output", "o", "-", "write the model to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	return c
}

func (f *correlatedFitFlags) run(c *cobra.Command, t *terminal, path string) error {
	if err := checkTargets(f.force, f.output, f.centre); err != nil {
		return err
	}
	var err error
	f.request.Input = path
	if f.request.Spec, err = f.merged(); err != nil {
		return err
	}
	fitted, err := t.service(nil).CorrelatedFit(c.Context(), &f.request)
	t.progress.clear()
	if err != nil {
		return err
	}
	if err := writeTogether(f.force, t.stdout, written{f.centre, jsonWriter(fitted.Centre)},
		written{f.output, jsonWriter(fitted.Model)}); err != nil {
		return err
	}
	if f.output != "-" {
		t.note("wrote %s, from %d {observation|observations}", f.output, fitted.Observations)
	}
	return nil
}
