package ledger

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A ledger goes on from random copies of itself, and files with all their certificates know some
// of its ways. Whichever of them are brought, at once or one by one with charges between, no
// less is spent than all charges that they and the ledger prove.
func TestLongReconcileAfterRandomWays(t *testing.T) {
	randtest.Long(t)
	t.Parallel()
	type way struct {
		path, head string
		charges    map[int]Evidence
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for trial := range 24 {
		name := []string{"epsilon", "zCDP"}[trial%2]
		in := accountings[name]
		f := in.fix(t, in.limit)
		l, own, charges := f.open(t), map[int]Evidence{}, 0
		charge := func() {
			charges++
			own[charges] = Evidence{Charge: pay(t, l, in.cost(t, charges)), Dataset: "adult"}
		}
		known := func() *Seen {
			t.Helper()
			k, err := l.Known(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		var ways, seen []way
		var files []Seen
		for range 3 + rng.IntN(5) {
			if len(ways) > 0 && rng.IntN(3) > 0 {
				from := ways[rng.IntN(len(ways))]
				l.Close()
				copyFiles(t, from.path, f.path)
				write(t, f.path+".head", from.head)
				l, own = f.open(t), maps.Clone(from.charges)
			}
			for range rng.IntN(4) {
				charge()
			}
			w := way{filepath.Join(t.TempDir(), "copy.db"), read(t, f.path+".head"), maps.Clone(own)}
			if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", w.path); err != nil {
				t.Fatal(err)
			}
			ways = append(ways, w)
			if rng.IntN(2) == 0 {
				k := known()
				for _, e := range w.charges {
					k.Entries = append(k.Entries, SeenEntry{e.Charge.Link, e.Charge.Head[:]})
				}
				files, seen = append(files, *k), append(seen, w)
			}
		}
		proved, together := maps.Clone(own), rng.IntN(2) == 0
		var o ReconcileOptions
		for i := range files {
			o.Seen = append(o.Seen, files[i])
			for n, e := range seen[i].charges {
				proved[n] = e
				if rng.IntN(4) == 0 {
					o.Evidence = append(o.Evidence, e)
				}
			}
			if together && i < len(files)-1 {
				continue
			}
			if _, err := l.Reconcile(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			got, least := known().Spent[0], int64(len(proved))
			if got.Epsilon < least*milli && name == "epsilon" || got.Rho < least*milliRho && name == "zCDP" {
				t.Errorf("trial %d, %s, file %d: spent %d, %d, expected %d charges", trial, name, i, got.Epsilon, got.Rho, least)
			}
			if !together && rng.IntN(2) == 0 {
				charge()
				proved[charges] = own[charges]
			}
			if rng.IntN(2) == 0 {
				o = ReconcileOptions{} // the next one is brought alone
			}
		}
		l.Close()
	}
}
