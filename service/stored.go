package service

import (
	"context"
	"encoding/hex"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
)

// Stored says what became of the request that an analyst made under a request key. It
// charges nothing and reads the ledger alone.
func (s *Service) Stored(ctx context.Context, r *api.StoredRequest) (*api.Stored, error) {
	var l *ledger.Ledger
	if s.Kept != nil {
		l = s.Kept.ledger
	} else {
		var err error
		if l, err = ledger.Open(ctx, s.ledger(), ledger.Options{Anchor: s.Anchor}); err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
	}
	c, err := l.StoredByKey(ctx, r.Analyst, r.RequestKey)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return &api.Stored{State: "none"}, nil
	}
	info := c.Release.Charge
	in := account.Basic
	if info.Cost.Rho != 0 {
		in = account.ZCDP
	}
	out := &api.Stored{
		State: c.State, Dataset: c.Dataset, Request: hex.EncodeToString(c.Hash[:]), Link: info.Link, Head: hex.EncodeToString(info.Head[:]),
		ID:   info.ID,
		Cost: account.AmountIn(in, info.Cost), Payload: c.Release.Payload,
	}
	if c.State == "released" {
		if out.Certificate, err = certificate.Parse(c.Release.Signature); err != nil {
			return nil, &noren.Error{
				Where: "ledger", What: "the certificate of the stored answer cannot be read", Err: err,
				Hint: "verify the ledger",
			}
		}
	}
	return out, nil
}
