package space

// lanes says which categorical axes share a 64-bit word a record, one lane of bits
// each, and what the lanes in which two words differ add to a squared distance:
// one look into a table for the set of them.
type lanes struct {
	width uint  // bits of a lane: 8, 16 or 32
	axes  []int // by lane, the lowest bits first
	// table holds, for each set of lanes, the sum of their weights: for each
	// distinct weight, in the order of the axes, the weight times how many of the
	// set have it.
	table *[256]float64
}

// lanesOf puts the axes that count into words: those of up to 256 codes eight to a
// word, those of up to 65536 four and the others two.
func lanesOf(words []Categorical) []lanes {
	var out []lanes
	for _, width := range [...]uint{8, 16, 32} {
		var axes []int
		for a := range words {
			if w := &words[a]; w.Weight > 0 && w.Cardinality > 1 && w.width() == width {
				axes = append(axes, a)
			}
		}
		for most := int(64 / width); len(axes) > 0; {
			first := axes[:min(most, len(axes))]
			axes = axes[len(first):]
			out = append(out, lanes{width: width, axes: first, table: sums(words, first)})
		}
	}
	return out
}

// width is how many bits a lane of the axis needs.
func (w *Categorical) width() uint {
	switch {
	case w.Cardinality <= 1<<8:
		return 8
	case w.Cardinality <= 1<<16:
		return 16
	}
	return 32
}

// sums is the table of some axes.
func sums(words []Categorical, axes []int) *[256]float64 {
	t := new([256]float64)
	var weights []float64
	var of [8]int // the place of each lane's weight
	for lane, a := range axes {
		w := words[a].Weight
		at := 0
		for at < len(weights) && weights[at] != w {
			at++
		}
		if at == len(weights) {
			weights = append(weights, w)
		}
		of[lane] = at
	}
	for set := range 1 << len(axes) {
		var count [8]int
		for lane := range axes {
			count[of[lane]] += set >> lane & 1
		}
		for at, w := range weights {
			t[set] += float64(w * float64(count[at]))
		}
	}
	return t
}

// word is the word of record i.
func (l *lanes) word(words []Categorical, i int32) uint64 {
	var w uint64
	for lane, a := range l.axes {
		w |= uint64(words[a].Codes[i]) << (uint(lane) * l.width)
	}
	return w
}

// differing8 is the set of lanes of 8 bits that are not zero. The addition carries
// into the highest bit of each lane that has another bit, and no farther; the
// multiplication puts the highest bits side by side.
func differing8(x uint64) uint8 {
	t := (x&0x7f7f7f7f7f7f7f7f + 0x7f7f7f7f7f7f7f7f | x) & 0x8080808080808080
	return uint8(t * 0x0002040810204081 >> 56)
}

// differing is the set of lanes of any width that are not zero.
func differing(width uint, x uint64) uint8 {
	switch width {
	case 8:
		return differing8(x)
	case 16:
		t := (x&0x7fff7fff7fff7fff + 0x7fff7fff7fff7fff | x) & 0x8000800080008000
		return uint8(t * 0x0000200040008001 >> 60)
	}
	t := (x&0x7fffffff7fffffff + 0x7fffffff7fffffff | x) & 0x8000000080000000
	return uint8(t>>31&1 | t>>62&2)
}
