package server

import (
	"context"

	"github.com/noren-privacy/noren/internal/server/store"
)

// Demonstrate adds a table of a demonstration by the first steward, once: not where the
// server has a table. It returns before the table has been read.
func (s *Server) Demonstrate(ctx context.Context, name string, data []byte) error {
	tables, err := s.store.Resources(ctx, store.KindTable, "", 0, 1)
	if err != nil || len(tables) > 0 {
		return err
	}
	steward, err := s.firstSteward(ctx)
	if err != nil {
		return err
	}
	_, err = s.AddTable(ctx, steward.ID, name, data)
	return err
}
