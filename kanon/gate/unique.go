package gate

import (
	"cmp"
	"slices"
)

// Unique counts the records that are the only one with their value in some kept
// column, or with their values in some two: somebody who knows these values of a
// person finds the record, whatever k is. It is computed from private data.
type Unique struct {
	// Records is the number of records of the table.
	Records int64 `json:"records"`
	// Alone is the number of records that are unique in at least one kept column.
	Alone int64 `json:"alone"`
	// InPairs is the number of records that are unique in one or two kept columns.
	InPairs int64 `json:"in_pairs"`
	// Estimated is true if the table is large and the figures come from a uniform sample of
	// its records, which are looked up in the whole table.
	Estimated bool `json:"estimated,omitempty"`
	// Columns are the numbers of unique records by column, largest first.
	Columns []UniqueColumn `json:"columns,omitempty"`
	// Paired is the number of columns that were paired: if there are more than 32, those with
	// the most different values.
	Paired int `json:"paired,omitempty"`
}

// UniqueColumn counts the records that are unique in a column.
type UniqueColumn struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Unique is the number of records whose value no other record has.
	Unique int64 `json:"unique"`
}

// pairedColumns is how many columns are looked at in pairs.
const pairedColumns = 32

// uniqueness samples records and counts how often their values occur.
type uniqueness struct {
	columns int
	limit   uint64
	records int64
	places  []uint64
	hashes  []uint64 // by record and column

	// For a large table, the pairs that are looked at and how often what the
	// sampled records have occurs in it.
	counts []counter // of each column, then of each pair
	pairs  [][2]int
}

func newUniqueness(columns int) *uniqueness {
	return &uniqueness{columns: columns, limit: 1<<64 - 1}
}

// sample takes in a record.
func (u *uniqueness) sample(place uint64, hashes []uint64) {
	u.records++
	if place > u.limit {
		return
	}
	u.places = append(u.places, place)
	u.hashes = append(u.hashes, hashes...)
	if len(u.places) >= 2*uniqueRecords {
		u.thin(uniqueRecords)
	}
}

// thin leaves at most that many records.
func (u *uniqueness) thin(most int) {
	for len(u.places) > most {
		u.limit /= 2
		n := 0
		for i, place := range u.places {
			if place > u.limit {
				continue
			}
			u.places[n] = place
			copy(u.hashes[n*u.columns:(n+1)*u.columns], u.hashes[i*u.columns:])
			n++
		}
		u.places, u.hashes = u.places[:n], u.hashes[:n*u.columns]
	}
}

// whole reports whether all records are in the sample.
func (u *uniqueness) whole() bool { return int64(len(u.places)) == u.records }

func (u *uniqueness) of(record, column int) uint64 { return u.hashes[record*u.columns+column] }

// pair is the hash of two values.
func pair(a, b uint64) uint64 { return mix(a ^ mix(b)) }

// choosePairs lists the pairs of the columns with the most different values.
func (u *uniqueness) choosePairs() int {
	type counted struct{ column, distinct int }
	all := make([]counted, u.columns)
	for c := range all {
		seen := make(map[uint64]struct{}, len(u.places))
		for i := range u.places {
			seen[u.of(i, c)] = struct{}{}
		}
		all[c] = counted{c, len(seen)}
	}
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(b.distinct, a.distinct) })
	all = all[:min(len(all), pairedColumns)]
	for i := range all {
		for j := range i {
			u.pairs = append(u.pairs, [2]int{all[j].column, all[i].column})
		}
	}
	return len(all)
}

// prepare readies the counting of a large table: a smaller sample where there
// are many pairs.
func (u *uniqueness) prepare() {
	u.choosePairs()
	sets := u.columns + len(u.pairs)
	u.thin(max(2048, min(uniqueRecords, (1<<21)/sets)))
	u.counts = make([]counter, sets)
	for s := range u.counts {
		u.counts[s] = newCounter(len(u.places))
		for i := range u.places {
			u.counts[s].expect(u.key(u.hashes[i*u.columns:(i+1)*u.columns], s))
		}
		u.counts[s].begin()
	}
}

// key is what a record with these hashes has in set s: a column or a pair.
func (u *uniqueness) key(hashes []uint64, s int) uint64 {
	if s < u.columns {
		return hashes[s]
	}
	p := u.pairs[s-u.columns]
	return pair(hashes[p[0]], hashes[p[1]])
}

// count takes in a record of the second reading.
func (u *uniqueness) count(hashes []uint64) {
	for s := range u.counts {
		u.counts[s].count(u.key(hashes, s))
	}
}

// result sums up.
func (u *uniqueness) result(names []string) *Unique {
	out := &Unique{Records: u.records, Estimated: !u.whole()}
	if u.whole() {
		out.Paired = u.choosePairs()
	} else {
		out.Paired = min(u.columns, pairedColumns)
	}
	n := len(u.places)
	scale := func(count int) int64 {
		if n == 0 {
			return 0
		}
		return int64(float64(count)/float64(n)*float64(u.records) + 0.5)
	}
	alone := make([]bool, n)
	left := n
	for c := range u.columns {
		unique := 0
		for i, is := range u.unique(c) {
			if is {
				unique++
				if !alone[i] {
					alone[i] = true
					left--
				}
			}
		}
		out.Columns = append(out.Columns, UniqueColumn{names[c], scale(unique)})
	}
	out.Alone = scale(n - left)
	for s := u.columns; s < u.columns+len(u.pairs) && left > 0; s++ {
		for i, is := range u.unique(s) {
			if is && !alone[i] {
				alone[i] = true
				left--
			}
		}
	}
	out.InPairs = scale(n - left)
	slices.SortStableFunc(out.Columns, func(a, b UniqueColumn) int { return cmp.Compare(b.Unique, a.Unique) })
	return out
}

// unique tells which records of the sample are the only one of the table with
// what they have in set s.
func (u *uniqueness) unique(s int) []bool {
	n := len(u.places)
	is := make([]bool, n)
	if u.counts != nil {
		for i := range is {
			is[i] = u.counts[s].times[u.key(u.hashes[i*u.columns:(i+1)*u.columns], s)] == 1
		}
		return is
	}
	times := make(map[uint64]int32, n)
	for i := range n {
		times[u.key(u.hashes[i*u.columns:(i+1)*u.columns], s)]++
	}
	for i := range is {
		is[i] = times[u.key(u.hashes[i*u.columns:(i+1)*u.columns], s)] == 1
	}
	return is
}

// counter counts how often the keys that it expects occur; a table of bits turns
// most others away.
type counter struct {
	bits  []uint64
	mask  uint64
	times map[uint64]int32
}

func newCounter(n int) counter {
	size := uint64(64)
	for size < 16*uint64(n) {
		size *= 2
	}
	return counter{bits: make([]uint64, size/64), mask: size - 1, times: make(map[uint64]int32, n)}
}

// expect takes in the key of a sampled record. What two of them have is not
// unique and need not be counted.
func (c *counter) expect(key uint64) {
	c.times[key] = min(2, c.times[key]+1)
}

// begin ends the expecting.
func (c *counter) begin() {
	for key, n := range c.times {
		if n < 2 {
			c.times[key] = 0
			c.bits[key&c.mask/64] |= 1 << (key & 63)
		}
	}
}

func (c *counter) count(key uint64) {
	if c.bits[key&c.mask/64]&(1<<(key&63)) == 0 {
		return
	}
	if n, expected := c.times[key]; expected && n < 2 {
		c.times[key] = n + 1
	}
}
