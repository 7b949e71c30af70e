package publish

// arena holds a text a group, one after the other.
type arena struct {
	bytes []byte
	bases []int    // where the first text of every arenaRun groups begins
	ends  []uint32 // of each text, from its base
}

const arenaRun = 1 << 12

// end ends the text of a group.
func (a *arena) end() {
	if len(a.ends)%arenaRun == 0 {
		from := 0
		if n := len(a.ends); n > 0 {
			from = a.bases[len(a.bases)-1] + int(a.ends[n-1])
		}
		a.bases = append(a.bases, from)
	}
	a.ends = append(a.ends, uint32(len(a.bytes)-a.bases[len(a.bases)-1]))
}

func (a *arena) at(g uint32) []byte {
	base, from := a.bases[g/arenaRun], uint32(0)
	if g%arenaRun > 0 {
		from = a.ends[g-1]
	}
	to := base + int(a.ends[g])
	return a.bytes[base+int(from) : to : to]
}

// add appends the texts of b.
func (a *arena) add(b *arena) {
	for g := range b.ends {
		a.bytes = append(a.bytes, b.at(uint32(g))...)
		a.end()
	}
}
