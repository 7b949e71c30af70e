package query

// tally counts records by cells. Records of one cell follow each other often, and a count
// waits for the one before where both are at one place: so there are several, in turns.
type tally struct {
	counts []int64 // runs of size; the count of cell c is at c+1 of each, of no cell at 0
	size   int
}

const (
	// tallyLanes is the number of counts of a cell.
	tallyLanes = 4
	// severalCells is the most cells that have several counts each: of more, records of one
	// cell seldom follow each other, and the counts would leave the cache.
	severalCells = 1 << 10
)

func newTally(cells int) *tally {
	lanes := tallyLanes
	if cells > severalCells {
		lanes = 1
	}
	return &tally{counts: make([]int64, lanes*(cells+1)), size: cells + 1}
}

// lane is one of the runs.
func (t *tally) lane(i int) []int64 {
	from := i * t.size % len(t.counts)
	return t.counts[from : from+t.size]
}

// add counts n records of a cell.
func (t *tally) add(cell int, n int64) { t.counts[cell+1] += n }

// count counts a record of each of the cells, which are -1 for none.
func (t *tally) count(cells []int32) {
	c0, c1, c2, c3 := t.lane(0), t.lane(1), t.lane(2), t.lane(3)
	for len(cells) >= tallyLanes {
		c := (*[tallyLanes]int32)(cells)
		c0[c[0]+1]++
		c1[c[1]+1]++
		c2[c[2]+1]++
		c3[c[3]+1]++
		cells = cells[tallyLanes:]
	}
	for _, c := range cells {
		c0[c+1]++
	}
}

// of is the count of a cell.
func (t *tally) of(cell int) int64 {
	var n int64
	for at := cell + 1; at < len(t.counts); at += t.size {
		n += t.counts[at]
	}
	return n
}
