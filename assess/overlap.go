package assess

import (
	"context"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Overlap tells what two releases of the same people give away together. Somebody
// who holds both and knows the quasi-identifiers of a record finds its class in
// each, by the quasi-identifiers of that release: the persons (or records) that are in both classes remain. The counts are
// exact, as the sources of both releases are known here; they belong to the
// steward.
type Overlap struct {
	// Release is the name of the earlier release.
	Release string `json:"release"`
	// Source is the name of the earlier release's source.
	Source string `json:"source"`
	// Unit is the column that tells persons apart; where it is empty, records are
	// joined whose values agree in all columns that both sources have.
	Unit string `json:"unit,omitempty"`
	// Quasi are the quasi-identifiers of the earlier release, by which its classes are
	// formed. Absent where its classes were stated.
	Quasi []string `json:"quasi,omitempty"`
	// Kept are the columns that are quasi-identifiers of one of the releases and that the
	// other keeps as they are. What somebody who knows them learns from the other is not
	// counted.
	Kept []string `json:"kept,omitempty"`
	// Common is the number of persons (or records) that are in both sources.
	Common int64 `json:"common"`
	// K is the number of candidates that must remain for each person (or record).
	K int `json:"k"`
	// Min is the smallest number of candidates that remain. For a person with several records,
	// those records count that leave the fewest candidates.
	Min int64 `json:"candidates_min"`
	// Mean is the mean number of candidates that remain.
	Mean float64 `json:"candidates_mean"`
	// Below is the number of persons (or records) of whom fewer than K candidates remain.
	Below int64 `json:"below_k"`
	// Alone is the number of persons (or records) of whom no other candidate remains.
	Alone int64 `json:"alone"`
}

// Placed are the records of a source: who each is of, and in which class of the
// release it is.
type Placed struct {
	Who   []string // empty where that is not known
	Class []uint32
}

// Identities tells the records of two sources apart by their values in all columns
// that both have. Records that are equal within a source are numbered.
func Identities(now, before *table.Table) (first, second []string) {
	var names []string
	for _, c := range now.Columns {
		if before.Column(c.Field.Name) != nil {
			names = append(names, c.Field.Name)
		}
	}
	of := func(t *table.Table) []string {
		out := make([]string, t.Rows)
		seen := map[string]int{}
		var key []byte
		for i := range out {
			key = key[:0]
			for _, name := range names {
				c := t.Column(name)
				if c.IsMissing(i) {
					key = append(key, '-')
					continue
				}
				word := c.Dict[c.Codes[i]]
				key = strconv.AppendInt(key, int64(len(word)), 10)
				key = append(append(key, ':'), word...)
			}
			seen[string(key)]++
			out[i] = string(key) + "#" + strconv.Itoa(seen[string(key)])
		}
		return out
	}
	return of(now), of(before)
}

// PairRows finds the row of a release for each record of its source, by the columns
// that both hold as text and the release kept as they were: in the same order
// where these agree row by row, otherwise by their values where those are
// different for all records. Errors are of kind BadData: the rows cannot be paired.
func PairRows(source, release *table.Table) ([]uint32, error) {
	fail := func(what noren.Format) error {
		return &noren.Error{
			Kind: noren.BadData, What: what,
			Hint: "a release that kept the order of its rows can always be compared",
		}
	}
	if source.Rows != release.Rows {
		return nil, fail("the earlier release has another number of records than its source")
	}
	if len(release.Columns) == 0 {
		return nil, fail("the earlier release kept no column as it was: its rows cannot be paired with those of its source")
	}
	text := func(t *table.Table, i int) string {
		var key []byte
		for _, r := range release.Columns {
			c := t.Column(r.Field.Name)
			if c == nil || c.IsMissing(i) {
				key = append(key, '-')
				continue
			}
			word := c.Dict[c.Codes[i]]
			key = strconv.AppendInt(key, int64(len(word)), 10)
			key = append(append(key, ':'), word...)
		}
		return string(key)
	}
	row := make([]uint32, source.Rows)
	same := true
	at := make(map[string]uint32, release.Rows)
	values := map[string]bool{}
	for i := range row {
		key := text(release, i)
		at[key] = uint32(i)
		values[key] = true
		same = same && key == text(source, i)
		row[i] = uint32(i)
	}
	if same && (len(values) > 1 || source.Rows < 2) {
		return row, nil
	}
	if len(at) < release.Rows {
		return nil,
			fail("the rows of the earlier release are in another order than those of its source, and the columns it kept do not tell them apart")
	}
	used := make([]bool, len(row))
	for i := range row {
		n, ok := at[text(source, i)]
		if !ok || used[n] {
			return nil, fail("the earlier release holds other records than the source that was named")
		}
		row[i], used[n] = n, true
	}
	return row, nil
}

// NewOverlap counts the candidates that remain of each person of both. Errors are
// the context's.
func NewOverlap(ctx context.Context, now, before Placed, k int) (*Overlap, error) {
	type pair struct{ now, before uint32 }
	members := func(p Placed) (byClass map[uint32][]string, byWho map[string][]uint32) {
		byClass, byWho = map[uint32][]string{}, map[string][]uint32{}
		for i, who := range p.Who {
			if who != "" {
				byClass[p.Class[i]] = append(byClass[p.Class[i]], who)
				byWho[who] = append(byWho[who], p.Class[i])
			}
		}
		for c := range byClass {
			slices.Sort(byClass[c])
			byClass[c] = slices.Compact(byClass[c])
		}
		for who := range byWho {
			slices.Sort(byWho[who])
			byWho[who] = slices.Compact(byWho[who])
		}
		return byClass, byWho
	}
	nowIn, nowOf := members(now)
	beforeIn, beforeOf := members(before)
	remain := map[pair]int64{}
	o := &Overlap{K: k}
	sum := 0.0
	for who, classes := range nowOf {
		if o.Common&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		earlier, ok := beforeOf[who]
		if !ok {
			continue
		}
		least := int64(-1)
		for _, a := range classes {
			for _, b := range earlier {
				n, known := remain[pair{a, b}]
				if !known {
					n = both(nowIn[a], beforeIn[b])
					remain[pair{a, b}] = n
				}
				if least < 0 || n < least {
					least = n
				}
			}
		}
		if o.Common == 0 || least < o.Min {
			o.Min = least
		}
		o.Common++
		sum += float64(least)
		if least < int64(k) {
			o.Below++
		}
		if least <= 1 {
			o.Alone++
		}
	}
	if o.Common > 0 {
		o.Mean = sum / float64(o.Common)
	}
	return o, nil
}

// both counts the names in two sorted lists.
func both(a, b []string) int64 {
	n := int64(0)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}
