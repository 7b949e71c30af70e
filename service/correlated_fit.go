package service

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/xlsx"
)

// CorrelatedFit estimates a model of dependent records from public or older data: a
// Markov chain from sequences of states, or a tree over several columns. A table that a
// reachable ledger has granted is refused (code private): a model is public by its purpose,
// and holds frequencies of the table that nothing was charged for.
func (s *Service) CorrelatedFit(ctx context.Context, r *api.CorrelatedFitRequest) (*api.CorrelatedFit, error) {
	if (r.Column == "") == (len(r.Columns) == 0) {
		return nil, noren.Usagef("column", "expected a column for a chain, or columns for a tree").Hinted("give column or columns")
	}
	if r.Sequence != "" && r.Column == "" {
		return nil, noren.Usagef("sequence", "only a chain has sequences").Hinted("leave it out, or give column")
	}
	sheet, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	form, err := sheet.Form()
	if err != nil {
		return nil, err
	}
	if err := s.refusePrivate(ctx, r.SpecFile); err != nil {
		return nil, err
	}
	form.Progress = s.Progress
	src, err := s.openGuarded(ctx, r.Input, form, func(held []holding) error { return release.Private(r.Input, held[0].dataset) })
	if err != nil {
		return nil, err
	}
	s.noteForm(src, form.Totals == xlsx.Leave)
	defer closeTable(src)
	names := slices.Clone(r.Columns)
	if r.Column != "" {
		names = []string{r.Column}
	}
	records := len(names)
	if r.Sequence != "" {
		names = append(names, r.Sequence)
	}
	tab, err := table.ReadText(ctx, src, names, table.ReadOptions{Missing: sheet.Input.Missing, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	o := correlated.FitOptions{Source: r.Source, Length: r.Length, Confidence: r.Confidence, Smoothing: r.Smoothing}
	states, used := correlated.ReadStates(tab.Columns[:records], r.States)
	o.States = used
	var fitted *correlated.Fitted
	if r.Column != "" {
		fitted, err = correlated.FitChain(correlated.Sequences(states[0], tab.Column(r.Sequence)), o)
	} else {
		fitted, err = correlated.FitTree(ctx, correlated.Samples(states, tab.Rows), o)
	}
	if err != nil {
		return nil, err
	}
	return &api.CorrelatedFit{Model: fitted.File, Centre: fitted.Centre, Observations: fitted.Observations}, nil
}
