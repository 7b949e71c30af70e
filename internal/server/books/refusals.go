package books

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Refused is a request that a budget did not cover.
type Refused struct {
	Asked []Message  `json:"asked"`
	Cost  api.Amount `json:"cost"`
	Left  api.Amount `json:"left"`
	Short api.Amount `json:"short"`
	// Account is the id of the principal whose account was short; "" for the book.
	Account string `json:"account,omitempty"`
}

const (
	// gathering is how long refusals wait for others before they are stored.
	gathering = 100 * time.Millisecond
	// mostWaiting is how many refusals wait at most; the audit log has those that are dropped.
	mostWaiting = 4096
	// mostStored is how many refusals are stored in one transaction.
	mostStored = 500
)

// refusals are refusals that wait to be stored.
type refusals struct {
	mu      sync.Mutex
	waiting []store.Refusal
	soon    bool // they are stored shortly

	storing sync.Mutex  // held while some are stored; it guards what follows
	retry   *time.Timer // of storeRefusals, while some wait for it
	closed  bool
}

// Refuse keeps a refusal for the list of entries. It is stored soon after, with others, and
// before the list is read: a refusal waits for no disk.
func (b *Books) Refuse(id, principal string, at time.Time, r *Refused) {
	doc, err := json.Marshal(r)
	if err != nil {
		return
	}
	b.refused.mu.Lock()
	defer b.refused.mu.Unlock()
	if len(b.refused.waiting) >= mostWaiting {
		return
	}
	b.refused.waiting = append(b.refused.waiting, store.Refusal{Book: id, Principal: principal, Made: at, Doc: doc})
	if !b.refused.soon {
		b.refused.soon = true
		time.AfterFunc(gathering, b.storeRefusals)
	}
}

// take removes the refusals that are stored next.
func (r *refusals) take() []store.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), mostStored)
	batch := r.waiting[:n:n]
	r.waiting = r.waiting[n:]
	if n == 0 {
		r.soon = false
	}
	return batch
}

// retrying is how long refusals wait after the store could not be written.
const retrying = time.Second

// storeRefusals stores all refusals that wait. Those that cannot be stored now are tried
// again.
func (b *Books) storeRefusals() {
	b.refused.storing.Lock()
	defer b.refused.storing.Unlock()
	for batch := b.refused.take(); len(batch) > 0; batch = b.refused.take() {
		err := b.config.Store.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
			for i := range batch {
				if err := tx.AddRefusal(ctx, &batch[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.refused.again(batch)
			if b.refused.retry == nil && !b.refused.closed {
				b.refused.retry = time.AfterFunc(retrying, b.storeAgain)
			}
			return
		}
	}
}

func (b *Books) storeAgain() {
	b.refused.storing.Lock()
	b.refused.retry = nil
	b.refused.storing.Unlock()
	b.storeRefusals()
}

// close ends the tries to store refusals.
func (r *refusals) close() {
	r.storing.Lock()
	defer r.storing.Unlock()
	r.closed = true
	if r.retry != nil {
		r.retry.Stop()
	}
}

// again puts refusals back that could not be stored.
func (r *refusals) again(batch []store.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(batch, r.waiting...)
}
