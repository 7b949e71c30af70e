package publish

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren/table"
)

// RankedGroups is from how many groups on the numbers of [Matched] follow the
// ranks of the original: with fewer, a group's share of the ranks is so wide
// that its mean is nearer to its records.
const RankedGroups = 100

// matching chooses the values of all groups.
type matching struct {
	plan    *Plan
	columns []Column
	size    []uint32 // records of each group
	order   []uint32 // the groups in the order of the visits
	bins    [][]uint8
	shifts  []shifts // of the number columns, nil where they are not shifted
}

// shifts are the numbers that groups may choose from.
type shifts struct {
	value []float64 // of each group, unshifted
	sd    []float32
	at    []uint8 // the step that was chosen, shiftSteps for none
	bins  []uint8 // of each group and step
}

// Numbers may be shifted by so many steps to either side, each a share of the
// group's own deviation. Where there are very many groups, their numbers are left
// at their ranks.
const (
	shiftSteps   = 1
	shiftStep    = .5
	shiftsMost   = 1 << 17
	shiftChoices = 2*shiftSteps + 1
)

// match chooses what the groups show in all columns. Numbers come first: they do
// not depend on categories, whose choice looks at the numbers.
func (p *Plan) match(ctx context.Context, columns []Column, size []uint32) error {
	m := &matching{plan: p, columns: columns, size: size, bins: make([][]uint8, len(columns)), shifts: make([]shifts, len(columns))}
	hash := m.hashes()
	// The order of the visits first: it takes longest.
	err := m.each(ctx, len(columns)+1, func(i int) {
		switch j := i - 1; {
		case i == 0:
			m.order = make([]uint32, len(size))
			for g := range m.order {
				m.order[g] = uint32(g)
			}
			slices.SortFunc(m.order, func(a, b uint32) int { return m.byHash(hash, a, b) })
		case p.columns[j].counts == nil:
			m.number(j, hash)
		}
	})
	if err != nil {
		return err
	}
	if err := m.sweep(ctx); err != nil {
		return err
	}
	return m.each(ctx, len(columns), func(j int) {
		if s := &m.shifts[j]; s.at != nil {
			for g := range s.value {
				s.value[g] = s.shown(g, s.at[g])
			}
			m.write(j, s.value, p.columns[j].head.Field.Type == table.Decimal)
		}
		columns[j].own = nil
	})
}

// each calls work for 0..n-1, two at a time: each holds 20 bytes a group.
func (m *matching) each(ctx context.Context, n int, work func(i int)) error {
	var next, done atomic.Int64
	var mu sync.Mutex
	some := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			work(i)
			mu.Lock()
			m.plan.opts.Progress.Report("matching", done.Add(1), int64(n))
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	wg.Go(some)
	some()
	wg.Wait()
	return ctx.Err()
}

// byHash orders groups by their hashes. Two groups whose values give one hash may still
// show different categories first: these decide, and not the numbers of the groups, which
// come from the order of the records.
func (m *matching) byHash(hash []uint64, a, b uint32) int {
	if order := cmp.Compare(hash[a], hash[b]); order != 0 {
		return order
	}
	for j := range m.columns {
		if codes := m.columns[j].codes; codes != nil && codes[a] != codes[b] {
			return cmp.Compare(codes[a], codes[b])
		}
	}
	return int(a) - int(b)
}

// hashes gives each group a number that follows from its own values and the seed:
// the order of visits then does not come from the order of the records.
func (m *matching) hashes() []uint64 {
	hash := make([]uint64, len(m.size))
	for g := range hash {
		hash[g] = mix(m.plan.opts.Seed ^ uint64(m.size[g]))
	}
	for j := range m.columns {
		c, of := &m.columns[j], &m.plan.columns[j]
		c.own.rewind()
		for g := range hash {
			var raw []byte
			if of.counts == nil {
				_, raw = c.own.next(of.head.Field.Type == table.Decimal)
			} else {
				raw = c.own.of(uint32(g))
			}
			h := hash[g] ^ uint64(len(raw))
			for _, b := range raw {
				h = (h ^ uint64(b)) * 0x100000001b3
			}
			hash[g] = mix(h)
		}
	}
	return hash
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// number chooses the numbers of a column: the groups in the order of their means
// get, each, the mean of the original's values of these ranks, cut off at the
// group's own range.
func (m *matching) number(j int, hash []uint64) {
	c, of := &m.columns[j], &m.plan.columns[j]
	floats := of.head.Field.Type == table.Decimal
	n := len(m.size)
	ranked := n >= RankedGroups
	shifted := ranked && n <= shiftsMost
	var sd []float32
	chosen := make([]float64, n)
	present := make([]uint32, n)
	c.own.rewind()
	for g := range chosen {
		x, _ := c.own.next(floats)
		chosen[g], present[g] = x.mean, x.present
		if shifted {
			sd = append(sd, float32(x.sd))
		}
	}
	if ranked {
		order := make([]uint32, 0, n)
		for g, some := range present {
			if some > 0 {
				order = append(order, uint32(g))
			}
		}
		slices.SortFunc(order, func(a, b uint32) int {
			switch {
			case chosen[a] < chosen[b]:
				return -1
			case chosen[a] > chosen[b]:
				return 1
			}
			return m.byHash(hash, a, b)
		})
		r := ranks{v: of.values}
		for _, g := range order {
			chosen[g] = r.take(present[g])
		}
		m.write(j, chosen, floats)
	}
	x := &m.plan.tables.axes[j]
	bin := func(g int, v float64) uint8 {
		if present[g] == 0 {
			return uint8(x.bins - 1)
		}
		return binOf(x.edges, v)
	}
	m.bins[j] = make([]uint8, n)
	for g, v := range chosen {
		m.bins[j][g] = bin(g, v)
	}
	if !shifted {
		return
	}
	s := shifts{value: chosen, sd: sd, at: make([]uint8, n), bins: make([]uint8, 0, n*shiftChoices)}
	c.own.rewind()
	for g := range chosen {
		extent, _ := c.own.next(floats)
		s.at[g] = shiftSteps
		for step := range uint8(shiftChoices) {
			s.bins = append(s.bins, bin(g, min(max(s.shown(g, step), extent.lo), extent.hi)))
		}
	}
	m.shifts[j] = s
}

// shown is the number of group g at a step, before it is cut off at the group's
// range.
func (s *shifts) shown(g int, step uint8) float64 {
	return s.value[g] + (float64(step)-shiftSteps)*shiftStep*float64(s.sd[g])
}

// ranks reads the values of a column in ascending order.
type ranks struct {
	v    *values
	at   int
	used uint32 // of the value at
}

// take is the mean of the next n.
func (r *ranks) take(n uint32) float64 {
	sum, left := 0.0, n
	for left > 0 && r.at < len(r.v.at) {
		some := min(left, r.v.times[r.at]-r.used)
		sum += r.v.at[r.at] * (float64(some) / float64(n))
		left -= some
		r.used += some
		if r.used == r.v.times[r.at] {
			r.at, r.used = r.at+1, 0
		}
	}
	return sum
}

// write has the groups show the chosen numbers, cut off at their own ranges and
// rounded; chosen is what they show then.
func (m *matching) write(j int, chosen []float64, floats bool) {
	c, of := &m.columns[j], &m.plan.columns[j]
	f := &of.head.Field
	c.ints, c.floats, c.text = c.ints[:0], c.floats[:0], arena{}
	shown := Column{}
	var whole func(c *Column, q int64, large *big.Int)
	var decimal func(c *Column, text []byte)
	places := wholePlaces(f)
	on := of.grid
	if floats {
		decimal, places = decimalPutter(&shown, f, &of.stored), decimalPlaces(of.head)
	} else {
		whole = wholePutter(&shown, f, &of.stored)
	}
	rounds := on != nil && f.Round == nil
	if !rounds {
		on = &Grid{Unit: 1, Places: places}
	}
	var buf []byte
	c.own.rewind()
	for g := range chosen {
		x, _ := c.own.next(floats)
		v := min(max(chosen[g], x.lo), x.hi)
		switch {
		case x.present == 0:
		case floats:
			buf = on.appendFloat(buf[:0], v)
			decimal(c, buf)
		default:
			q, large := wholeUnits(v, x.loInt, x.hiI, places)
			if rounds {
				q, large = on.nearest(q, f), nil
			}
			whole(c, q, large)
		}
		chosen[g] = v
		switch {
		case c.Stored.Kind == table.Text:
			c.text.end()
		case x.present > 0:
		case c.Stored.Kind == table.Int:
			c.ints = append(c.ints, 0)
		default:
			c.floats = append(c.floats, 0)
		}
	}
}

// wholeUnits is v, between the whole numbers lo and hi, in units of 10^-places.
func wholeUnits(v float64, lo, hi int64, places int) (int64, *big.Int) {
	q := hi
	if r := math.RoundToEven(v); r < float64(math.MaxInt64) {
		q = min(max(int64(r), lo), hi)
	}
	switch {
	case places == 0:
		return q, nil
	case places < 0 && -places < len(powers):
		return divide(q, powers[-places]), nil
	case places < 0:
		return 0, nil
	}
	if scaled := v * math.Pow(10, float64(places)); math.Abs(scaled) < 1<<53 {
		return int64(math.RoundToEven(scaled)), nil
	}
	return 0, new(big.Int).Mul(big.NewInt(q), power(places))
}

// appendRounded writes v rounded to places, which may be negative.
func appendRounded(dst []byte, v float64, places int) []byte {
	if places < 0 {
		r := new(big.Rat).SetFloat64(v)
		den := new(big.Int).Mul(r.Denom(), power(-places))
		return appendUnits(dst, 0, divideLarge(new(big.Int).Set(r.Num()), den), places)
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', places, 64)
	if dst[at] == '-' && !slices.ContainsFunc(dst[at:], func(b byte) bool { return b >= '1' && b <= '9' }) {
		dst = append(dst[:at], dst[at+1:]...) // a zero has no sign
	}
	return dst
}
