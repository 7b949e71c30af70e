package publish

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// ownMost is how many different values of a category a group may choose from:
// those that are most frequent in it.
const ownMost = 32

// own holds, for each group, what the matching must know of its values in a
// column. A number: how many have one, the smallest, the largest, and between
// them the mean and the deviation in 65535ths. A category: the different values,
// the most frequent of them where there are many. The same values give the same
// bytes, whatever their order.
type own struct {
	bytes []byte
	ends  []uint32 // of a category: of each group in bytes, from its base
	bases []int
	group int // where reading is, of a number
	at    int
}

func (o *own) addGroups(b *own) {
	if b == nil {
		return
	}
	for g := range b.ends {
		o.bytes = append(o.bytes, b.of(uint32(g))...)
		o.end()
	}
	if len(b.ends) == 0 {
		o.bytes = append(o.bytes, b.bytes...)
	}
}

// end ends the values of a group in a category.
func (o *own) end() {
	a := arena{bytes: o.bytes, bases: o.bases, ends: o.ends}
	a.end()
	o.bases, o.ends = a.bases, a.ends
}

func (o *own) of(g uint32) []byte {
	a := arena{bytes: o.bytes, bases: o.bases, ends: o.ends}
	return a.at(g)
}

// codes reads the values of a group in a category.
func (o *own) codes(g uint32, dst []uint32) []uint32 {
	b := o.of(g)
	code := uint32(0)
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		code += uint32(step)
		dst = append(dst, code)
		b = b[n:]
	}
	return dst
}

// extent is what is known of a group's values in a number column.
type extent struct {
	present    uint32
	lo, hi     float64
	mean       float64
	sd         float64 // about the mean
	loInt, hiI int64   // of whole numbers
}

// meanSteps divides a group's range where its moments are written down.
const meanSteps = math.MaxUint16

// appendExtent writes down a group's numbers; all may be empty.
func (o *own) appendExtent(col *table.Column, all []uint32) {
	o.bytes = binary.AppendUvarint(o.bytes, uint64(len(all)))
	if len(all) == 0 {
		return
	}
	if col.Ints != nil {
		lo, hi := col.Ints[all[0]], col.Ints[all[0]]
		for _, i := range all[1:] {
			lo, hi = min(lo, col.Ints[i]), max(hi, col.Ints[i])
		}
		o.bytes = binary.AppendVarint(o.bytes, lo)
		o.bytes = binary.AppendUvarint(o.bytes, uint64(hi)-uint64(lo))
		if lo != hi {
			width := float64(uint64(hi) - uint64(lo))
			o.appendMoments(all, func(i uint32) float64 { return float64(uint64(col.Ints[i])-uint64(lo)) / width })
		}
		return
	}
	lo, hi := col.Floats[all[0]], col.Floats[all[0]]
	for _, i := range all[1:] {
		lo, hi = min(lo, col.Floats[i]), max(hi, col.Floats[i])
	}
	o.bytes = binary.LittleEndian.AppendUint64(o.bytes, math.Float64bits(lo+0))
	o.bytes = binary.LittleEndian.AppendUint64(o.bytes, math.Float64bits(hi+0))
	if lo != hi {
		o.appendMoments(all, func(i uint32) float64 { return (col.Floats[i]/2 - lo/2) / (hi/2 - lo/2) })
	}
}

// appendMoments writes down the mean and the deviation of values between 0 and 1.
func (o *own) appendMoments(all []uint32, value func(i uint32) float64) {
	var room [64]float64
	parts := room[:0]
	for _, i := range all {
		parts = append(parts, value(i))
	}
	slices.Sort(parts) // the order of the records does not matter
	mean, squares := 0.0, 0.0
	for _, p := range parts {
		mean += p
	}
	mean /= float64(len(parts))
	for _, p := range parts {
		squares += (p - mean) * (p - mean)
	}
	for _, share := range []float64{mean, math.Sqrt(squares / float64(len(parts)))} {
		o.bytes = binary.LittleEndian.AppendUint16(o.bytes, uint16(math.RoundToEven(min(max(share, 0), 1)*meanSteps)))
	}
}

// rewind begins to read the numbers of the groups.
func (o *own) rewind() { o.at, o.group = 0, 0 }

// next reads the numbers of the next group; raw are their bytes.
func (o *own) next(floats bool) (x extent, raw []byte) {
	from := o.at
	n, w := binary.Uvarint(o.bytes[o.at:])
	o.at += w
	o.group++
	x.present = uint32(n)
	if n == 0 {
		return x, o.bytes[from:o.at]
	}
	if floats {
		x.lo = math.Float64frombits(binary.LittleEndian.Uint64(o.bytes[o.at:]))
		x.hi = math.Float64frombits(binary.LittleEndian.Uint64(o.bytes[o.at+8:]))
		o.at += 16
	} else {
		lo, w := binary.Varint(o.bytes[o.at:])
		width, w2 := binary.Uvarint(o.bytes[o.at+w:])
		o.at += w + w2
		x.loInt, x.hiI = lo, int64(uint64(lo)+width)
		x.lo, x.hi = float64(x.loInt), float64(x.hiI)
	}
	x.mean = x.lo
	if x.lo != x.hi || x.loInt != x.hiI {
		share := float64(binary.LittleEndian.Uint16(o.bytes[o.at:])) / meanSteps
		x.mean = x.lo*(1-share) + x.hi*share
		share = float64(binary.LittleEndian.Uint16(o.bytes[o.at+2:])) / meanSteps
		x.sd = x.hi*share - x.lo*share
		o.at += 4
	}
	return x, o.bytes[from:o.at]
}

// ownCodes writes down the different values of groups in a category.
func ownCodes(o *own, col *table.Column, whole []uint64) func(all []uint32) {
	count := make([]uint32, len(col.Dict))
	var codes []uint32
	return func(all []uint32) {
		codes = codes[:0]
		for _, i := range all {
			code := col.Codes[i]
			if count[code] == 0 {
				codes = append(codes, code)
			}
			count[code]++
		}
		if len(codes) > ownMost {
			slices.SortFunc(codes, func(a, b uint32) int {
				if better(a, b, count, whole) {
					return -1
				}
				return 1
			})
			for _, code := range codes[ownMost:] {
				count[code] = 0
			}
			codes = codes[:ownMost]
		}
		slices.Sort(codes)
		last := uint32(0)
		for _, code := range codes {
			count[code] = 0
			o.bytes = binary.AppendUvarint(o.bytes, uint64(code-last))
			last = code
		}
		o.end()
	}
}
