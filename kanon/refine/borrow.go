package refine

// borrows is how many records of other groups a large group is divided with at most.
const borrows = 8

// borrow divides a large group in two with records that other groups spare: of a
// group with one record of a scarce sensitive value no part but one has that value,
// and with a second such record two parts have it. The records come one by one from
// the stratum that the group has least of, against all records; of these the one
// that costs least and that its own group is allowed to lose. It reports whether the
// group was divided; if not, nothing has changed.
func (d *costDescent) borrow(g int32) bool {
	strata := d.ruling.strata
	kinds := 0
	for _, s := range strata {
		kinds = max(kinds, int(s)+1)
	}
	all, own := make([]int, kinds), make([]int, kinds)
	for i, s := range strata {
		all[s]++
		if d.group[i] == g {
			own[s]++
		}
	}
	records := sorted(d.members[g])
	before := len(records)
	none := make([]bool, kinds) // strata of which no group spares a record
	lends := map[int32]int32{}  // by group: the record that it spares
	for len(lends) < borrows {
		s, lack := -1, 0.0
		for t := range kinds {
			short := float64(all[t])/float64(len(strata)) - float64(own[t])/float64(len(records))
			if !none[t] && short > lack {
				s, lack = t, short
			}
		}
		if s < 0 {
			return false
		}
		i := d.spared(g, uint32(s), lends)
		if i < 0 {
			none[s] = true
			continue
		}
		lends[d.group[i]] = i
		records = append(records, i)
		own[s]++
		left, right, ok := d.cutter.Middle(sorted(records))
		if !ok || max(len(left), len(right)) >= before {
			continue
		}
		for _, i := range records[before:] {
			h := d.group[i]
			d.move(i, g)
			d.renew(h)
		}
		d.divide(g, -1, [][]int32{left, right})
		return true
	}
	return false
}

// spared is the record of a stratum that raises the measure least when it goes to
// group g, of those that another group which has lent none is allowed to lose; -1
// where there is none.
func (d *costDescent) spared(g int32, stratum uint32, lends map[int32]int32) int32 {
	best, least := int32(-1), 0.0
	to := d.costs[g]
	for i, s := range d.ruling.strata {
		h := d.group[i]
		if s != stratum || h == g || len(d.members[h]) <= d.k || len(d.members[h]) > d.most {
			continue
		}
		if _, ok := lends[h]; ok {
			continue
		}
		p := int32(i)
		rise := to.With(p) - to.Cost() + d.without[p] - d.costs[h].Cost()
		if (best < 0 || rise < least) && d.ruling.allows(d.members[h], h, p, -1) {
			best, least = p, rise
		}
	}
	return best
}
