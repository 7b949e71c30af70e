package refine

import (
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// watched are groups under change, of which is known when each has changed: a record
// is compared with a group again only when that or its own has changed since.
type watched struct {
	near    *space.Near
	group   []int32
	members [][]int32
	clock   int64
	changed []int64 // by group
	tried   []int64 // by group: when it was last tried to dissolve it
	looked  []int64 // by record
	marked  []int32 // by group: the last record that listed it
	mark    int32
	// candidates are groups for the record at hand.
	candidates []int32
}

func newWatched(n int, near *space.Near) watched {
	return watched{near: near, group: make([]int32, n), looked: make([]int64, n), clock: 1}
}

// add makes a group of records that are in none, which has changed now.
func (w *watched) add(records []int32) int32 {
	g := int32(len(w.members))
	w.members = append(w.members, records)
	w.changed, w.tried = append(w.changed, 0), append(w.tried, 0)
	if len(w.marked) < len(w.members) {
		w.marked = append(w.marked, 0)
	}
	for _, i := range records {
		w.group[i] = g
	}
	w.touch(g)
	return g
}

// touch notes that a group has changed.
func (w *watched) touch(g int32) {
	w.clock++
	w.changed[g] = w.clock
}

// around lists the groups other than its own that a record's near ones are in.
func (w *watched) around(p int32) { w.list(p, true, 0) }

// look lists those of them that a record must be compared with: all where its own
// group has changed since it was last looked at, otherwise those that have. It
// reports whether there are any.
func (w *watched) look(p int32) bool {
	since := w.looked[p]
	w.list(p, w.changed[w.group[p]] > since, since)
	w.looked[p] = w.clock
	return len(w.candidates) > 0
}

func (w *watched) list(p int32, all bool, since int64) {
	w.mark++
	mark, marked := w.mark, w.marked
	marked[w.group[p]] = mark
	candidates := w.candidates[:0]
	records, _ := w.near.Of(p)
	for _, q := range records {
		if g := w.group[q]; marked[g] != mark {
			marked[g] = mark
			if all || w.changed[g] > since {
				candidates = append(candidates, g)
			}
		}
	}
	w.candidates = candidates
}

// fresh reports whether a group or one beside it has changed since it was last
// tried to dissolve it.
func (w *watched) fresh(g int32) bool {
	since := w.tried[g]
	if w.changed[g] > since {
		return true
	}
	for _, p := range w.members[g] {
		records, _ := w.near.Of(p)
		for _, q := range records {
			if w.changed[w.group[q]] > since {
				return true
			}
		}
	}
	return false
}

// move moves a record to another group, which is for the caller to note.
func (w *watched) move(p, to int32) {
	from := w.group[p]
	at := slices.Index(w.members[from], p)
	w.members[from] = slices.Delete(w.members[from], at, at+1)
	w.members[to] = append(w.members[to], p)
	w.group[p] = to
}

// remove removes a group without records; the last one takes its number.
func (w *watched) remove(g int32) {
	last := int32(len(w.members) - 1)
	w.clock++
	if g != last {
		w.members[g], w.tried[g] = w.members[last], w.tried[last]
		w.changed[g] = w.clock
		for _, i := range w.members[g] {
			w.group[i] = g
		}
	}
	w.members, w.changed, w.tried = w.members[:last], w.changed[:last], w.tried[:last]
}

// partition is the state as a partition.
func (w *watched) partition() space.Partition {
	p := space.Partition{Group: make([]uint32, len(w.group)), Groups: len(w.members)}
	for i, g := range w.group {
		p.Group[i] = uint32(g)
	}
	return p
}
