package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"

	"pgregory.net/rapid"
)

// Random walks through the protocol against a model of a few integers: what is
// spent is the sum of what was granted, whatever becomes of it afterwards, and
// is never above the cap.
func TestWalks(t *testing.T) {
	randtest.SkipShort(t)
	randtest.Fewer(t, 3)
	testWalks(t)
}

func TestLongWalks(t *testing.T) {
	randtest.Long(t)
	testWalks(t)
}

func testWalks(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		limit := Cost{Epsilon: rapid.Int64Range(1, 60).Draw(rt, "eps"), Delta: rapid.Int64Range(0, 60).Draw(rt, "delta")}
		f := newFixture(t, limit)
		defer os.RemoveAll(f.dir)
		l := f.open(t)
		defer func() { l.Close() }()
		var want Cost
		state := map[int]string{}
		open := map[int]*Reservation{}
		next := 0
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"ask", "settle", "forfeit", "repeat", "cap", "reopen"}).Draw(rt, "step") {
			case "ask":
				next++
				cost := Cost{Epsilon: rapid.Int64Range(0, 30).Draw(rt, "e"), Delta: rapid.Int64Range(0, 30).Draw(rt, "d")}
				r, _, err := l.Reserve(ctx, request(next, cost))
				fits := cost.Epsilon <= limit.Epsilon-want.Epsilon && cost.Delta <= limit.Delta-want.Delta
				switch {
				case cost == Cost{}:
					if noren.KindOf(err) != noren.Usage {
						rt.Fatal(err)
					}
				case !fits:
					if noren.KindOf(err) != noren.Refused {
						rt.Fatalf("%v of %v left of %v: %v", cost, want, limit, err)
					}
				case err != nil:
					rt.Fatal(err)
				default:
					want.Epsilon, want.Delta = want.Epsilon+cost.Epsilon, want.Delta+cost.Delta
					state[next], open[next] = "reserved", r
				}
			case "settle":
				for n, r := range open {
					if err := r.Settle(ctx, answer(n), nil, ""); err != nil {
						rt.Fatal(err)
					}
					state[n] = "released"
					delete(open, n)
					break
				}
			case "forfeit":
				for n, r := range open {
					if err := r.Forfeit("the model says so"); err != nil {
						rt.Fatal(err)
					}
					state[n] = "forfeited"
					delete(open, n)
					break
				}
			case "repeat":
				for n, s := range state {
					_, stored, err := l.Reserve(ctx, request(n, Cost{Epsilon: 1, Delta: 1}))
					ok := s == "released" && err == nil && bytes.Equal(stored.Payload, answer(n)) ||
						s == "reserved" && errors.Is(err, ErrInProgress) || s == "forfeited" && errors.Is(err, ErrForfeited)
					if !ok {
						rt.Fatalf("%s: %v", s, err)
					}
				}
			case "cap":
				to := Cost{Epsilon: rapid.Int64Range(1, 90).Draw(rt, "cap"), Delta: limit.Delta}
				g := pinned(t, "adult", f.file, to)
				g.Replace = rapid.Bool().Draw(rt, "replace")
				_, err := l.Grant(ctx, g)
				unspent := want == Cost{}
				if (err == nil) != (g.Replace && unspent || !g.Replace && to.Epsilon >= limit.Epsilon) || err != nil && noren.CodeOf(err) != "fixed" {
					rt.Fatal(err)
				}
				if err == nil {
					limit = to
				}
			case "reopen":
				for n, r := range open {
					if err := r.Forfeit("closing"); err != nil {
						rt.Fatal(err)
					}
					state[n] = "forfeited"
				}
				clear(open)
				l.Close()
				l = f.open(t)
			}
			b, err := l.Book(ctx, "adult")
			if err != nil || b.Spent != want || b.Cap != limit {
				rt.Fatalf("%+v; want %v of %v spent, %v", b, want, limit, err)
			}
		}
		if r, err := l.Verify(ctx); err != nil || r.Err() != nil {
			rt.Fatal(err, r.Err())
		}
	})
}

// The head file is read back by its own writer or not at all.
func FuzzHeadLine(f *testing.F) {
	l := &Ledger{secret: bytes.Repeat([]byte{1}, 32)}
	k := &link{Seq: 7, Kind: kindForfeit, Body: []byte(`{"charge":"c","reason":"r","time":1}`), Prev: make([]byte, 32)}
	k.Hash = k.digest()
	good, err := l.headLine(k)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.TrimSuffix(good, []byte("\n")))
	f.Add([]byte(`{"seq":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		got, err := l.parseHeadLine(text)
		if err != nil {
			return
		}
		// Without the secret no other line is accepted.
		if fmt.Sprint(*got) != fmt.Sprint(*k) {
			t.Fatalf("forged: %q", text)
		}
	})
}

// Bodies from the chain are parsed by Verify: whatever stands there, it is a
// fault and no panic.
func FuzzReplay(f *testing.F) {
	for _, b := range []any{createBody{}, grantBody{Account: 1, CapEps: 5}, grantBody{
		Account: 1, Kind: kindDataset, Unit: "u", CapEps: 5,
		Replaces: true, Version: 1, Definition: "{}", DefinitionHash: hexHash(nil),
	}, grantBody{Account: 1, Accounting: "zcdp", CapRho: 5, StatementDelta: 1}, chargeBody{Lines: []line{{1, 1, 1, 0, 0}}}, chargeBody{
		Lines: []line{{1, 1, 0, 2, 1}},
	}, releaseBody{}, forfeitBody{}, reconcileBody{1, 2, 3, []knownEntry{{4, "aa"}}}, contentsBody{1, 1, "x", 2}} {
		text, err := json.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		for _, kind := range []string{kindCreate, kindGrant, kindCharge, kindRelease, kindForfeit, kindReconcile, kindRecover, kindContents} {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		metertest.Hold(t, len(kind)+len(body))
		p := newReplay()
		for _, k := range []link{
			{Kind: kindCreate, Body: []byte(`{"ledger":"l","time":1}`)},
			{Kind: kindGrant, Body: []byte(`{"account":1,"kind":"dataset","unit":"record","cap_eps_nano":9}`)},
			{Kind: kind, Body: body},
			{Kind: kind, Body: body},
		} {
			k.Seq, k.Prev = p.seq+1, p.hash
			k.Hash = k.digest()
			if p.apply(&k) != nil {
				return
			}
		}
		// What it accepts keeps the rules.
		for _, a := range p.accounts {
			if a.spent.eps < 0 || a.spent.delta < 0 || a.spent.eps > a.cap.eps || a.spent.delta > a.cap.delta ||
				a.spent.rho < 0 || a.spent.rho > a.cap.rho ||
				a.spent.gaussian < 0 || a.spent.gaussian > a.spent.rho {
				t.Fatalf("%s %s leaves %+v", kind, body, a)
			}
		}
		// And they outlive a checkpoint.
		state, err := p.books.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeBooks(p.seq, state); err == nil {
			if second, err := again.encode(); err != nil || !bytes.Equal(state, second) {
				t.Fatalf("%s, then %s", state, second)
			}
		} else {
			t.Fatal(err)
		}
	})
}
