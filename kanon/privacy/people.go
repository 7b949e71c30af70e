package privacy

import (
	"cmp"
	"math"
	"slices"
)

// NoPerson marks a record whose person is not known: it counts for no person.
const NoPerson = 0

// People are the persons of one class and the values of one sensitive column
// that their records in the class have. Persons are numbered from 1;
// [NoPerson] marks a record without one. The zero People is empty.
type People struct {
	keys   []uint64 // person<<32 | code, one a record
	sorted bool
	shares []share
	counts []Pair
}

// Add counts a record of that person with that code.
func (p *People) Add(person, code uint32) {
	p.keys = append(p.keys, uint64(person)<<32|uint64(code))
	p.sorted = false
}

// Reset empties p and keeps its memory.
func (p *People) Reset() { p.keys, p.sorted = p.keys[:0], false }

// Records is the number of records counted.
func (p *People) Records() int { return len(p.keys) }

// Persons is the number of distinct persons.
func (p *People) Persons() int64 {
	p.sort()
	n, last := int64(0), uint32(NoPerson)
	for _, k := range p.keys {
		if person := uint32(k >> 32); person != last {
			n, last = n+1, person
		}
	}
	return n
}

// unknown is the number of records without a person; their keys come first.
func (p *People) unknown() int {
	p.sort()
	n, _ := slices.BinarySearch(p.keys, 1<<32)
	return n
}

func (p *People) sort() {
	if !p.sorted {
		slices.Sort(p.keys)
		p.sorted = true
	}
}

// NoCode is the code of no value.
const NoCode = math.MaxUint32

// Worst sets h to the worst histogram of persons over values. wild is the code of
// a missing value, [NoCode] for none: it may be any value, and is none of its own.
//
// With N persons and n_v of them who have the value v or a missing one in the
// class, each record without a person counted as one more person, let
// n_(1) >= n_(2) >= ... be the n_v, cut at N. The worst histogram takes
// n_(1), n_(2), ... in turn until N persons are reached; the last is cut to fit.
//
// It majorizes every histogram that gives each person one of his or her values
// in the class, whatever the missing ones are and whose the records without a
// person are: the j most frequent values of such a histogram cover at most
// min(N, n_(1) + ... + n_(j)) persons, which is what the worst one's cover. So
// each of the models of [Diversity], all of which fall under majorization, holds
// for every such choice when it holds for the worst histogram, and its largest
// count bounds the number of persons who have the commonest value at all
// (docs/k-anonymity.md, "Persons").
func (p *People) Worst(h *Histogram, wild uint32) {
	h.Reset()
	persons := p.Persons()
	if persons == 0 {
		return
	}
	codes := p.counts[:0]
	any := int64(0) // persons and records without one that may have any value
	for i := 0; i < len(p.keys); {
		from, person := i, p.keys[i]>>32
		misses := false
		for ; i < len(p.keys) && p.keys[i]>>32 == person; i++ {
			misses = misses || uint32(p.keys[i]) == wild
		}
		if misses && person != NoPerson {
			any++
			// The class shows these values, though no more persons have them.
			for _, k := range p.keys[from:i] {
				if uint32(k) != wild {
					codes = append(codes, Pair{Code: uint32(k)})
				}
			}
			continue
		}
		for at := from; at < i; at++ {
			code := uint32(p.keys[at])
			switch {
			case code == wild:
				any++
			case at > from && p.keys[at] == p.keys[at-1] && person != NoPerson:
			default:
				codes = append(codes, Pair{Code: code, Count: 1})
			}
		}
	}
	slices.SortFunc(codes, func(a, b Pair) int { return cmp.Compare(a.Code, b.Code) })
	to := 0
	for _, c := range codes {
		if to > 0 && codes[to-1].Code == c.Code {
			codes[to-1].Count += c.Count
			continue
		}
		codes[to] = c
		to++
	}
	p.counts = codes
	codes = codes[:to]
	for i := range codes {
		codes[i].Count = min(persons, codes[i].Count+any)
	}
	slices.SortFunc(codes, func(a, b Pair) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code)) })
	left := persons
	for i := range codes {
		codes[i].Count = min(codes[i].Count, left)
		left -= codes[i].Count
		if left == 0 {
			codes = codes[:i+1]
			break
		}
	}
	slices.SortFunc(codes, func(a, b Pair) int { return cmp.Compare(a.Code, b.Code) })
	for _, c := range codes {
		h.AddN(c.Code, c.Count)
	}
}

// share is what one person has of one value: records of all of his or hers.
type share struct {
	code    uint32
	records uint32
	of      uint32
}

// share lists what each person has of each value, by code.
func (p *People) shared() []share {
	p.sort()
	out := p.shares[:0]
	for i := p.unknown(); i < len(p.keys); {
		from, person := i, p.keys[i]>>32
		for i < len(p.keys) && p.keys[i]>>32 == person {
			i++
		}
		of := uint32(i - from)
		for from < i {
			at := from
			for from < i && p.keys[from] == p.keys[at] {
				from++
			}
			out = append(out, share{code: uint32(p.keys[at]), records: uint32(from - at), of: of})
		}
	}
	slices.SortFunc(out, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.of, b.of), cmp.Compare(a.records, b.records))
	})
	p.shares = out
	return out
}
