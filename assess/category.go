package assess

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// meaning is what one published text stands for.
type meaning struct {
	members []uint32  // codes of the original's values; empty for a new value
	shares  []float64 // of the members, nil for equal ones
	size    int       // how many values of the domain, also those not in the data
	known   bool
}

// share is that of member n.
func (m *meaning) share(n int) float64 {
	if m.shares != nil {
		return m.shares[n]
	}
	return 1 / float64(len(m.members))
}

// readMeanings finds, for every published text of c, the values of the
// original column o that it stands for: the value itself, a level or a range
// of levels, a set "{a, b}", shares "{a 0.60, b 0.40}", a name of o's hierarchy, or "*" for all.
func readMeanings(o, c *table.Column) []meaning {
	code := make(map[string]uint32, len(o.Dict))
	for i, w := range o.Dict {
		code[w] = uint32(i)
	}
	names := hierarchyNames(o.Field.Hierarchy)
	meanings := make([]meaning, len(c.Dict))
	for i, w := range c.Dict {
		meanings[i] = readMeaning(w, o, code, names)
	}
	return meanings
}

// domain is the number of values that a column can have.
func domain(o *table.Column) int {
	if o.Field.Hierarchy != nil {
		return o.Field.Hierarchy.Leaves()
	}
	return len(o.Dict)
}

func readMeaning(w string, o *table.Column, code map[string]uint32, names map[string][]uint32) meaning {
	// A hierarchy has no name that stands for two sets of leaves.
	if leaves := names[w]; len(leaves) > 1 {
		m := meaning{size: len(leaves), known: true}
		for _, leaf := range leaves {
			if id, here := code[o.Field.Hierarchy.NameAt(0, leaf)]; here {
				m.members = append(m.members, id)
			}
		}
		return m
	}
	if id, here := code[w]; here {
		return meaning{members: []uint32{id}, size: 1, known: true}
	}
	if o.Field.Type == table.Ordered {
		if members := levelRange(w, code); members != nil {
			return meaning{members: members, size: len(members), known: true}
		}
	}
	if len(w) >= 2 && w[0] == '{' && w[len(w)-1] == '}' {
		if members, ok := readSet(w[1:len(w)-1], code); ok {
			return meaning{members: members, size: len(members), known: true}
		}
		if m, ok := readShares(w, code); ok {
			return m
		}
	}
	if w == "*" {
		m := meaning{size: domain(o), known: true}
		for i := range o.Dict {
			m.members = append(m.members, uint32(i))
		}
		return m
	}
	if names[w] != nil { // a leaf that the data do not have
		return meaning{size: 1}
	}
	return meaning{}
}

// readShares reads "{a 0.60, b 0.40}".
func readShares(w string, code map[string]uint32) (meaning, bool) {
	shares, ok := publish.ParseShares(w, func(value string) bool {
		_, known := code[value]
		return known
	})
	if !ok {
		return meaning{}, false
	}
	m := meaning{size: len(shares), known: true}
	for _, s := range shares {
		m.members, m.shares = append(m.members, code[s.Value]), append(m.shares, s.Share)
	}
	return m, true
}

// hierarchyNames maps every name of h to the leaves that it stands for.
func hierarchyNames(h *table.Hierarchy) map[string][]uint32 {
	if h == nil {
		return nil
	}
	names := map[string][]uint32{}
	for level := range h.Levels() {
		leaves := make([][]uint32, h.Size(level))
		for leaf := range uint32(h.Leaves()) {
			node := h.Ancestor(leaf, level)
			leaves[node] = append(leaves[node], leaf)
		}
		for node, set := range leaves {
			names[h.NameAt(level, uint32(node))] = set
		}
	}
	return names
}

// levelRange reads "[low-high]" of an ordered column; levels may hold hyphens.
func levelRange(w string, code map[string]uint32) []uint32 {
	if len(w) < 2 || w[0] != '[' || w[len(w)-1] != ']' {
		return nil
	}
	body := w[1 : len(w)-1]
	for at := 1; at < len(body); at++ {
		if body[at] != '-' {
			continue
		}
		lo, okLo := code[strings.TrimSpace(body[:at])]
		hi, okHi := code[strings.TrimSpace(body[at+1:])]
		if okLo && okHi && lo <= hi {
			members := make([]uint32, 0, hi-lo+1)
			for id := lo; id <= hi; id++ {
				members = append(members, id)
			}
			return members
		}
	}
	return nil
}

// readSet reads "a, b, c". Values may hold commas and blanks themselves, so
// the text is cut wherever a cut leaves nothing but values of the column:
// from the right end, it is worked out for each possible start whether the
// rest can be read. The shortest value that allows it is taken.
func readSet(body string, code map[string]uint32) ([]uint32, bool) {
	const separator = ", "
	starts, ends := []int{0}, []int{}
	for at := 0; ; {
		i := strings.Index(body[at:], separator)
		if i < 0 {
			break
		}
		ends = append(ends, at+i)
		starts = append(starts, at+i+len(separator))
		at += i + 1 // separators may overlap with values that end in a comma
	}
	ends = append(ends, len(body))
	// end[s] is the number of the end that the value from start s has, or -1.
	end := make([]int, len(starts))
	for s := len(starts) - 1; s >= 0; s-- {
		end[s] = -1
		for e := s; e < len(ends); e++ {
			if ends[e] < starts[s] {
				continue
			}
			if e+1 < len(starts) && end[e+1] < 0 {
				continue
			}
			if _, known := code[body[starts[s]:ends[e]]]; known {
				end[s] = e
				break
			}
		}
	}
	var members []uint32
	for s := 0; s < len(starts); s = end[s] + 1 {
		if end[s] < 0 {
			return nil, false
		}
		members = append(members, code[body[starts[s]:ends[end[s]]]])
	}
	slices.Sort(members)
	return slices.Compact(members), true
}

// compareCategory compares one column of words. rows says that rows
// correspond.
func compareCategory(o, c *table.Column) CategoryColumn {
	result := CategoryColumn{
		Name: o.Field.Name, Type: o.Field.Type.String(),
		OriginalMissing: int64(o.Missing()), ReleaseMissing: int64(c.Missing()),
	}
	before := make([]float64, len(o.Dict))
	for i, id := range o.Codes {
		if !o.IsMissing(i) {
			before[id]++
		}
	}
	published := make([]float64, len(c.Dict))
	for i, id := range c.Codes {
		if !c.IsMissing(i) {
			published[id]++
		}
	}
	meanings := readMeanings(o, c)
	n, m := float64(max(1, o.Len())), float64(max(1, c.Len()))
	after := make([]float64, len(o.Dict)) // sets in equal parts, or by their shares
	alone := make([]float64, len(o.Dict)) // published as the value itself
	missing := math.Abs(float64(o.Missing())/n - float64(c.Missing())/m)
	spread, plain := missing, missing
	penalty, sets := 0.0, 0.0
	for i, count := range published {
		if count == 0 {
			continue
		}
		what := meanings[i]
		if what.size > 1 {
			result.Sets = true
			sets += count
			penalty += count * float64(what.size) / float64(domain(o))
		}
		if what.size == 0 {
			result.New++
		}
		if len(what.members) == 0 {
			spread += count / m
		}
		for n, id := range what.members {
			after[id] += count * what.share(n)
		}
		if what.size == 1 && len(what.members) == 1 {
			alone[what.members[0]] += count
		} else {
			plain += count / m
		}
	}
	for id, count := range before {
		spread += math.Abs(count/n - after[id]/m)
		plain += math.Abs(count/n - alone[id]/m)
		if count > 0 {
			result.Values++
			if alone[id] == 0 {
				result.Lost++
			}
		}
	}
	result.TotalVariation = min(1, spread/2)
	result.Frequencies, result.Rest = frequencies(o.Dict, before, after)
	result.Changed = noFigure(noren.Textf("the rows of the two tables do not correspond; at least this share has changed"))
	if o.Len() == c.Len() {
		result.Changed.Low = finite(min(1, plain/2))
	} else {
		result.Changed.Reason = noren.Textf("the tables have different numbers of records")
	}
	switch {
	case result.New > 0:
		result.NCP = noFigure(noren.Textf("the release has values that the original does not know"))
	case result.Sets:
		// A value that was shown and is missing now is not shown at all.
		lost := math.Max(0, float64(c.Missing()-o.Missing()))
		result.NCP = exact((penalty + lost) / m)
	default:
		result.NCP = noFigure(noren.Textf("single values are published, and without corresponding rows it is not known what they stand for"))
	}
	result.EntropyLoss = noFigure(noren.Textf(needsRows))
	return result
}

const needsRows = "needs corresponding rows"

// frequencies lists the most frequent values, or all levels in their order
// when they are few.
func frequencies(dict []string, before, after []float64) ([]Frequency, *Frequency) {
	order := make([]int, 0, len(dict))
	for id := range dict {
		if before[id] > 0 || after[id] > 0 {
			order = append(order, id)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return before[order[a]] > before[order[b]] })
	var rest *Frequency
	if len(order) > FrequencyLimit {
		rest = &Frequency{}
		for _, id := range order[FrequencyLimit:] {
			rest.Original += before[id]
			rest.Release += after[id]
		}
		order = order[:FrequencyLimit]
	}
	list := make([]Frequency, len(order))
	for i, id := range order {
		list[i] = Frequency{Value: dict[id], Original: before[id], Release: after[id]}
	}
	return list, rest
}
