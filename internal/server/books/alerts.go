package books

import (
	"context"
	"strconv"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/store"
)

// levels are the shares of a cap, in percent, at which stewards are alerted.
var levels = [...]int{50, 80, 100}

// LeftAfter is what is left after a charge.
type LeftAfter struct {
	Own   *api.Amount `json:"own,omitempty" doc:"Of the principal's account."`
	Table api.Amount  `json:"table" doc:"Of the book."`
}

// Charged notes alerts after a charge to a principal's account, of which left is left: each
// level of each cap once. The audit log has every alert. Where left is nil the ledger is
// asked.
func (b *Books) Charged(ctx context.Context, id, principal string, left *LeftAfter) error {
	d, err := b.find(id)
	if err != nil {
		return err
	}
	caps := b.capsOf(d.Name)
	if left == nil || left.Own == nil || caps == nil || caps[principal] == (api.Amount{}) {
		set, err := b.dataset(ctx, d.Name)
		if err != nil {
			return err
		}
		caps, left = b.capsOf(d.Name), &LeftAfter{Table: amountOf(set.Remaining)}
		for i := range set.Analysts {
			if a := &set.Analysts[i]; a.Name == principal {
				own := amountOf(a.Remaining)
				left.Own = &own
			}
		}
	}
	if err := b.alert(ctx, d, "", caps[""], left.Table); err != nil || left.Own == nil {
		return err
	}
	return b.alert(ctx, d, principal, caps[principal], *left.Own)
}

// capsOf are the caps of a data set as they were last read, by principal; that of the data
// set itself under "". Every change of a cap reads them.
func (b *Books) capsOf(dataset string) map[string]api.Amount {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.caps[dataset]
}

// alert notes the levels of one account that what is spent has reached.
func (b *Books) alert(ctx context.Context, d *document, account string, most, left api.Amount) error {
	share := most.Minus(left).Share(most)
	for _, level := range levels {
		if share < float64(level)/100 {
			return nil
		}
		text := amountText(most)
		key := alertKey{d.id, account, level, text}
		b.mu.RLock()
		known := b.alerted[key]
		b.mu.RUnlock()
		if known {
			continue
		}
		isNew := false
		err := b.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			isNew, err = tx.AddAlert(ctx, d.id, &store.Alert{Account: account, Level: level, Cap: text})
			return err
		})
		if err != nil {
			return err
		}
		b.mu.Lock()
		b.alerted[key] = true
		b.mu.Unlock()
		if !isNew {
			continue
		}
		detail := map[string]string{"level": strconv.Itoa(level), "cap": text}
		if account != "" {
			detail["account"] = account
		}
		if err := b.config.Host.Note(ctx, "server", "book.alert", d.id, detail); err != nil {
			return err
		}
	}
	return nil
}

// alertKey names an alert.
type alertKey struct {
	book, account string
	level         int
	cap           string
}
