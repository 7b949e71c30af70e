package service

import (
	"context"
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/release"
)

// requested is a request that charges a budget, before its data set is known.
type requested[M release.Mechanism] struct {
	ask *api.Ask
	// schema names the form of the answer.
	schema string
	// public are files that must not be private files of a ledger. Empty names pass.
	public []string
	// build makes the mechanism for the data set, from public facts alone.
	build func(ctx context.Context, a *openSet) (M, error)
	// most is the largest cost that may be charged. Optional.
	most *api.Amount
	// priced is the hash of the request that a price was made for. Optional.
	priced string
	// hold keeps the cost free. Optional.
	hold *Held
	// paid receives the price of an answer. Optional.
	paid func(quote *release.Quote)
	// publish makes what is released out of the answer's bytes, where that is a file and
	// not these bytes. Optional; see [release.Request.Publish].
	publish func(ctx context.Context, m M, payload []byte) (certificate.Released, error)
}

// prepare opens the data set, refuses private files that are called public, and builds
// the mechanism. The caller closes a.
func (q *requested[M]) prepare(ctx context.Context, s *Service) (a *openSet, m M, r release.Request, err error) {
	if a, err = s.open(ctx, q.ask); err != nil {
		return nil, m, r, err
	}
	if err = s.public(ctx, a, q.public...); err == nil {
		m, err = q.build(ctx, a)
	}
	if err != nil {
		a.close()
		return nil, m, r, err
	}
	r = release.Request{Mechanism: m, Dataset: a.Dataset, Tool: s.Tool, Collect: s.Collect, Buckets: s.Buckets}
	r.Budget = release.Budget{Principal: q.ask.Analyst, Identity: s.Identity, Key: q.ask.RequestKey, Reuse: q.ask.Reuse, Priced: q.priced}
	if r.Budget.Principal == "" {
		r.Budget.Principal = s.Analyst
	}
	r.Budget.Expanded = s.NoiseKey != nil && (q.ask.RequestKey != "" || s.Kept != nil)
	if s.Kept != nil && a.kept {
		r.Step, r.Budget.Alone = s.Kept.fault, true
	}
	if q.most != nil {
		most, err := q.most.Parse()
		if err != nil {
			a.close()
			return nil, m, r, err
		}
		r.Budget.Most = &most
	}
	if q.hold != nil {
		r.Budget.Hold, r.Budget.Charged, r.Budget.Read, r.Budget.Computed = q.hold.hold, q.hold.Charged, q.hold.Read, q.hold.Computed
	}
	if q.publish != nil {
		r.Publish = func(ctx context.Context, payload []byte) (certificate.Released, error) {
			return q.publish(ctx, m, payload)
		}
	}
	return a, m, r, nil
}

// noiseKey gives a request the key to its noise, where it can be answered after a crash.
func (s *Service) noiseKey(r *release.Request) {
	if r.Budget.Key == "" || s.NoiseKey == nil {
		r.Budget.Expanded = false
		return
	}
	key, err := s.NoiseKey()
	if err != nil {
		s.note(api.Warning, "no-noise-key",
			"the key to the noise of answers cannot be read or made: after a crash this request is not answered, and stays charged")
	}
	r.Budget.NoiseKey, r.Budget.Expanded = key, len(key) > 0
}

// price computes the cost of a question. Nothing is charged, and no private file of a
// ledger is opened.
func price[M release.Mechanism](ctx context.Context, s *Service, q requested[M]) (p api.Price, m M, err error) {
	_, err = current(s.Kept, q.ask.Dataset, func() (struct{}, error) {
		p, m, err = priceOnce(ctx, s, q)
		return struct{}{}, err
	})
	return p, m, err
}

func priceOnce[M release.Mechanism](ctx context.Context, s *Service, q requested[M]) (api.Price, M, error) {
	ctx = s.bounded(ctx)
	a, m, r, err := q.prepare(ctx, s)
	if err != nil {
		return api.Price{}, m, err
	}
	defer a.close()
	quote, err := release.Price(ctx, &r)
	if err != nil {
		return api.Price{}, m, err
	}
	return api.PriceOf(q.schema, quote), m, nil
}

// pay runs a question: it is priced, charged, answered, signed and settled in that
// order ([release.Run]). A is the answer's type.
func pay[A any, M release.Mechanism](ctx context.Context, s *Service, q requested[M]) (out *A, receipt api.Receipt, m M, err error) {
	_, err = current(s.Kept, q.ask.Dataset, func() (struct{}, error) {
		out, receipt, m, err = payOnce[A](ctx, s, q)
		return struct{}{}, err
	})
	return out, receipt, m, err
}

func payOnce[A any, M release.Mechanism](ctx context.Context, s *Service, q requested[M]) (*A, api.Receipt, M, error) {
	ctx = s.bounded(ctx)
	a, m, r, err := q.prepare(ctx, s)
	if err != nil {
		return nil, api.Receipt{}, m, err
	}
	defer a.close()
	if s.Signer == nil {
		return nil, api.Receipt{}, m, &noren.Error{What: "the service has no key to sign certificates with"}
	}
	if r.Signer, err = s.Signer(); err != nil {
		return nil, api.Receipt{}, m, err
	}
	s.noiseKey(&r)
	answer, err := release.Run(ctx, r)
	if err != nil {
		if noren.KindOf(err) == noren.Interrupted && !q.ask.Unaccounted {
			s.note(api.Info, "charges-stay", "charges made so far stay in the history of the ledger")
			if len(r.Budget.NoiseKey) > 0 {
				s.note(api.Info, "resumable", "a request that was charged is answered when it is sent again with the same request key")
			} else {
				s.note(api.Info, "not-resumable", "a request that was charged without a request key is not answered any more")
			}
		}
		return nil, api.Receipt{}, m, err
	}
	if q.paid != nil {
		q.paid(answer.Quote)
	}
	out := new(A)
	if err := json.Unmarshal(answer.Payload, out); err != nil {
		return nil, api.Receipt{}, m, &noren.Error{What: "the stored answer cannot be read", Err: err}
	}
	if answer.Repeated {
		s.note(api.Info, "repeated", "this was asked before: the stored answer, free of charge")
	}
	if q.ask.Unaccounted {
		s.note(api.Warning, "unaccounted", "not charged to any ledger: the guarantee covers this answer only and does not compose with others")
	}
	return out, api.ReceiptOf(answer), m, nil
}
