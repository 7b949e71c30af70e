package server

import (
	"context"
	"maps"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/service"
)

// chargeNoted charges what the audit log notes of questions after the last of its entries that
// the ledger knows: server.db is an older copy, and the ledger may be one of the same moment. A
// question is noted before it is charged, so one that was refused afterwards is charged too.
// Questions of a book that server.db does not know are charged to all data sets without a book.
func (s *Server) chargeNoted(ctx context.Context) error {
	noted, err := s.kept.LastBeside(ctx)
	if err != nil || noted.N == 0 { // a ledger of before it noted the log
		return err
	}
	dataSets, err := books.DataSets(ctx, s.store)
	if err != nil {
		return err
	}
	owed, found := service.NewOwed(maps.Values(dataSets)), false
	for before, more := int64(0), true; more; {
		var items []audit.Item
		items, more, err = s.audit.Page(ctx, &audit.Filter{Action: askAction, Outcome: "ok"}, before, 500)
		if err != nil {
			return err
		}
		for i := range items {
			before = items[i].N
			if before <= noted.N {
				more = false
				break
			}
			found = true
			if err := owed.Add(dataSets[items[i].Object], items[i].Detail["cost"]); err != nil {
				return &noren.Error{
					Kind: noren.BadData, Where: noren.Phrase("audit log"), What: "entry %d: the cost of the question cannot be read",
					Args: []any{before},
				}
			}
		}
	}
	if !found {
		return nil
	}
	return s.kept.ChargeNoted(ctx, s.lastAudit(), owed)
}
