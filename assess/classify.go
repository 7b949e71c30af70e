package assess

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Classes is the division of n records into classes that share the values of
// all quasi-identifiers.
type Classes struct {
	// Of holds, for each record, the number of its class.
	Of []uint32
	// Size holds, for each class, the number of records in it. It is zero for
	// a class that occurs only in another of the tables classified together.
	Size []uint32
}

// Classify divides the records of each table into classes of equal values in
// all columns of the first table, matched by name. The tables are numbered
// together: class 7 has the same values in all of them, so that a sample can
// be laid over its population. A missing value equals another missing value
// and nothing else. It takes O(records x columns) time. Errors are of kind
// Usage: a column that a table lacks, that is words in one table and numbers
// in another, or dates of different units.
func Classify(tables ...*table.Table) ([]Classes, error) {
	if len(tables) == 0 {
		return nil, nil
	}
	total := 0
	for _, t := range tables {
		total += t.Rows
	}
	if total > math.MaxUint32 {
		return nil, &noren.Error{Kind: noren.Usage, What: "more than 4,294,967,295 records"}
	}
	of := make([]uint32, total)
	classes := 1
	if total == 0 {
		classes = 0
	}
	value := make([]uint32, total)
	for _, first := range tables[0].Columns {
		columns := make([]*table.Column, len(tables))
		for i, t := range tables {
			c := t.Column(first.Field.Name)
			if c == nil {
				return nil, &noren.Error{
					Kind: noren.Usage, Where: noren.Textf("column %s", first.Field.Name),
					What: "table %d of %d has no such column", Args: []any{i + 1, len(tables)},
				}
			}
			if first.Field.Type.IsNumber() {
				if err := sameUnit(&first.Field, &c.Field); err != nil {
					return nil, err
				}
			}
			columns[i] = c
		}
		values, err := numberValues(columns, value)
		if err != nil {
			return nil, err
		}
		classes = splitClasses(of, classes, value, values)
	}
	result := make([]Classes, len(tables))
	at := 0
	for i, t := range tables {
		c := Classes{Of: of[at : at+t.Rows : at+t.Rows], Size: make([]uint32, classes)}
		for _, id := range c.Of {
			c.Size[id]++
		}
		result[i] = c
		at += t.Rows
	}
	return result, nil
}

// numberValues numbers the distinct values of one column over all tables,
// writes each record's number to into and returns how many there are. Number
// 0 is the missing value.
func numberValues(columns []*table.Column, into []uint32) (int, error) {
	words, numbers, allInts := false, false, true
	for _, c := range columns {
		switch {
		case c.Field.Type.IsNumber():
			numbers = true
			allInts = allInts && c.Field.Type != table.Decimal
		default:
			words = true
		}
	}
	if words && numbers {
		return 0, &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("column %s", columns[0].Field.Name),
			What: "words in one table and numbers in another cannot be compared", Hint: "give the column the same type in both",
		}
	}
	at, next := 0, uint32(1)
	byWord, byNumber := map[string]uint32{}, map[uint64]uint32{}
	for _, c := range columns {
		var code []uint32
		if words {
			code = make([]uint32, len(c.Dict))
			for j, w := range c.Dict {
				id, known := byWord[w]
				if !known {
					id = next
					next++
					byWord[w] = id
				}
				code[j] = id
			}
		}
		for i := range c.Len() {
			switch {
			case c.IsMissing(i):
				into[at] = 0
			case words:
				into[at] = code[c.Codes[i]]
			default:
				bits := math.Float64bits(c.Number(i) + 0) // + 0 makes -0 equal to 0
				if allInts {
					bits = uint64(c.Ints[i])
				}
				id, known := byNumber[bits]
				if !known {
					id = next
					next++
					byNumber[bits] = id
				}
				into[at] = id
			}
			at++
		}
	}
	return int(next), nil
}

// denseLimit is the largest number of (class, value) pairs for which a plain
// array is used and not a map: 16 MB.
const denseLimit = 1 << 22

// splitClasses splits every class by value and returns the new number of classes.
// Classes are numbered in the order in which they are first met.
func splitClasses(of []uint32, classes int, value []uint32, values int) int {
	next := uint32(0)
	if uint64(classes)*uint64(values) <= denseLimit {
		seen := make([]uint32, classes*values)
		for i, c := range of {
			p := &seen[int(c)*values+int(value[i])]
			if *p == 0 {
				next++
				*p = next
			}
			of[i] = *p - 1
		}
		return int(next)
	}
	seen := make(map[uint64]uint32, classes)
	for i, c := range of {
		key := uint64(c)<<32 | uint64(value[i])
		id, known := seen[key]
		if !known {
			id = next
			next++
			seen[key] = id
		}
		of[i] = id
	}
	return int(next)
}
