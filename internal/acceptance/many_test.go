package acceptance

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// One analyst who sends hundreds of payments at once delays the answer of another by at most one
// class. It is counted in replies, and not by the clock: while the other one waits, the
// schedule accepts no more payments of the first than the lanes have slots in two classes.
func testOneOfMany(t *testing.T, payments, others int) {
	u, book := scheduled(t, "noren", 800)
	u.fromManyAddresses()
	const slots = 2 * 500 / 70 // of a lane, in two classes of 0.5 s, of 70 ms each
	many, other := u.payer(t, book, "Many", "age >= 0"), u.payer(t, book, "Other", "age >= 0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var replied atomic.Int64
	var group sync.WaitGroup
	for i := range payments {
		group.Go(func() {
			r := many.raw(ctx, "POST", "/answers", many.body, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("many ", i))
			if r.err == nil {
				replied.Add(1)
			}
			if r.err == nil && r.status != 200 && r.status != 202 {
				t.Errorf("one of many: %s", r)
			}
		})
	}
	u.waits(t, payments/2)
	worst := int64(0)
	for i := range others {
		before := replied.Load()
		r := other.raw(t.Context(), "POST", "/answers", other.body, "Content-Type", "application/json", "Idempotency-Key",
			fmt.Sprint("other ", i))
		if r.err != nil || r.status != 200 && r.status != 202 {
			t.Fatalf("the other one: %s", r)
		}
		worst = max(worst, replied.Load()-before)
	}
	left := payments - int(replied.Load())
	stop()
	group.Wait()
	t.Logf("%d payments at once of one analyst, %d of another: at most %d of the first were answered while one of the other waited; %d "+
		"were left", payments, others, worst, left)
	if most := int64(slots * runtime.GOMAXPROCS(0)); worst > most {
		t.Errorf("%d payments of one analyst were answered before one of another, at most %d fit into two classes", worst, most)
	}
	if left == 0 {
		t.Error("no payment was left: nothing was compared")
	}
}

func TestOneOfMany(t *testing.T) {
	short(t)
	testOneOfMany(t, 120, 2)
}

func TestLongServedOneOfMany(t *testing.T) {
	randtest.Long(t)
	testOneOfMany(t, 400, 20)
}
