package server

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// What computes from a table that is deleted, or copied again, meanwhile says so. It asks for no copy to be put
// back unless the copy was touched.
func TestTableThatGoesWhileItIsComputedFrom(t *testing.T) {
	s := start(t, nil).steward(t)
	hold := func() (*tables.Held, string) {
		t.Helper()
		table := s.people(t, 60, "x")
		h, err := s.tables.Hold(t.Context(), table.ID)
		if err != nil {
			t.Fatal(err)
		}
		return h, table.ID
	}
	wants := func(h *tables.Held, code string) {
		t.Helper()
		var p *problem.Problem
		if err := h.Unchanged(context.WithoutCancel(t.Context())); !errors.As(err, &p) || p.Code != code {
			t.Errorf("%v, expected %s", err, code)
		}
	}
	deleted, id := hold()
	s.do(t, 204, "DELETE", "/tables/"+id, nil, match(etag(s.table(t, id).Version)))
	wants(deleted, "not-found")
	again, _ := hold()
	again.Input += "2"
	wants(again, "conflict")
	touched, _ := hold()
	if err := touched.Unchanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(touched.Input, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(touched, "unavailable")
}
