package privacy

import (
	"context"
	"encoding/binary"
	"slices"
)

// Links tell which persons have records in which classes.
type Links struct {
	classes    [][]uint32 // by class: its persons, ascending
	persons    [][]uint32 // by person, 1 first: the classes of the records, ascending
	people     int64
	unassigned int64
}

// NewLinks links the record i of class classOf[i], below classes, with person
// personOf[i], [NoPerson] for none.
func NewLinks(classOf, personOf []uint32, classes int) *Links {
	l := &Links{}
	pairs := make([]uint64, 0, len(classOf))
	most := uint32(0)
	for i, person := range personOf {
		if person == NoPerson {
			l.unassigned++
			continue
		}
		most = max(most, person)
		pairs = append(pairs, uint64(person)<<32|uint64(classOf[i]))
	}
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	l.persons = make([][]uint32, most)
	of, in := make([]uint32, len(pairs)), make([]uint32, len(pairs))
	size := make([]int, classes)
	for i := 0; i < len(pairs); {
		from, person := i, uint32(pairs[i]>>32)
		for ; i < len(pairs) && uint32(pairs[i]>>32) == person; i++ {
			of[i] = uint32(pairs[i])
			size[of[i]]++
		}
		l.persons[person-1] = of[from:i:i]
		l.people++
	}
	l.classes = make([][]uint32, classes)
	at := 0
	for c, n := range size {
		l.classes[c] = in[at : at : at+n]
		at += n
	}
	for _, pair := range pairs {
		c := uint32(pair)
		l.classes[c] = append(l.classes[c], uint32(pair>>32))
	}
	return l
}

// Persons is the number of distinct persons.
func (l *Links) Persons() int64 { return l.people }

// Unassigned is the number of records without a person.
func (l *Links) Unassigned() int64 { return l.unassigned }

// In is the number of persons who have a record in a class.
func (l *Links) In(class int) int64 { return int64(len(l.classes[class])) }

// Fit says how many persons fit all records of a person: those who have a record
// in every class in which that person has one. Somebody who knows the
// quasi-identifiers of all records of a person, and who has which records, is
// left with this many candidates (the intersection attack).
type Fit struct {
	// Min is the smallest number of persons who fit all records of a person.
	Min int64 `json:"min"`
	// Mean is the mean, over the persons, of the number of persons who fit all records of a
	// person.
	Mean float64 `json:"mean"`
	// Alone is the number of persons whom no other person fits.
	Alone int64 `json:"alone"`
	// K is the required number of persons who fit; 0 where none was required.
	K int `json:"k,omitempty"`
	// Below is the number of persons whom fewer than K fit, themselves included.
	Below int64 `json:"below_k"`
}

// Fit measures the persons. Persons in the same classes are measured once. Its
// error is the context's.
func (l *Links) Fit(ctx context.Context, k int) (Fit, error) {
	f := Fit{K: k}
	known := map[string]int64{}
	var key []byte
	total := 0.0
	for i, classes := range l.persons {
		if i%1024 == 0 && ctx.Err() != nil {
			return Fit{}, ctx.Err()
		}
		if len(classes) == 0 {
			continue
		}
		n := int64(len(l.classes[classes[0]]))
		if len(classes) > 1 {
			key = key[:0]
			for _, c := range classes {
				key = binary.LittleEndian.AppendUint32(key, c)
			}
			var seen bool
			n, seen = known[string(key)]
			if !seen {
				n = l.fitting(classes)
				known[string(key)] = n
			}
		}
		if total == 0 || n < f.Min {
			f.Min = n
		}
		total += float64(n)
		if n == 1 {
			f.Alone++
		}
		if n < int64(k) {
			f.Below++
		}
	}
	if l.people > 0 {
		f.Mean = total / float64(l.people)
	}
	return f, nil
}

// fitting counts the persons who have a record in all of these classes.
func (l *Links) fitting(classes []uint32) int64 {
	least := classes[0]
	for _, c := range classes {
		if len(l.classes[c]) < len(l.classes[least]) {
			least = c
		}
	}
	n := int64(0)
	for _, person := range l.classes[least] {
		if contains(l.persons[person-1], classes) {
			n++
		}
	}
	return n
}

// contains reports whether all of some are in all; both ascend.
func contains(all, some []uint32) bool {
	if len(some) > len(all) {
		return false
	}
	at := 0
	for _, c := range some {
		for at < len(all) && all[at] < c {
			at++
		}
		if at == len(all) || all[at] != c {
			return false
		}
		at++
	}
	return true
}
