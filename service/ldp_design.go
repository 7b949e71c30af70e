package service

import (
	"context"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
)

// LDPDesign plans a collection of labels or of a number from public facts: the
// mechanism, its specification and the expected errors.
func (s *Service) LDPDesign(_ context.Context, r *api.LDPDesignRequest) (*api.LDPDesign, error) {
	p, err := survey.NewPlan(*r)
	if err != nil {
		return nil, err
	}
	return &api.LDPDesign{Schema: api.LDPDesignSchema, Plan: *p}, nil
}

// LDPWordDesign plans a collection of texts from public facts: RAPPOR's parameters,
// its specification and the expected errors.
func (s *Service) LDPWordDesign(_ context.Context, r *api.LDPWordDesignRequest) (*api.LDPWordDesign, error) {
	p, err := survey.NewWordPlan(*r)
	if err != nil {
		return nil, err
	}
	return &api.LDPWordDesign{Schema: api.LDPDesignSchema, WordPlan: *p}, nil
}
