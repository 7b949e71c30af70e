package bound

// cuts are odd sets T of records, of which the groups of a partition hold no
// more than (|T|-1)/2 pairs:
//
//	sum over S of floor(|S ∩ T|/2) x_S <= (|T|-1)/2.
//
// (For three records: at most one group holds two or more of them.)
type cuts struct {
	set   [][]int32 // sorted
	pairs []float64 // (|T|-1)/2
	price []float64 // not negative
	of    [][]int32 // by record
	known map[[5]int32]struct{}
	count []int8
}

func newCuts(n int) *cuts {
	return &cuts{of: make([][]int32, n), known: map[[5]int32]struct{}{}}
}

// key identifies a set of up to five.
func key(set []int32) [5]int32 {
	k := [5]int32{-1, -1, -1, -1, -1}
	copy(k[:], set)
	return k
}

func (c *cuts) has(set []int32) bool {
	_, ok := c.known[key(set)]
	return ok
}

// add takes a sorted set of three or five in unless it is there.
func (c *cuts) add(set []int32) {
	if c.has(set) {
		return
	}
	c.known[key(set)] = struct{}{}
	at := int32(len(c.set))
	c.set = append(c.set, set)
	c.pairs = append(c.pairs, float64(len(set)/2))
	c.price = append(c.price, 0)
	c.count = append(c.count, 0)
	for _, i := range set {
		c.of[i] = append(c.of[i], at)
	}
}

// met appends the cuts that the members hold pairs of, once for each pair.
func (c *cuts) met(list, members []int32) []int32 {
	for _, i := range members {
		for _, t := range c.of[i] {
			c.count[t]++
			if c.count[t]%2 == 0 {
				list = append(list, t)
			}
		}
	}
	for _, i := range members {
		for _, t := range c.of[i] {
			c.count[t] = 0
		}
	}
	return list
}

// paid is what all cuts cost.
func (c *cuts) paid() float64 {
	var sum float64
	for t, w := range c.price {
		sum += w * c.pairs[t]
	}
	return sum
}
