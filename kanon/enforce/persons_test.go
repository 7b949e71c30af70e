package enforce_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Groups by persons: each holds k persons and keeps l and t for them, also where
// unions of groups that share persons do not.
func TestEnforceByPersons(t *testing.T) {
	failed := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n, k = 200, 3
		x, of := make([]float64, n), make([]uint32, n)
		b, err := table.NewBuilder(table.Field{Name: "illness", Type: table.Category}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			x[i], of[i] = rng.Float64(), uint32(rng.IntN(40))
			if err := b.Append([]byte{byte('a' + rng.IntN(5))}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := space.New(n, [][]float64{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := space.Partition{Group: make([]uint32, n), Groups: n / 4}
		for i := range n {
			p.Group[i] = uint32(i / 4)
		}
		a := privacy.NewAttribute(b.Column())
		req := []privacy.Requirement{
			{K: k, Diversity: &privacy.Diversity{L: 3}},
			{K: k, Diversity: &privacy.Diversity{Model: privacy.Entropy, L: 2.5}},
			{K: k, Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 1.5}},
			{K: k, Closeness: &privacy.Closeness{T: 0.3}},
			{K: k},
		}[seed%5]
		by := &enforce.Persons{Of: of, Requirement: req}
		if seed%5 != 4 {
			by.Attributes = []*privacy.ByPerson{privacy.NewByPerson(a, of, func(i int) uint32 { return a.Codes[i] })}
		}
		q, stats, err := enforce.Enforce(context.Background(), s, p, req, nil, enforce.Options{Persons: by, Whole: seed%2 == 0})
		if noren.KindOf(err) == noren.NotMet {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if stats.Failing > 0 {
			failed++
		}
		list, start := q.Members()
		for g := range q.Groups {
			if !by.Holds(list[start[g]:start[g+1]]) {
				t.Fatalf("seed %d: group %d does not keep %s", seed, g, req)
			}
		}
	}
	if failed < 30 {
		t.Fatalf("in %d cases alone something was to be done", failed)
	}
}

// What the whole table does not keep is refused with its column.
func TestInfeasibleByPersons(t *testing.T) {
	s, err := space.New(4, [][]float64{{0, 1, 2, 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := table.NewBuilder(table.Field{Name: "illness", Type: table.Category}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", "a", "b"} { // both persons have both
		if err := b.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	a := privacy.NewAttribute(b.Column())
	of := []uint32{1, 1, 2, 2}
	req := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 2}}
	by := &enforce.Persons{
		Of: of, Requirement: req,
		Attributes: []*privacy.ByPerson{privacy.NewByPerson(a, of, func(i int) uint32 { return a.Codes[i] })},
	}
	p := space.Partition{Group: make([]uint32, 4), Groups: 1}
	if _, _, err := enforce.Enforce(context.Background(), s, p, req, nil, enforce.Options{Persons: by}); noren.KindOf(err) != noren.NotMet {
		t.Fatalf("got %v", err)
	}
}

// A refusal by persons says why a table that is diverse by records is not.
func TestInfeasibleByPersonsSaysWhy(t *testing.T) {
	b, err := table.NewBuilder(table.Field{Name: "illness", Type: table.Category}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", "a", "b"} {
		if err := b.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	attribute := privacy.NewAttribute(b.Column())
	of := []uint32{1, 1, 2, 2}
	judge := func(d *privacy.Diversity) error {
		p := &enforce.Persons{
			Of: of, Requirement: privacy.Requirement{K: 2, Diversity: d},
			Attributes: []*privacy.ByPerson{privacy.NewByPerson(attribute, of, func(i int) uint32 { return attribute.Codes[i] })},
		}
		return p.Feasible([]int32{0, 1, 2, 3})
	}
	for count, why := range map[bool]string{
		false: "as a person counts for each value that he or she has and, with a missing one, for any",
		true:  "as a person counts for each value that he or she has (",
	} {
		err := judge(&privacy.Diversity{L: 2, CountMissing: count})
		if noren.KindOf(err) != noren.NotMet || !strings.Contains(err.Error(), why) {
			t.Errorf("missing counted %t: %v", count, err)
		}
	}
	if err := judge(&privacy.Diversity{L: 1}); err != nil {
		t.Error(err)
	}
}
