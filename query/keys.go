package query

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// keys are public groups: each record belongs to one of them or to
// none.
type keys struct {
	fields []table.Field
	texts  [][]string // as given, one a group
	// local[c] are the distinct values of column c in the keys; at missing[c]
	// is the index of the missing value among them, or -1.
	local   [][]literal
	missing []int
	// steps[c] leads from the group of the first c values, and the next value, to
	// the group of the first c+1; the last leads to the index of the key.
	steps []map[[2]int32]int32
}

// newKeys reads the public keys. All faults are of kind Usage.
func newKeys(where any, all []table.Field, by []string, texts [][]string) (*keys, error) {
	k := &keys{texts: texts}
	if len(by) == 0 {
		if len(texts) > 0 {
			return nil, noren.Usagef(where, "keys are given, and no columns that they are values of").Hinted("name the columns")
		}
		k.texts = [][]string{nil}
		return k, nil
	}
	for _, name := range by {
		if _, err := findField(all, where, name); err != nil {
			return nil, err
		}
	}
	switch {
	case len(texts) == 0:
		return nil, noren.Usagef(where, "groups need a public list of keys").
			Hinted("list the values that can occur, from what is known about the columns and not from the data: a list that was read from the " +
				"data reveals who is in it")
	case len(texts) > maxGroups:
		return nil, noren.Usagef(where, "more than %d keys", maxGroups)
	}
	for i, name := range by {
		f, err := findField(all, where, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(by[:i], name) {
			return nil, noren.Usagef(where, "column %s is named twice", name)
		}
		k.fields = append(k.fields, *f)
		k.local = append(k.local, nil)
		k.missing = append(k.missing, -1)
		k.steps = append(k.steps, map[[2]int32]int32{})
	}
	index := make([]map[literal]int32, len(by))
	for c := range index {
		index[c] = map[literal]int32{}
	}
	for i, key := range texts {
		if len(key) != len(by) {
			return nil, noren.Usagef(where, "key %d has %d {value|values} for %d {column|columns}", i+1, len(key), len(by))
		}
		group := int32(0)
		for c, text := range key {
			at := int32(len(k.local[c]))
			if text == "" {
				if k.missing[c] < 0 {
					k.missing[c] = int(at)
					k.local[c] = append(k.local[c], literal{})
				}
				at = int32(k.missing[c])
			} else {
				v, err := parseLiteral(&k.fields[c], text)
				if err != nil {
					return nil, levelsHinted(noren.Usagef(where, "key %d, column %s: %v", i+1, by[c], err).Hinted("write it as the file does"),
						&k.fields[c], text)
				}
				if known, ok := index[c][v]; ok {
					at = known
				} else {
					index[c][v] = at
					k.local[c] = append(k.local[c], v)
				}
			}
			step := [2]int32{group, at}
			next, known := k.steps[c][step]
			if c == len(by)-1 {
				if known {
					return nil, noren.Usagef(where, "keys %d and %d are the same", next+1, i+1).Hinted("list every key once")
				}
				next, known = int32(i), false
			}
			if !known {
				if c < len(by)-1 {
					next = int32(len(k.steps[c]))
				}
				k.steps[c][step] = next
			}
			group = next
		}
	}
	return k, nil
}

// compile returns a function that fills out with the groups of the records from one on,
// -1 where a record has none; nil where there is one group and no column. It is for one
// goroutine.
func (k *keys) compile(t *table.Table) (func(from int, out []int32), error) {
	if len(k.fields) == 0 {
		return nil, nil
	}
	places := make([]func(from int, out []int32), len(k.fields))
	for c := range k.fields {
		column, err := bind(t, &k.fields[c])
		if err != nil {
			return nil, err
		}
		places[c] = place(column, k.local[c], k.missing[c])
	}
	if len(places) == 1 {
		return places[0], nil // the place among the distinct values is the order of the keys
	}
	at := make([]int32, min(blockRows, t.Rows))
	steps := make([]func(group, at int32) int32, len(k.steps))
	for c := range steps {
		steps[c] = k.step(c)
	}
	return func(from int, out []int32) {
		clear(out)
		for c := range places {
			places[c](from, at[:len(out)])
			for i, group := range out {
				out[i] = steps[c](group, at[i])
			}
		}
	}, nil
}

// largestStep is the number of entries up to which the step of a column is a table.
const largestStep = 1 << 16

// step returns the group of the first c+1 values from that of the first c and the place
// of the next value; -1 where there is none.
func (k *keys) step(c int) func(group, at int32) int32 {
	groups, width := int32(0), int32(len(k.local[c]))
	for s := range k.steps[c] {
		groups = max(groups, s[0]+1)
	}
	if int64(groups)*int64(width) > largestStep {
		return func(group, at int32) int32 {
			if group < 0 || at < 0 {
				return -1
			}
			if next, ok := k.steps[c][[2]int32{group, at}]; ok {
				return next
			}
			return -1
		}
	}
	next := make([]int32, groups*width)
	for i := range next {
		next[i] = -1
	}
	for s, to := range k.steps[c] {
		next[s[0]*width+s[1]] = to
	}
	return func(group, at int32) int32 {
		if group < 0 || at < 0 {
			return -1
		}
		return next[group*width+at]
	}
}

// place returns a function that fills out with the places among local of the values of
// the records from one on, -1 where a value is none of them.
func place(c *table.Column, local []literal, missing int) func(from int, out []int32) {
	var of func(from int, out []int32)
	switch c.Field.Type {
	case table.Integer, table.Date:
		of = placeOf(c.Ints, local, missing, func(v literal) int64 { return v.whole })
	case table.Decimal:
		of = placeOf(c.Floats, local, missing, func(v literal) float64 { return v.number })
	default:
		// Decided once for each of the distinct texts.
		byText := map[string]int32{}
		for at, v := range local {
			if at != missing {
				byText[v.text] = int32(at)
			}
		}
		byCode := make([]int32, max(1, len(c.Dict)))
		for code, text := range c.Dict {
			byCode[code] = -1
			if at, ok := byText[text]; ok {
				byCode[code] = at
			}
		}
		of = func(from int, out []int32) {
			for i, code := range c.Codes[from : from+len(out)] {
				out[i] = byCode[code]
			}
		}
	}
	var has selection
	return func(from int, out []int32) {
		of(from, out)
		if present(c, from, len(out), &has) {
			return
		}
		for i := range out {
			if has[i/64]>>(i%64)&1 == 0 {
				out[i] = int32(missing)
			}
		}
	}
}

func placeOf[T int64 | float64](values []T, local []literal, missing int, of func(literal) T) func(from int, out []int32) {
	places := map[T]int32{}
	for at, v := range local {
		if at != missing {
			places[of(v)] = int32(at)
		}
	}
	return func(from int, out []int32) {
		for i, v := range values[from : from+len(out)] {
			at, ok := places[v]
			if !ok {
				at = -1
			}
			out[i] = at
		}
	}
}
