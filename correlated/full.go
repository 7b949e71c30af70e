package correlated

// full is the leakage to adversaries who know all other records: answers under
// two states are one Laplace distribution moved by the record's own difference. Only
// states that are possible together, given some values of the others, count.
func (m *memberEngine) full(rates []float64) *Leakage {
	f := &fullSearch{query: m.all.query, rates: rates, l: &Leakage{Exact: true, Method: Exact}}
	switch model := m.model.(type) {
	case *JointTable:
		f.table(model)
	case *Chain:
		f.tree(model.tree())
	case *Tree:
		f.tree(model)
	}
	return f.l
}

type fullSearch struct {
	query *boundQuery
	rates []float64
	l     *Leakage
}

// see notes a pair of states of record i that some adversary holds possible;
// known lists what he knows nearby.
func (f *fullSearch) see(i, a, c int, known func() []Known) {
	loss := f.query.loss(f.query.row[i], a, c, f.rates)
	if loss <= f.l.Upper {
		return
	}
	answer := make([]float64, len(f.query.dims))
	for d := range answer {
		answer[d] = f.query.rows[f.query.row[i]].value[d][a]
	}
	f.l.Upper, f.l.Lower = loss, loss
	f.l.Witness = &Witness{Target: i, Known: known(), OthersKnown: true, State: a, Other: c, Answer: answer, Log: loss}
}

func (f *fullSearch) table(t *JointTable) {
	n := len(t.shape)
	state := make([]int, n)
	for at, p := range t.p {
		if p > 0 {
			for i, rest := n-1, at; i >= 0; i-- {
				state[i] = rest % t.shape[i]
				rest /= t.shape[i]
			}
			stride := 1
			for i := n - 1; i >= 0; i-- {
				for c := range state[i] {
					if t.p[at+(c-state[i])*stride] > 0 {
						f.see(i, state[i], c, func() []Known {
							known := []Known{}
							for j, v := range state {
								if j != i {
									known = append(known, Known{j, v})
								}
							}
							return known
						})
					}
				}
				stride *= t.shape[i]
			}
		}
	}
}

// tree uses that the neighbours' states say all: two states are possible
// together if every neighbour has a state that allows both.
func (f *fullSearch) tree(t *Tree) {
	supports := t.supports()
	first, next := t.childLists()
	for i := range t.parent {
		k := t.States(i)
		for a := range k {
			for c := range a {
				if f.query.loss(f.query.row[i], a, c, f.rates) <= f.l.Upper {
					continue
				}
				if known := t.both(i, a, c, supports, first, next); known != nil {
					f.see(i, a, c, func() []Known { return known })
				}
			}
		}
	}
}

// both finds states of the neighbours that allow record i both states; nil if
// there are none.
func (t *Tree) both(i, a, c int, supports []uint64, first, next []int32) []Known {
	if supports[i]>>a&1 == 0 || supports[i]>>c&1 == 0 {
		return nil
	}
	known := []Known{}
	if p := t.parent[i]; p >= 0 {
		k, found := t.pool[t.kernel[i]], false
		for x := range k.rows {
			if supports[p]>>x&1 == 1 && k.at(x, a) > 0 && k.at(x, c) > 0 {
				known, found = append(known, Known{int(p), x}), true
				break
			}
		}
		if !found {
			return nil
		}
	}
	for v := first[i]; v >= 0; v = next[v] {
		k, found := t.pool[t.kernel[v]], false
		for y := range k.cols {
			if k.at(a, y) > 0 && k.at(c, y) > 0 {
				known, found = append(known, Known{int(v), y}), true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return known
}

// rangeOf is for a query that no record changes.
func isConstant(q *boundQuery) bool {
	for _, d := range q.dims {
		if d.size > 1 {
			return false
		}
	}
	return true
}
