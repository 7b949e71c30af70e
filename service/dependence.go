package service

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/spec"
)

// openJSON opens a part of a request: the text that it holds, or the file that it
// names. name is how errors call it. Reading it ends with ctx.
func openJSON(ctx context.Context, text json.RawMessage, field, path string, what noren.Phrase) (r io.Reader, name string, err error) {
	if len(text) > 0 && path != "" {
		return nil, "", noren.Usagef(field, "expected JSON or a file, got both")
	}
	if path == "" {
		return meter.Interruptible(ctx, bytes.NewReader(text)), field, nil
	}
	file, _, err := spec.ReadSide(path, what, "does the file exist?")
	return meter.Interruptible(ctx, bytes.NewReader(file)), path, err
}

// dependence reads a model, a query and the options of a leakage.
func (s *Service) dependence(ctx context.Context, d *api.Dependence) (*correlated.ModelFile, *correlated.Query, correlated.LeakageOptions,
	error,
) {
	m, err := readModel(ctx, d)
	if err != nil {
		return nil, nil, correlated.LeakageOptions{}, err
	}
	q, o, err := s.modelQuery(ctx, &d.ModelQuery, m)
	return m, q, o, err
}

func readModel(ctx context.Context, d *api.Dependence) (*correlated.ModelFile, error) {
	if len(d.Model) == 0 && d.ModelFile == "" {
		return nil, noren.Usagef("model", "the model is missing")
	}
	r, name, err := openJSON(ctx, d.Model, "model", d.ModelFile, "the model")
	if err != nil {
		return nil, err
	}
	m, err := correlated.ParseModel(r, name)
	if err == nil && m.Source != "" && !names.Seen(m.Source) {
		return nil, noren.Usagef("source", "holds a character that cannot be seen").Hinted("use letters, digits and signs")
	}
	return m, err
}

// modelQuery reads a query to the records of a model and the options of its leakage.
func (s *Service) modelQuery(ctx context.Context, r *api.ModelQuery, m *correlated.ModelFile) (*correlated.Query, correlated.LeakageOptions,
	error,
) {
	o := correlated.LeakageOptions{Method: r.Method, Budget: r.Budget, Gap: r.Gap, Progress: s.Progress}
	if len(r.Query) == 0 && r.QueryFile == "" {
		return nil, o, noren.Usagef("query", "say what is asked").Hinted(`a query in JSON, such as {"count":"on"}, or a file`)
	}
	in, name, err := openJSON(ctx, r.Query, "query", r.QueryFile, "the query")
	if err != nil {
		return nil, o, err
	}
	q, err := correlated.ParseQuery(in, name, m)
	if err != nil {
		return nil, o, err
	}
	o.Adversaries, err = readAdversaries(ctx, r, m)
	return q, o, err
}

func readAdversaries(ctx context.Context, r *api.ModelQuery, m *correlated.ModelFile) (correlated.Adversaries, error) {
	if len(r.Adversaries) == 0 && r.AdversariesFile == "" {
		return correlated.AllAdversaries(), nil
	}
	var kind string
	if r.AdversariesFile == "" && json.Unmarshal(r.Adversaries, &kind) == nil {
		return correlated.ParseAdversaries(kind)
	}
	in, name, err := openJSON(ctx, r.Adversaries, "adversaries", r.AdversariesFile, "the adversaries")
	if noren.KindOf(err) == noren.Usage {
		return correlated.Adversaries{}, noren.Usagef("adversaries", "expected all, empty, full, or a file that can be read")
	}
	if err != nil {
		return correlated.Adversaries{}, err
	}
	return correlated.ReadAdversaries(in, name, m)
}

// inWords are a query and its adversaries, for display.
func inWords(q *correlated.Query, o correlated.LeakageOptions) api.Asked {
	return api.Asked{Query: q.Text(), Adversaries: o.Adversaries.Text()}
}
