package persons_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// draw draws a space of n records of some persons; 0 is no person.
func draw(t *rapid.T) (*space.Space, []uint32) {
	n := rapid.IntRange(1, 150).Draw(t, "n")
	people := rapid.IntRange(1, 20).Draw(t, "people")
	places := rapid.IntRange(1, 40).Draw(t, "places")
	number := make([]float64, n)
	codes := make([]uint32, n)
	of := make([]uint32, n)
	for i := range n {
		number[i] = float64(rapid.IntRange(0, places).Draw(t, "x"))
		codes[i] = uint32(rapid.IntRange(0, 3).Draw(t, "c"))
		of[i] = uint32(rapid.IntRange(0, people).Draw(t, "person"))
	}
	s, err := space.New(n, [][]float64{number}, []space.Categorical{{Codes: codes, Cardinality: 4, Weight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s, of
}

func options(t *rapid.T) partition.Options {
	o := partition.Options{
		K:      rapid.IntRange(1, 5).Draw(t, "k"),
		Method: partition.Method(rapid.IntRange(int(partition.Auto), int(partition.Tomobiki)).Draw(t, "method")),
	}
	if rapid.IntRange(0, 3).Draw(t, "cells") == 0 {
		o.Coarse = o.K + rapid.IntRange(0, 30).Draw(t, "coarse")
	}
	return o
}

// people lists the persons of each group.
func people(p space.Partition, of []uint32) []map[uint32]bool {
	out := make([]map[uint32]bool, p.Groups)
	for g := range out {
		out[g] = map[uint32]bool{}
	}
	for i, g := range p.Group {
		if of[i] != 0 {
			out[g][of[i]] = true
		}
	}
	return out
}

// Whatever the table: each group holds k persons, every record is in one, and
// refinement keeps that and does not raise the loss; or there are too few persons.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, of := draw(t)
		o := options(t)
		p, err := persons.Divide(context.Background(), s, of, o)
		if persons.Count(of) < o.K {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("%d persons for k = %d: %v", persons.Count(of), o.K, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := persons.Divide(context.Background(), s, of, o)
		if err != nil || !slices.Equal(p.Group, again.Group) {
			t.Fatalf("another division the second time: %v", err)
		}
		refined, stats, err := refine.Refine(context.Background(), s, p, refine.Options{K: o.K, Effort: refine.Fast, Persons: of})
		if err != nil {
			t.Fatal(err)
		}
		if stats.After > stats.Before+1e-9 || s.SSE(refined) > s.SSE(p)+1e-9 {
			t.Fatalf("refined from %g to %g", stats.Before, stats.After)
		}
		for _, q := range []space.Partition{p, refined} {
			if len(q.Group) != s.Len() {
				t.Fatal("records are lost")
			}
			for g, in := range people(q, of) {
				if len(in) < o.K {
					t.Fatalf("group %d holds %d persons", g, len(in))
				}
			}
		}
	})
}

// Every class holds a record of each person of a group of k persons or more, so
// that all classes of a person have the same persons.
func TestLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, of := draw(t)
		o := persons.LinkOptions{Partition: options(t), Refine: refine.Fast, Workers: rapid.IntRange(0, 2).Draw(t, "workers")}
		limit := 0
		if rapid.Bool().Draw(t, "holds") {
			// Classes must have that many records: reached by merging alone.
			limit = rapid.IntRange(1, 40).Draw(t, "limit")
			o.Holds = func(records []int32) bool { return len(records) >= limit }
		}
		linked, err := persons.Link(context.Background(), s, of, o)
		switch {
		case persons.Count(of) < o.Partition.K:
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("too few persons: %v", err)
			}
			return
		case limit > s.Len():
			if noren.KindOf(err) != noren.NotMet {
				t.Fatalf("what cannot hold: %v", err)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		checkLinked(t, linked.Partition(), of, o.Partition.K, limit)
		// Classes that must be one are.
		p := linked.Partition()
		if p.Groups > 1 {
			a, b := uint32(0), uint32(rapid.IntRange(1, p.Groups-1).Draw(t, "other"))
			if err := linked.Merge(context.Background(), [][]uint32{{a, b}}); err != nil {
				t.Fatal(err)
			}
			q := linked.Partition()
			if limit == 0 && q.Groups >= p.Groups {
				t.Fatalf("%d classes of %d after merging two", q.Groups, p.Groups)
			}
			checkLinked(t, q, of, o.Partition.K, limit)
		}
	})
}

func checkLinked(t *rapid.T, p space.Partition, of []uint32, k, limit int) {
	for g, n := range p.Sizes() {
		if n == 0 || n < limit {
			t.Fatalf("class %d has %d records", g, n)
		}
	}
	in := people(p, of)
	home := map[uint32]string{}
	for g := range in {
		var all []int
		for person := range in[g] {
			all = append(all, int(person))
		}
		slices.Sort(all)
		if len(all) < k {
			t.Fatalf("class %d holds %d persons", g, len(all))
		}
		for person := range in[g] {
			if known, ok := home[person]; ok && known != fmt.Sprint(all) {
				t.Fatalf("person %d is among %s and among %v", person, known, all)
			}
			home[person] = fmt.Sprint(all)
		}
	}
}

// Persons with records on two days each, the days far apart: the classes are the
// days, but for those in which a cut along the axis falls: many records are cut
// along an axis first, in up to 64 days.
func TestLinkFindsTheDays(t *testing.T) {
	const people, visits = 6, 200
	var day []float64
	var of []uint32
	for p := range people {
		for v := range visits {
			day, of = append(day, float64(v*10)+float64(p)/10), append(of, uint32(p+1))
		}
	}
	s, err := space.New(len(day), [][]float64{day}, nil)
	if err != nil {
		t.Fatal(err)
	}
	linked, err := persons.Link(context.Background(), s, of, persons.LinkOptions{Partition: partition.Options{K: people}})
	if err != nil {
		t.Fatal(err)
	}
	p := linked.Partition()
	if cuts := visits/64 + 1; p.Groups < visits-cuts || s.Loss(p) > float64(cuts)/visits/10 {
		t.Fatalf("%d classes of %d days, loss %g", p.Groups, visits, s.Loss(p))
	}
}

// One person's records among many: what a cancelled context does.
func TestCancelled(t *testing.T) {
	x := make([]float64, 5000)
	of := make([]uint32, len(x))
	for i := range x {
		x[i], of[i] = float64(i), uint32(1+i%50)
	}
	s, err := space.New(len(x), [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := persons.Divide(ctx, s, of, partition.Options{K: 5}); err == nil {
		t.Fatal("divided after all")
	}
	if _, err := persons.Link(ctx, s, of, persons.LinkOptions{Partition: partition.Options{K: 5}}); err == nil {
		t.Fatal("linked after all")
	}
}
