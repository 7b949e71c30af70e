package privacy_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// The worst histogram of hand-made classes.
func TestWorst(t *testing.T) {
	const wild = 9
	for _, c := range []struct {
		name string
		in   [][2]uint32 // person, code
		want []privacy.Pair
	}{
		{"one value each", [][2]uint32{{1, 0}, {2, 0}, {3, 1}}, []privacy.Pair{{Code: 0, Count: 2}, {Code: 1, Count: 1}}},
		{"a value twice counts once", [][2]uint32{{1, 0}, {1, 0}, {2, 1}}, []privacy.Pair{{Code: 0, Count: 1}, {Code: 1, Count: 1}}},
		{"all have both", [][2]uint32{{1, 0}, {1, 1}, {2, 0}, {2, 1}}, []privacy.Pair{{Code: 0, Count: 2}}},
		{"cut to fit", [][2]uint32{{1, 0}, {1, 1}, {2, 0}, {3, 1}, {3, 2}}, []privacy.Pair{{Code: 0, Count: 2}, {Code: 1, Count: 1}}},
		{"a record of no person joins any", [][2]uint32{{1, 0}, {2, 1}, {privacy.NoPerson, 0}}, []privacy.Pair{{Code: 0, Count: 2}}},
		{"missing may be any", [][2]uint32{{1, 0}, {2, wild}, {3, 1}, {4, 1}}, []privacy.Pair{{Code: 0, Count: 1}, {Code: 1, Count: 3}}},
		{"nothing is recorded", [][2]uint32{{1, wild}, {2, wild}}, nil},
		{"a person with a value and without", [][2]uint32{{1, 0}, {1, wild}, {2, 1}}, []privacy.Pair{{Code: 1, Count: 2}}},
		{"no person", [][2]uint32{{privacy.NoPerson, 0}}, nil},
	} {
		var p privacy.People
		for _, r := range c.in {
			p.Add(r[0], r[1])
		}
		var h privacy.Histogram
		p.Worst(&h, wild)
		if !slices.Equal(h.Pairs(), c.want) {
			t.Errorf("%s: got %v, want %v", c.name, h.Pairs(), c.want)
		}
	}
}

// A class of a column, as persons and values; -1 is missing.
type drawnClass struct {
	person []uint32
	value  []int
}

func drawClass(t *rapid.T, unknown, missing bool) drawnClass {
	n := rapid.IntRange(1, 10).Draw(t, "records")
	var c drawnClass
	for range n {
		least := 1
		if unknown {
			least = 0
		}
		low := 0
		if missing {
			low = -1
		}
		c.person = append(c.person, uint32(rapid.IntRange(least, 5).Draw(t, "person")))
		c.value = append(c.value, rapid.IntRange(low, 4).Draw(t, "value"))
	}
	return c
}

// choose gives each person one value, whatever the missing ones and the records
// without a person are: the histogram of an attacker who knows more than the
// class shows.
func (c drawnClass) choose(rng *rand.Rand) map[int]int64 {
	own := map[uint32][]int{}
	var present []int
	for i, v := range c.value {
		if v >= 0 {
			present = append(present, v)
		}
		if c.person[i] != privacy.NoPerson {
			own[c.person[i]] = append(own[c.person[i]], v)
		}
	}
	if len(own) == 0 || len(present) == 0 {
		return nil
	}
	next := uint32(100)
	for i, v := range c.value {
		if c.person[i] != privacy.NoPerson {
			continue
		}
		var people []uint32
		for p := range own {
			people = append(people, p)
		}
		slices.Sort(people)
		if k := rng.IntN(len(people) + 1); k < len(people) {
			own[people[k]] = append(own[people[k]], v)
		} else {
			next++
			own[next] = append(own[next], v)
		}
	}
	people := make([]uint32, 0, len(own))
	for p := range own {
		people = append(people, p)
	}
	slices.Sort(people)
	h := map[int]int64{}
	for _, p := range people {
		v := own[p][rng.IntN(len(own[p]))]
		if v < 0 {
			v = present[rng.IntN(len(present))]
		}
		h[v]++
	}
	return h
}

func shareOf(counts []int64, top int) float64 {
	sum, all := int64(0), int64(0)
	slices.Sort(counts)
	slices.Reverse(counts)
	for i, n := range counts {
		if i < top {
			sum += n
		}
		all += n
	}
	return float64(sum) / float64(all)
}

// Whatever is chosen, the worst histogram majorizes it: the theorem that the
// diversity of persons rests on.
func TestWorstMajorizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClass(t, true, true)
		var p privacy.People
		const wild = 7
		for i, v := range c.value {
			if v < 0 {
				v = wild
			}
			p.Add(c.person[i], uint32(v))
		}
		var h privacy.Histogram
		p.Worst(&h, wild)
		var worst []int64
		for _, pair := range h.Pairs() {
			worst = append(worst, pair.Count)
		}
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		for range 40 {
			chosen := c.choose(rng)
			if chosen == nil {
				return
			}
			var counts []int64
			for _, n := range chosen {
				counts = append(counts, n)
			}
			for top := 1; top <= 5; top++ {
				if shareOf(counts, top) > shareOf(worst, top)+1e-12 {
					t.Fatalf("%v: the %d commonest of %v cover more than those of %v", c, top, chosen, worst)
				}
			}
		}
	})
}

// naiveDistance is the distance by persons as it is defined, in fractions.
func naiveDistance(whole, class drawnClass, ordered bool) *big.Rat {
	shares := func(c drawnClass) (map[int]*big.Rat, int64, int64) {
		records := map[uint32]int64{}
		unknown := int64(0)
		for _, p := range c.person {
			if p == privacy.NoPerson {
				unknown++
				continue
			}
			records[p]++
		}
		out := map[int]*big.Rat{}
		for i, p := range c.person {
			if p == privacy.NoPerson {
				continue
			}
			if out[c.value[i]] == nil {
				out[c.value[i]] = new(big.Rat)
			}
			out[c.value[i]].Add(out[c.value[i]], big.NewRat(1, records[p]*int64(len(records))))
		}
		return out, int64(len(records)), unknown
	}
	p, persons, unknown := shares(class)
	q, _, _ := shares(whole)
	get := func(m map[int]*big.Rat, v int) *big.Rat {
		if m[v] == nil {
			return new(big.Rat)
		}
		return m[v]
	}
	var values []int
	missing := false
	for _, v := range whole.value {
		if v >= 0 && !slices.Contains(values, v) {
			values = append(values, v)
		}
		missing = missing || v < 0
	}
	slices.Sort(values)
	d := big.NewRat(unknown, persons)
	if !ordered {
		for v := -1; v < 5; v++ {
			if x := new(big.Rat).Sub(get(p, v), get(q, v)); x.Sign() > 0 {
				d.Add(d, x)
			}
		}
		return d
	}
	if missing {
		d.Add(d, d)
	}
	one := big.NewRat(1, 1)
	s, u := new(big.Rat).Sub(one, get(p, -1)), new(big.Rat).Sub(one, get(q, -1))
	x := new(big.Rat).Sub(s, u)
	d.Add(d, x.Abs(x))
	if s.Sign() == 0 || u.Sign() == 0 || len(values) < 2 {
		return d
	}
	a, b, sum := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, v := range values {
		a.Add(a, new(big.Rat).Quo(get(p, v), s))
		b.Add(b, new(big.Rat).Quo(get(q, v), u))
		y := new(big.Rat).Sub(a, b)
		sum.Add(sum, y.Abs(y))
	}
	least := s
	if u.Cmp(s) < 0 {
		least = u
	}
	sum.Mul(sum, least)
	return d.Add(d, sum.Quo(sum, big.NewRat(int64(len(values)-1), 1)))
}

// The distance by persons is the one defined, and closeness is exact at a bound
// that is reached.
func TestDistanceByPersons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := drawClass(t, true, true)
		ordered := rapid.Bool().Draw(t, "ordered")
		f := table.Field{Name: "x", Type: table.Category}
		if ordered {
			f.Type = table.Integer
		}
		b, err := table.NewBuilder(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range whole.value {
			if v < 0 {
				b.AppendMissing()
			} else if err := b.Append([]byte{byte('0' + v)}); err != nil {
				t.Fatal(err)
			}
		}
		a := privacy.NewAttribute(b.Column())
		by := privacy.NewByPerson(a, whole.person, func(i int) uint32 { return a.Codes[i] })
		// A part of the table is the class.
		var class drawnClass
		var p privacy.People
		for i := range whole.person {
			if rapid.Bool().Draw(t, "in") {
				class.person, class.value = append(class.person, whole.person[i]), append(class.value, whole.value[i])
				p.Add(whole.person[i], a.Codes[i])
			}
		}
		if p.Persons() == 0 {
			if by.Close(&p, &privacy.Closeness{T: 0.9}) {
				t.Fatal("a class of no person is close")
			}
			return
		}
		want := naiveDistance(whole, class, ordered)
		f64, _ := want.Float64()
		if got := by.Distance(&p); math.Abs(got-min(1, f64)) > 1e-12 {
			t.Fatalf("distance %g, want %g", got, f64)
		}
		for _, bound := range []float64{f64, 0, 0.25, 0.5, 1} {
			if bound > 1 {
				continue
			}
			// The bound is the decimal that it is written as.
			decimal, _ := new(big.Rat).SetString(big.NewFloat(bound).Text('g', -1))
			if got := by.Close(&p, &privacy.Closeness{T: bound}); got != (want.Cmp(decimal) <= 0) {
				t.Fatalf("close within %g: %v at the distance %s", bound, got, want)
			}
		}
	})
}

// Fit counts, for each person, the persons with a record in all classes.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		var of, person []uint32
		in := map[[2]uint32]bool{}
		for range n {
			c, p := uint32(rapid.IntRange(0, 5).Draw(t, "class")), uint32(rapid.IntRange(0, 7).Draw(t, "person"))
			of, person = append(of, c), append(person, p)
			in[[2]uint32{c, p}] = true
		}
		links := privacy.NewLinks(of, person, 6)
		var want privacy.Fit
		want.K = 3
		persons, total := 0, 0
		for p := uint32(1); p <= 7; p++ {
			has := false
			fits := int64(0)
			for q := uint32(1); q <= 7; q++ {
				some, all := false, true
				for c := uint32(0); c < 6; c++ {
					some = some || in[[2]uint32{c, p}]
					all = all && (!in[[2]uint32{c, p}] || in[[2]uint32{c, q}])
				}
				has = some
				if some && all {
					fits++
				}
			}
			if !has {
				continue
			}
			if persons == 0 || fits < want.Min {
				want.Min = fits
			}
			persons++
			total += int(fits)
			if fits == 1 {
				want.Alone++
			}
			if fits < 3 {
				want.Below++
			}
		}
		if persons > 0 {
			want.Mean = float64(total) / float64(persons)
		}
		got, err := links.Fit(context.Background(), 3)
		if err != nil || got != want || links.Persons() != int64(persons) {
			t.Fatalf("got %+v (%v), want %+v", got, err, want)
		}
	})
}
