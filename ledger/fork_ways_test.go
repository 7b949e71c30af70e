package ledger

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A ledger goes on from one copy three times. The anchor knows the first way, the store of a
// server the second, the ledger itself is of the third, and there are certificates of each:
// what any of them proves to be spent adds up.
func TestReconcileAfterThreeWays(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for name, in := range accountings {
		f := in.fix(t, in.limit)
		anchor := filepath.Join(t.TempDir(), "anchor")
		l := f.openAnchored(t, anchor)
		one := pay(t, l, in.cost(t, 1))
		first, err := l.Known(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		copied, head, early := filepath.Join(t.TempDir(), "copy.db"), read(t, f.path+".head"), read(t, anchor)
		if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
			t.Fatal(err)
		}
		l.Close()
		// way goes on from the copy by some charges.
		way := func(requests ...int) (known *Seen, evidence []Evidence) {
			t.Helper()
			copyFiles(t, copied, f.path)
			write(t, f.path+".head", head)
			write(t, anchor, early)
			l := f.open(t)
			defer l.Close()
			for _, n := range requests {
				evidence = append(evidence, Evidence{Charge: pay(t, l, in.cost(t, n)), Dataset: "adult"})
			}
			known, err := l.Known(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return known, evidence
		}
		knownA, ofA := way(2, 3, 4, 5)
		anchorA := read(t, anchor)
		knownB, ofB := way(22, 23, 24)
		// A store knows the entries of the certificates that it has.
		knownB.Entries = append(knownB.Entries, SeenEntry{one.Link, one.Head[:]})
		for i := range ofB {
			knownB.Entries = append(knownB.Entries, SeenEntry{ofB[i].Charge.Link, ofB[i].Charge.Head[:]})
		}
		knownC, _ := way(12, 13, 14, 15, 16)
		files := [3]string{filepath.Join(t.TempDir(), "c.db"), read(t, f.path+".head"), ""}
		copyFiles(t, f.path, files[0])
		// What all or some certificates of a way state.
		of := func(all []Evidence) (sum Spent) {
			for _, e := range all {
				sum.Epsilon += e.Charge.Cost.Epsilon + e.Charge.Loss.Pure
				sum.Delta += e.Charge.Cost.Delta
				sum.Rho += int64(e.Charge.Cost.Rho)
			}
			return sum
		}
		if a, b := of(ofA), of(ofB); first.Spent[0].Rho+a.Rho != knownA.Spent[0].Rho || first.Spent[0].Epsilon+
			b.Epsilon != knownB.Spent[0].Epsilon {
			t.Fatalf("%s: %+v, %+v and %+v, %+v", name, first, a, b, knownA)
		}
		c := knownC.Spent[0]
		for what, k := range map[string]struct {
			anchor, store bool
			a, b          []Evidence
		}{
			"anchor and store":                           {true, true, nil, nil},
			"anchor, store and certificates of both":     {true, true, ofA, ofB},
			"anchor, store and some certificates":        {true, true, ofA[1:3], ofB[:1]},
			"anchor and certificates of the other":       {true, false, nil, ofB},
			"anchor and certificates of both":            {true, false, ofA[:2], ofB},
			"store and certificates of the other":        {false, true, ofA, nil},
			"store and certificates of both":             {false, true, ofA, ofB[1:]},
			"certificates alone":                         {false, false, ofA, ofB},
			"anchor and few certificates of the other":   {true, false, nil, ofB[2:]},
			"store, and few certificates of the other":   {false, true, ofA[3:], nil},
			"store, and one certificate of the same way": {false, true, nil, ofB[1:2]},
		} {
			copyFiles(t, files[0], f.path)
			write(t, f.path+".head", files[1])
			o := ReconcileOptions{Evidence: append(append([]Evidence{}, k.b...), k.a...)}
			if write(t, anchor, anchorA); !k.anchor {
				write(t, anchor, "lost\n")
				o.WithoutAnchor = true
			}
			if k.store {
				o.Seen = []Seen{*knownB}
			}
			fromA, fromB := of(k.a), of(k.b)
			if k.anchor {
				fromA = of(ofA)
			}
			if k.store {
				fromB = of(ofB)
			}
			l := f.open(t)
			for _, time := range []string{"first", "again"} {
				if _, err := l.Reconcile(t.Context(), o); err != nil {
					t.Fatalf("%s, %s, %s: %v", name, what, time, err)
				}
				o.WithoutAnchor = false // it was made anew
				got, err := l.Known(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				g := got.Spent[0]
				want := Spent{Epsilon: c.Epsilon + fromA.Epsilon + fromB.Epsilon, Delta: c.Delta + fromA.Delta + fromB.Delta, Rho: c.Rho + fromA.Rho +
					fromB.Rho}
				// In zCDP the parts of a loss that no certificate tells apart are rounded up.
				if name == "zCDP" && g.Rho >= want.Rho && g.Epsilon >= want.Epsilon {
					continue
				}
				if g.Epsilon != want.Epsilon || g.Delta != want.Delta || g.Rho != want.Rho {
					t.Errorf("%s, %s, %s: spent %d, %d, %d, expected %d, %d, %d", name, what, time, g.Epsilon, g.Delta, g.Rho, want.Epsilon, want.Delta,
						want.Rho)
				}
			}
			verifyClean(t, l)
			l.Close()
			l = f.open(t)
			if l.Sealed() != nil {
				t.Errorf("%s, %s: %v", name, what, l.Sealed())
			}
			l.Close()
		}
	}
}

// The anchor knows each entry by its hash, also those that were committed in one group.
func TestAnchorKnowsEachEntry(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 1 << 40})
	anchor := filepath.Join(t.TempDir(), "anchor")
	l := f.openAnchored(t, anchor)
	defer l.Close()
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			res, _, err := l.Reserve(t.Context(), request(n, Cost{Epsilon: milli}))
			if err == nil {
				err = res.Settle(t.Context(), answer(1), nil, "")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	entries, err := l.anchorEntries()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, e := range entries {
		has[fmt.Sprintf("%d %x", e.Seq, e.Hash)] = true
	}
	from := entries[0].Seq
	var last int64
	if err := eachLink(t.Context(), l.db, from-1, func(k *link) error {
		last = k.Seq
		if !has[fmt.Sprintf("%d %x", k.Seq, k.Hash)] {
			t.Errorf("the anchor does not know entry %d", k.Seq)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if last < 80 {
		t.Errorf("%d entries", last)
	}
}
