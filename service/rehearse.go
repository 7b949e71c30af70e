package service

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

const (
	// rehearsalRuns is how often a rehearsal answers each question.
	rehearsalRuns = 100
	// rehearsalRows is the largest number of made-up rows; slowRows that for questions whose
	// answer takes long.
	rehearsalRows, slowRows = 20_000, 2_000
)

// trial is what the answers of a rehearsal came to.
type trial struct {
	rows       []api.AnswerRow
	within, of int
}

// twin is how the made-up rows of a question are drawn.
type twin struct {
	rows int
	made dataset.MadeUp
}

// Rehearse answers questions about made-up rows, each 100 times with noise as in a paid
// answer, and counts how many values lie within their margins. The rows are drawn from
// the schema, the bounds and the guesses of the questions alone, and are the same for the
// same seed: no private file is opened, and nothing is charged.
func (s *Service) Rehearse(ctx context.Context, r *api.RehearseRequest) (*api.Rehearsal, error) {
	return current(s.Kept, r.Dataset, func() (*api.Rehearsal, error) { return s.rehearse(ctx, r) })
}

func (s *Service) rehearse(ctx context.Context, r *api.RehearseRequest) (*api.Rehearsal, error) {
	b := &batch{service: s, request: &r.AskRequest}
	q := b.question()
	a, m, request, err := q.prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	defer a.close()
	quote, err := release.Price(ctx, &release.Request{Mechanism: m, Dataset: a.Dataset, Budget: request.Budget})
	if err != nil {
		return nil, err
	}
	seed := r.Seed
	if seed == "" {
		seed = hex.EncodeToString(quote.Request[:])
	}
	out := &api.Rehearsal{Runs: rehearsalRuns}
	for i, part := range b.parts {
		t, err := part.madeUp(a, seed, i)
		if err != nil {
			return nil, err
		}
		acc, err := part.accuracy(part.level, part.about)
		if err != nil {
			return nil, err
		}
		margin := 0.0
		if within := part.promised(acc); within != nil {
			margin = *within
		}
		got, err := part.try(ctx, t, margin, noise.NewSource())
		if err != nil {
			return nil, err
		}
		if acc.within == nil {
			got.within, got.of = 0, 0
		}
		out.Questions = append(out.Questions, api.QuestionRehearsal{Rows: got.rows, Made: t.Rows, Within: got.within, Of: got.of})
		out.Rows, out.Within, out.Of = max(out.Rows, t.Rows), out.Within+got.within, out.Of+got.of
	}
	return out, nil
}

// promised is the margin that is asked for where there is one, else the error that the
// price gives.
func (q *pricedQuestion) promised(acc accuracy) *float64 {
	if m := q.question.Margin; m != nil && m.Within > 0 && acc.within != nil {
		within := max(m.Within, *acc.within)
		return &within
	}
	return acc.within
}

// madeUp makes the rows of the question.
func (q *pricedQuestion) madeUp(a *openSet, seed string, i int) (*table.Table, error) {
	groups, _ := q.cells()
	w := q.twin(a, int(min(q.about*int64(groups), rehearsalRows)))
	if w.rows > rehearsalRows {
		return nil, noren.Usagef("questions", "expected at most %d made-up records, got %d: this question answers tables of that size only",
			rehearsalRows, w.rows).Hinted("it cannot be rehearsed")
	}
	w.made.Definition, w.made.Fields, w.made.Rows = a.Definition, q.mechanism().Columns(), w.rows
	w.made.Seed = sha256.Sum256(binary.BigEndian.AppendUint64([]byte("noren.rehearsal/1 "+seed+" "), uint64(i)))
	w.made.PerPerson = int(min(max(1, q.question.MaxRows()), int64(w.rows)))
	return w.made.Table()
}

func (f *queryForm) twin(_ *openSet, rows int) twin {
	if f.kind == query.Quantile {
		rows = min(rows, slowRows)
	}
	w := twin{rows: rows}
	w.made.By, w.made.Groups = f.options.By, f.options.Keys
	if b := f.options.Bounds; b != nil {
		w.made.Ranges = map[string][2]float64{f.options.Column: {b.Lo, b.Hi}}
	} else if n := len(f.options.Bins); n > 0 {
		w.made.Ranges = map[string][2]float64{f.options.Column: {f.options.Bins[0], f.options.Bins[n-1]}}
	}
	if len(f.options.Values) > 0 {
		w.made.Values = map[string][]string{f.options.Column: f.options.Values}
	}
	if f.options.Where != "" {
		w.made.Keep = func(t *table.Table) ([]bool, error) {
			p, err := query.ParsePredicate(f.options.Where, f.options.Fields)
			if err != nil {
				return nil, err
			}
			return p.Select(t)
		}
	}
	return w
}

func (f *queryForm) try(ctx context.Context, t *table.Table, margin float64, src *noise.Source) (*trial, error) {
	got, err := f.query.Try(ctx, t, margin, rehearsalRuns, src)
	if err != nil {
		return nil, err
	}
	return &trial{kinds.QueryRows(got.Result), got.Within, got.Of}, nil
}

func (f *outliersForm) twin(_ *openSet, rows int) twin {
	if f.options.Neighbours == account.ReplaceOne {
		return twin{rows: f.options.Records}
	}
	w := twin{rows: min(rows, slowRows), made: dataset.MadeUp{Ranges: map[string][2]float64{}}}
	for _, axis := range f.options.Axes {
		if axis.Field.Type.IsNumber() {
			w.made.Ranges[axis.Field.Name] = [2]float64{axis.Low, axis.High}
		}
	}
	return w
}

func (f *outliersForm) try(ctx context.Context, t *table.Table, margin float64, src *noise.Source) (*trial, error) {
	got, err := f.made.Try(ctx, t, margin, rehearsalRuns, src)
	if err != nil {
		return nil, err
	}
	return &trial{kinds.OutlierRows(got.Answer), got.Within, rehearsalRuns}, nil
}

func (f *correlatedForm) twin(a *openSet, _ int) twin { return twin{rows: int(a.Definition.Records)} }

func (f *correlatedForm) try(ctx context.Context, t *table.Table, margin float64, src *noise.Source) (*trial, error) {
	got, err := f.made.Try(ctx, t, margin, rehearsalRuns, src)
	if err != nil {
		return nil, err
	}
	return &trial{kinds.CorrelatedRows(got.Answer), got.Within, got.Of}, nil
}
