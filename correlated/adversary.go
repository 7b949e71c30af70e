package correlated

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/noren-privacy/noren"
)

// Adversaries are the adversaries against whom a guarantee holds. An adversary knows
// the model and the states of some records, and wants to know that of another. The
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
// or most (docs/correlated-privacy.md, section 3).
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
	// Target is the record that the adversary wants to know.
	Target int `json:"record"`
	// Known are the records whose states the adversary knows.
	Known []Known `json:"known"`
}

// String is "all", "empty", "full" or "listed".
func (a Adversaries) String() string { return a.Text().String() }

// Text names them.
func (a Adversaries) Text() noren.Text {
	return noren.Textf("%s", [...]string{"all", "empty", "full", "listed"}[a.kind])
}

// describe says who they are, for a guarantee.
func (a Adversaries) describe() noren.Text {
	switch a.kind {
	case advEmpty:
		return noren.Textf("adversaries who know the model and no record's state")
	case advFull:
		return noren.Textf("adversaries who know the model and the states of all other records")
	case advListed:
		return noren.Textf("the %d listed {adversary|adversaries} only", len(a.listed))
	}
	return noren.Textf("adversaries who know the model and the states of any other records")
}

// maxListed bounds the adversaries that a list stands for.
const maxListed = 1 << 20

func (a Adversaries) check(m Model) error {
	if a.kind != advListed {
		return nil
	}
	if len(a.listed) == 0 {
		return noren.Usagef("adversaries", "the list of adversaries is empty")
	}
	n := m.Records()
	total := 0
	for i, adv := range a.listed {
		where := index("adversaries", i)
		if adv.Target < AnyTarget || adv.Target >= n {
			return noren.Usagef(where, "the target is a record's number, 0 to %d, or %d for any", n-1, AnyTarget)
		}
		seen := map[int]bool{}
		count := 1
		for j, k := range adv.Known {
			at := index(where+".known", j)
			if k.Record < 0 || k.Record >= n {
				return noren.Usagef(at, "a known record is a number from 0 to %d", n-1)
			}
			if k.Record == adv.Target {
				return noren.Usagef(at, "the target cannot be known")
			}
			if seen[k.Record] {
				return noren.Usagef(at, "record %d is given twice", k.Record)
			}
			seen[k.Record] = true
			if k.State < AnyState || k.State >= m.States(k.Record) {
				return noren.Usagef(at, "a known state is a number from 0 to %d, or %d for any", m.States(k.Record)-1, AnyState)
			}
			if k.State == AnyState {
				count = min(count*m.States(k.Record), maxListed+1)
			}
		}
		if adv.Target == AnyTarget {
			count = min(count*n, maxListed+1)
		}
		total += count
		if total > maxListed {
			return noren.Usagef(where, "the list stands for more than %d adversaries", maxListed)
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

// ParseAdversaries reads "all", "empty" or "full".
func ParseAdversaries(s string) (Adversaries, error) {
	switch s {
	case "all":
		return AllAdversaries(), nil
	case "empty":
		return EmptyAdversaries(), nil
	case "full":
		return FullAdversaries(), nil
	}
	return Adversaries{}, &noren.Error{
		Kind: noren.Usage, Where: "adversaries", What: "there are no such adversaries",
		Hint: "choose all, empty or full, or list them in a file",
	}
}

// ReadAdversaries reads a list in JSON; name is the file's, for errors:
//
//	[{"record":3,"known":[{"record":2,"state":0},{"record":4,"state":"any"}]}, {"record":"any","known":[]}]
//
// A state may be given by the name that f, the model's file, has for it.
// Errors are of kind Usage and name the entry that is wrong.
func ReadAdversaries(r io.Reader, name string, f *ModelFile) (Adversaries, error) {
	n, err := readJSON(r, name)
	if err != nil {
		return Adversaries{}, err
	}
	a, err := parseAdversaries(n, f)
	if err == nil {
		err = a.check(f.Model)
	}
	if err != nil {
		return Adversaries{}, inFile(name, err)
	}
	return a, nil
}

func parseAdversaries(n node, f *ModelFile) (Adversaries, error) {
	list, err := n.list()
	if err != nil {
		return Adversaries{}, err
	}
	a := Adversaries{kind: advListed}
	for _, e := range list {
		fields, err := e.object("record", "known")
		if err != nil {
			return Adversaries{}, err
		}
		record, err := e.need(fields, "record")
		if err != nil {
			return Adversaries{}, err
		}
		one := Adversary{Target: AnyTarget, Known: []Known{}}
		if record.value != "any" {
			if one.Target, err = record.int(); err != nil {
				return Adversaries{}, err
			}
		}
		if k, ok := fields["known"]; ok {
			if one.Known, err = parseKnown(k, f); err != nil {
				return Adversaries{}, err
			}
		}
		a.listed = append(a.listed, one)
	}
	return a, nil
}

func parseKnown(n node, f *ModelFile) ([]Known, error) {
	list, err := n.list()
	if err != nil {
		return nil, err
	}
	out := []Known{}
	for _, e := range list {
		fields, err := e.object("record", "state")
		if err != nil {
			return nil, err
		}
		record, err := e.need(fields, "record")
		if err != nil {
			return nil, err
		}
		k := Known{State: AnyState}
		if k.Record, err = record.int(); err != nil {
			return nil, err
		}
		state, err := e.need(fields, "state")
		if err != nil {
			return nil, err
		}
		if state.value != "any" || slices.Contains(f.States, "any") {
			if k.State, err = parseState(state, f); err != nil {
				return nil, err
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// MarshalJSON writes "all", "empty" or "full", or the list as
// [ReadAdversaries] reads it (by numbers, -1 for any).
func (a Adversaries) MarshalJSON() ([]byte, error) {
	if a.kind == advListed {
		return json.Marshal(a.listed)
	}
	return json.Marshal(a.String())
}
