package outlier

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// database is a multiset of places, as how often each occurs.
type database string

// world is everything that can happen on a few places: all databases of a
// range of sizes, with the exact query and local sensitivity.
type world struct {
	set    Setting
	d      int
	places [][]int32
	all    []database
	index  map[database]int
	query  []int
	near   [][]int // neighbours
}

func newWorld(t *testing.T, d int, places [][]int32, smallest, largest int, set Setting) *world {
	w := &world{set: set, d: d, places: places, index: map[database]int{}}
	counts := make([]byte, len(places))
	var fill func(at, left int)
	fill = func(at, left int) {
		if at == len(places)-1 {
			counts[at] = byte(left)
			w.index[database(counts)] = len(w.all)
			w.all = append(w.all, database(counts))
			return
		}
		for c := 0; c <= left; c++ {
			counts[at] = byte(c)
			fill(at+1, left-c)
		}
	}
	for n := smallest; n <= largest; n++ {
		fill(0, n)
	}
	for _, db := range w.all {
		w.query = append(w.query, w.outliers(db))
	}
	for _, db := range w.all {
		var near []int
		for a := range places {
			if set.Neighbours == account.AddRemove {
				b := []byte(db)
				b[a]++
				if i, ok := w.index[database(b)]; ok {
					near = append(near, i)
				}
			}
			if db[a] == 0 {
				continue
			}
			b := []byte(db)
			b[a]--
			if set.Neighbours == account.AddRemove {
				if i, ok := w.index[database(b)]; ok {
					near = append(near, i)
				}
				continue
			}
			for z := range places {
				if z != a {
					c := []byte(string(b))
					c[z]++
					near = append(near, w.index[database(c)])
				}
			}
		}
		w.near = append(w.near, near)
	}
	return w
}

// outliers is the definition of the query.
func (w *world) outliers(db database) int {
	q := 0
	for i, p := range w.places {
		degree := -1
		for j, o := range w.places {
			var sum int64
			for k := range p {
				e := int64(p[k]) - int64(o[k])
				sum += e * e
			}
			if sum <= w.set.Radius2 {
				degree += int(db[j])
			}
		}
		if db[i] > 0 && degree < w.set.K {
			q += int(db[i])
		}
	}
	return q
}

func (w *world) points(t *testing.T, db database) *axis.Points[int32] {
	var coords []int32
	for i, p := range w.places {
		for range db[i] {
			coords = append(coords, p...)
		}
	}
	p, err := NewPoints(w.d, coords, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// check holds both conditions against every database and every pair of
// neighbours: (i) the local sensitivity of whatever t steps reach is at most
// U_t; (ii) U_t(X) <= U_{t+1}(X'). uncapped leaves the caps by G and N away,
// which can hide a fault behind them.
func (w *world) check(t *testing.T, steps int, uncapped bool) {
	t.Helper()
	ctx := context.Background()
	bounds := make([][]int64, len(w.all))
	for i, db := range w.all {
		p, err := newProfile(ctx, w.points(t, db), w.set, math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		if p.query() != w.query[i] {
			t.Fatalf("%v: query %d, want %d", []byte(db), p.query(), w.query[i])
		}
		if uncapped {
			p.cap = 1 << 40
		}
		for s := range steps + 2 {
			u, err := p.bound(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			bounds[i] = append(bounds[i], u)
		}
	}
	// reached[i] is the largest local sensitivity within s steps of i.
	reached := make([]int64, len(w.all))
	for i, near := range w.near {
		for _, j := range near {
			reached[i] = max(reached[i], int64(w.query[i]-w.query[j]), int64(w.query[j]-w.query[i]))
		}
	}
	for s := range steps + 1 {
		next := make([]int64, len(w.all))
		for i, near := range w.near {
			if reached[i] > bounds[i][s] {
				t.Fatalf("(i) fails at t = %d for %v: sensitivity %d, U %d", s, []byte(w.all[i]), reached[i], bounds[i][s])
			}
			next[i] = reached[i]
			for _, j := range near {
				next[i] = max(next[i], reached[j])
				if bounds[i][s] > bounds[j][s+1] {
					t.Fatalf("(ii) fails at t = %d for %v and %v: %d > %d", s, []byte(w.all[i]), []byte(w.all[j]), bounds[i][s], bounds[j][s+1])
				}
			}
		}
		reached = next
	}
}

func line(places ...int32) [][]int32 {
	var out [][]int32
	for _, x := range places {
		out = append(out, []int32{x})
	}
	return out
}

// square is the grid {0,1,..,side-1}^2 and a place far away.
func square(side int32) [][]int32 {
	var out [][]int32
	for x := range side {
		for y := range side {
			out = append(out, []int32{x, y})
		}
	}
	return append(out, []int32{50, 50})
}

func TestTheoremsExhaustively(t *testing.T) {
	randtest.SkipShort(t)
	type setting struct {
		d      int
		places [][]int32
		r2     int64
		n, k   int
		cover  Coverage
	}
	var all []setting
	for k := 1; k <= 3; k++ {
		all = append(
			all,
			setting{1, line(0, 2, 4, 20), 4, 7, k, CoverAuto},
			setting{1, line(0, 1, 2, 3, 4, 5, 20), 4, 5, k, CoverAuto},
			setting{1, line(0, 1, 2, 3, 4, 5, 20), 4, 5, k, CoverCore},
			setting{2, square(2), 1, 6, k, CoverCore},
			setting{2, square(3), 1, 5, k, CoverCore},
			setting{2, square(3), 2, 4, k, CoverCore},
			setting{2, square(3), 1, 4, k, CoverExact},
			setting{3, [][]int32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {9, 9, 9}}, 1, 5, k, CoverAuto},
		)
	}
	for _, s := range all {
		set := Setting{K: s.k, Radius2: s.r2, Coverage: s.cover}
		t.Run(fmt.Sprintf("d=%d places=%d r2=%d n=%d k=%d cover=%d", s.d, len(s.places), s.r2, s.n, s.k, s.cover), func(t *testing.T) {
			t.Parallel()
			set.Neighbours = account.ReplaceOne
			w := newWorld(t, s.d, s.places, s.n, s.n, set)
			w.check(t, 4, false)
			w.check(t, 4, true)
			set.Neighbours = account.AddRemove
			w = newWorld(t, s.d, s.places, 0, s.n, set)
			w.check(t, 4, false)
			w.check(t, 4, true)
		})
	}
}

// Replace-one with no more than k records: everything is an outlier, always.
func TestNoMoreThanKRecords(t *testing.T) {
	for n := 1; n <= 3; n++ {
		w := newWorld(t, 1, line(0, 1, 9), n, n, Setting{K: 3, Radius2: 4, Neighbours: account.ReplaceOne})
		w.check(t, 3, false)
		for i, db := range w.all {
			q, s, err := count(context.Background(), w.points(t, db), w.set, 0.1)
			if err != nil || q != n || s != 0 || w.query[i] != n {
				t.Errorf("%v: query %d, S %g, %v", []byte(db), q, s, err)
			}
		}
	}
}
