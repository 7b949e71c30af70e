package privacy

import (
	"math"
	"math/big"
)

// ByPerson is an [Attribute] whose classes are judged by persons and not by
// records: diversity by the worst histogram of persons over values
// ([People.Worst]), closeness by shares in which each person weighs 1.
type ByPerson struct {
	*Attribute
	persons int64
	whole   []share   // of the whole table, by code
	q       []float64 // by code: the persons' shares, which sum to 1
	upTo    []float64 // upTo[j] = q[0] + ... + q[j-1], for values
	sums    []float64 // sums[j] = upTo[1] + ... + upTo[j]
}

// NewByPerson judges a by persons: the record i of the whole table belongs to
// persons[i], [NoPerson] for none, and has the code codeOf(i).
func NewByPerson(a *Attribute, persons []uint32, codeOf func(record int) uint32) *ByPerson {
	var all People
	for i, person := range persons {
		if person != NoPerson {
			all.Add(person, codeOf(i))
		}
	}
	b := &ByPerson{Attribute: a, persons: all.Persons(), whole: all.shared(), q: make([]float64, a.Cardinality)}
	addShares(b.q, b.whole, b.persons)
	b.upTo, b.sums = make([]float64, a.values+1), make([]float64, a.values+1)
	for j := range a.values {
		b.upTo[j+1] = b.upTo[j] + b.q[j]
		b.sums[j+1] = b.sums[j] + b.upTo[j+1]
	}
	return b
}

func addShares(to []float64, of []share, persons int64) {
	for _, s := range of {
		to[s.code] += float64(s.records) / float64(s.of) / float64(persons)
	}
}

// Holds reports whether a class keeps req: at least K persons, and its diversity
// and its closeness by persons.
func (b *ByPerson) Holds(p *People, req Requirement) bool {
	return p.Persons() >= int64(req.K) && b.Diverse(p, req.Diversity) && b.Close(p, req.Closeness)
}

// Worst sets h to the worst histogram of the class ([People.Worst]), in which a
// missing value may be any value, unless d counts it as one of its own.
func (b *ByPerson) Worst(p *People, h *Histogram, d *Diversity) {
	wild := uint32(NoCode)
	if b.Cardinality > b.values && (d == nil || !d.CountMissing) {
		wild = uint32(b.values)
	}
	p.Worst(h, wild)
}

// Diverse reports whether d holds for the worst histogram of the class.
func (b *ByPerson) Diverse(p *People, d *Diversity) bool {
	if d == nil {
		return true
	}
	var h Histogram
	b.Worst(p, &h, d)
	return b.Attribute.Diverse(&h, d)
}

// Close reports whether c holds in a class by persons. Floating-point arithmetic
// decides where it is sure, exact fractions where it is not.
func (b *ByPerson) Close(p *People, c *Closeness) bool {
	switch {
	case c == nil:
		return true
	case p.Persons() == 0:
		return c.T >= 1
	}
	// The error of the sums is below 1e-9 for any table of fewer than 2^32
	// records: at most as many terms, each of at most 1, divided by their number.
	const sure = 1e-8
	d := b.distance(p)
	switch {
	case d < c.T-sure:
		return true
	case d > c.T+sure:
		return false
	}
	return b.exact(p).Cmp(decimal(c.T)) <= 0
}

// Distance is how far the persons of a class are from those of the whole table,
// in [0,1]. Each person weighs 1, in equal parts for each of his or her records:
// in the class those in the class, in the table all of them. With p and q the
// two distributions of values it is the distance of [Attribute.Distance] plus,
// where u records of the class have no person and N persons are in it,
// min(1, u/N) (2u/N for an ordered column with missing values): that covers
// every way in which these records may belong to persons, in the class or not
// (docs/k-anonymity.md, "Persons").
func (b *ByPerson) Distance(p *People) float64 {
	switch {
	case p.Records() == 0:
		return 0
	case p.Persons() == 0:
		return 1
	}
	return math.Min(1, math.Max(0, b.distance(p)))
}

// unknownWeight is by how many N-ths one record without a person can move the
// distance.
func (b *ByPerson) unknownWeight() int64 {
	if b.Ordered && b.Cardinality > b.values {
		return 2
	}
	return 1
}

func (b *ByPerson) distance(p *People) float64 {
	shares, persons := p.shared(), p.Persons()
	rest := float64(b.unknownWeight()) * float64(p.unknown()) / float64(persons)
	if !b.Ordered {
		sum := 0.0
		for i := 0; i < len(shares); {
			code, have := shares[i].code, 0.0
			for ; i < len(shares) && shares[i].code == code; i++ {
				have += float64(shares[i].records) / float64(shares[i].of)
			}
			sum += math.Max(0, have/float64(persons)-b.q[code])
		}
		return sum + rest
	}
	// s and u are the shares that have a value.
	s, u := 0.0, b.upTo[b.values]
	for _, x := range shares {
		if int(x.code) < b.values {
			s += float64(x.records) / float64(x.of) / float64(persons)
		}
	}
	d := math.Abs(s-u) + rest
	if s == 0 || u == 0 || b.values < 2 {
		return d
	}
	gap, p0, lo := 0.0, 0.0, 0
	segment := func(hi int) { // on the ranks lo..hi-1 the class has p0 below
		if lo >= hi {
			return
		}
		level := p0 / s * u
		turn := lo
		for step := hi - lo; step > 0; {
			// The first rank at which the table's side is the larger.
			half := step / 2
			if b.upTo[turn+half+1] > level {
				step = half
			} else {
				turn, step = turn+half+1, step-half-1
			}
		}
		gap += level*float64(turn-lo) - (b.sums[turn] - b.sums[lo])
		gap += b.sums[hi] - b.sums[turn] - level*float64(hi-turn)
		lo = hi
	}
	for i := 0; i < len(shares) && int(shares[i].code) < b.values; {
		code := shares[i].code
		segment(int(code))
		for ; i < len(shares) && shares[i].code == code; i++ {
			p0 += float64(shares[i].records) / float64(shares[i].of) / float64(persons)
		}
	}
	segment(b.values)
	return d + math.Min(s, u)*gap/u/float64(b.values-1)
}

// exact is distance in fractions.
func (b *ByPerson) exact(p *People) *big.Rat {
	persons := p.Persons()
	have, want := fractions(p.shared(), persons), fractions(b.whole, b.persons)
	total := big.NewRat(b.unknownWeight()*int64(p.unknown()), persons)
	zero := new(big.Rat)
	of := func(m map[uint32]*big.Rat, code int) *big.Rat {
		if r := m[uint32(code)]; r != nil {
			return r
		}
		return zero
	}
	if !b.Ordered {
		for code := range have {
			if d := new(big.Rat).Sub(have[code], of(want, int(code))); d.Sign() > 0 {
				total.Add(total, d)
			}
		}
		return total
	}
	s, u := new(big.Rat), new(big.Rat)
	for code := range b.values {
		s.Add(s, of(have, code))
		u.Add(u, of(want, code))
	}
	d := new(big.Rat).Sub(s, u)
	total.Add(total, d.Abs(d))
	if s.Sign() == 0 || u.Sign() == 0 || b.values < 2 {
		return total
	}
	gap, below, above := new(big.Rat), new(big.Rat), new(big.Rat)
	for code := range b.values {
		below.Add(below, of(have, code))
		above.Add(above, of(want, code))
		x := new(big.Rat).Quo(below, s)
		x.Sub(x, new(big.Rat).Quo(above, u))
		gap.Add(gap, x.Abs(x))
	}
	least := s
	if u.Cmp(s) < 0 {
		least = u
	}
	gap.Mul(gap, least)
	return total.Add(total, gap.Quo(gap, big.NewRat(int64(b.values-1), 1)))
}

// fractions adds the shares up by code.
func fractions(of []share, persons int64) map[uint32]*big.Rat {
	out := map[uint32]*big.Rat{}
	for i := 0; i < len(of); {
		// Equal shares are counted first: fractions are slow to add.
		from := i
		for i < len(of) && of[i] == of[from] {
			i++
		}
		r := big.NewRat(int64(of[from].records)*int64(i-from), int64(of[from].of))
		if sum := out[of[from].code]; sum != nil {
			sum.Add(sum, r)
		} else {
			out[of[from].code] = r
		}
	}
	n := big.NewRat(1, persons)
	for _, r := range out {
		r.Mul(r, n)
	}
	return out
}
