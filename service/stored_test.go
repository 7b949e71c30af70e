package service_test

import (
	"bytes"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
)

// What became of a request is found by its key: also of one that failed at any step.
func TestStored(t *testing.T) {
	s, _ := people(t)
	s.Note = nil
	fail := ""
	k, err := service.Keep(t.Context(), s.Ledger, service.KeepOptions{Fault: func(step string) error {
		if step == fail {
			return &noren.Error{What: "a planted fault"}
		}
		return nil
	}})
	must(t, err)
	defer func() { must(t, k.Close()) }()
	s.Kept = k
	find := func(key string) *api.Stored {
		t.Helper()
		out, err := s.Stored(t.Context(), &api.StoredRequest{Analyst: "mori", RequestKey: key})
		must(t, err)
		return out
	}
	if got := find("none"); got.State != "none" {
		t.Errorf("%+v", got)
	}
	r := threeQuestions()
	r.RequestKey = "first"
	a, err := s.Ask(t.Context(), r)
	must(t, err)
	if got := find("first"); got.State != "released" || !bytes.Equal(got.Payload, a.Payload) || got.Certificate == nil || got.Cost != a.Cost ||
		got.Link != a.Charge.Link || got.Request != a.Certificate.Certificate.RequestSHA256 {
		t.Errorf("%+v", got)
	}
	spent := a.Cost
	for _, step := range []string{"reserved", "read", "noise", "computed"} {
		fail, r.RequestKey = step, step
		if _, err := s.Ask(t.Context(), r); noren.CodeOf(err) != "withheld" {
			t.Errorf("a fault at %s: %v", step, err)
		}
		if got := find(step); got.State != "forfeited" || got.Cost != spent || got.Payload != nil {
			t.Errorf("after a fault at %s: %+v", step, got)
		}
	}
	fail, r.RequestKey = "settled", "settled"
	if _, err := s.Ask(t.Context(), r); err != nil {
		t.Errorf("a fault after the answer was stored has lost it: %v", err)
	}
	fail = ""
	if got := find("settled"); got.State != "released" {
		t.Errorf("after a fault at settled: %+v", got)
	}
	// The answer is given again under its key, free of charge.
	again, err := s.Ask(t.Context(), r)
	if err == nil && !again.Repeated {
		t.Error("asked again under the same key, it was charged anew")
	}
	// Without an open ledger it is found as well.
	s.Kept = nil
	if got := find("first"); got.State != "released" {
		t.Errorf("%+v", got)
	}
}
