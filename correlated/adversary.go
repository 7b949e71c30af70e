package correlated

import (
	"fmt"
	"slices"
)

// Adversaries are those against whom a promise is made. An adversary knows the
// model and the states of some records, and wants to know that of another. The
// zero value is all of them.
type Adversaries struct {
	kind   advKind
	listed []Adversary
}

type advKind uint8

const (
	advAll advKind = iota
	advEmpty
	advFull
	advListed
)

// AllAdversaries know the states of any set of records.
func AllAdversaries() Adversaries { return Adversaries{} }

// EmptyAdversaries know the state of no record. They do not always learn least
// or most (note, section 3).
func EmptyAdversaries() Adversaries { return Adversaries{kind: advEmpty} }

// FullAdversaries know all records but one: leakage to them is ordinary
// differential privacy, as far as the model thinks two states possible.
func FullAdversaries() Adversaries { return Adversaries{kind: advFull} }

// ListedAdversaries are those given and no others.
func ListedAdversaries(list ...Adversary) Adversaries {
	return Adversaries{kind: advListed, listed: slices.Clone(list)}
}

// AnyTarget is the target of an adversary who wants to know any record, and
// AnyState the state of a known record that may have any.
const (
	AnyTarget = -1
	AnyState  = -1
)

// Adversary is one adversary, or by AnyTarget and AnyState several.
type Adversary struct {
	Target int     `json:"record"`
	Known  []Known `json:"known"`
}

// String is "all", "empty", "full" or "listed".
func (a Adversaries) String() string {
	return [...]string{"all", "empty", "full", "listed"}[a.kind]
}

// describe says who they are, for a guarantee.
func (a Adversaries) describe() string {
	switch a.kind {
	case advEmpty:
		return "adversaries who know the model and no record's state"
	case advFull:
		return "adversaries who know the model and the states of all other records"
	case advListed:
		return fmt.Sprintf("the %d listed adversaries only", len(a.listed))
	}
	return "adversaries who know the model and the states of any other records"
}

// maxListed bounds the adversaries that a list stands for.
const maxListed = 1 << 20

func (a Adversaries) check(m Model) error {
	if a.kind != advListed {
		return nil
	}
	if len(a.listed) == 0 {
		return usagef("adversaries", "the list of adversaries is empty")
	}
	n := m.Records()
	total := 0
	for i, adv := range a.listed {
		where := index("adversaries", i)
		if adv.Target < AnyTarget || adv.Target >= n {
			return usagef(where, "the target is a record's number, 0 to %d, or %d for any", n-1, AnyTarget)
		}
		seen := map[int]bool{}
		count := 1
		for j, k := range adv.Known {
			at := index(where+".known", j)
			if k.Record < 0 || k.Record >= n {
				return usagef(at, "a known record is a number from 0 to %d", n-1)
			}
			if k.Record == adv.Target {
				return usagef(at, "the target cannot be known")
			}
			if seen[k.Record] {
				return usagef(at, "record %d stands twice", k.Record)
			}
			seen[k.Record] = true
			if k.State < AnyState || k.State >= m.States(k.Record) {
				return usagef(at, "a known state is a number from 0 to %d, or %d for any", m.States(k.Record)-1, AnyState)
			}
			if k.State == AnyState {
				count = min(count*m.States(k.Record), maxListed+1)
			}
		}
		if adv.Target == AnyTarget {
			count = min(count*n, maxListed+1)
		}
		if total += count; total > maxListed {
			return usagef(where, "the list stands for more than %d adversaries", maxListed)
		}
	}
	return nil
}

// each calls visit for every adversary that the list stands for, with the
// known states by record (-1 where not known). The slice is reused.
func (a Adversaries) each(m Model, visit func(target int, known []int) error) error {
	n := m.Records()
	known := make([]int, n)
	for _, adv := range a.listed {
		for i := range known {
			known[i] = -1
		}
		var fill func(j int) error
		fill = func(j int) error {
			if j == len(adv.Known) {
				if adv.Target != AnyTarget {
					return visit(adv.Target, known)
				}
				for i := range n {
					if known[i] < 0 {
						if err := visit(i, known); err != nil {
							return err
						}
					}
				}
				return nil
			}
			k := adv.Known[j]
			from, to := k.State, k.State
			if k.State == AnyState {
				from, to = 0, m.States(k.Record)-1
			}
			for v := from; v <= to; v++ {
				known[k.Record] = v
				if err := fill(j + 1); err != nil {
					return err
				}
			}
			known[k.Record] = -1
			return nil
		}
		if err := fill(0); err != nil {
			return err
		}
	}
	return nil
}
