package kanon

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/block"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// What follows is common to a release of one process and to one in shards (package
// kanon/shard).

// Maker makes the groups of the blocks of a table of that name and number of records.
func (o *Options) Maker(where noren.Place, rows int64, frame *space.Frame, plan *publish.Plan, method partition.Options,
	chosen partition.Chosen,
) *block.Maker {
	return &block.Maker{
		Where: where, K: o.K, Rows: rows, Frame: frame, Plan: plan,
		Partition: method, Chosen: chosen, Refine: o.Refine, Seed: o.SearchSeed(), Boxes: o.lowersBoxes(),
	}
}

// Publishing is how groups are published.
func (o *Options) Publishing() publish.Options {
	return publish.Options{Mode: o.Publish, Ranges: o.Ranges, Seed: o.SearchSeed()}
}

// Requirement is what every class must keep.
func (o *Options) Requirement() privacy.Requirement {
	return privacy.Requirement{K: o.K, Diversity: o.Diversity, Closeness: o.Closeness}
}

// CodeWhole is the code of errors about options that work on all records at once.
const CodeWhole = "whole-table"

// InBlocks is an error of kind Usage where a release by these options works on all
// records at once, in memory, or does more with all of them than shards can.
func (o *Options) InBlocks() error {
	whole := o.needsWhole()
	switch {
	case whole != "":
		return &noren.Error{
			Kind: noren.Usage, Code: CodeWhole,
			What: "no process of a cluster holds all records, and %s works on all of them at once", Args: []any{whole}, Hint: wholeHint,
		}
	case o.Publish == publish.Matched:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeWhole, Where: "publish",
			What: "expected aggregate, generalize or shares, got matched: matched values are chosen from the groups of the whole table together, " +
				"and no process of a cluster holds them all",
			Hint: "publish by aggregate",
		}
	case o.KeepOrder:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeWhole, Where: "keep-order",
			What: "the files of a release in shards hold the records of neighbouring groups, and not in the order of the source",
			Hint: "leave it out",
		}
	case o.Gap > 0:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeWhole, Where: "gap",
			What: "no process of a cluster holds all records, and a lower bound is computed from all of them at once", Hint: "leave it out",
		}
	}
	return nil
}

// EnoughRecords is an error of kind BadData where a table has fewer than k records.
func EnoughRecords(where noren.Place, rows int64, k int) error {
	if rows >= int64(k) {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: where,
		What: "the table has %d {record|records}, fewer than k = %d: no group of k can be made", Args: []any{rows, k},
		Hint: "ask for a smaller k, or gather more records",
	}
}

// EnoughPersons is an error of kind BadData where a table has records of fewer than k
// persons.
func EnoughPersons(where noren.Place, n int64, k int) error {
	if n >= int64(k) {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: where,
		What: "the table has records of %d {person|persons}, fewer than k = %d: no group of k persons can be made", Args: []any{n, k},
		Hint: "ask for a smaller k, or gather records of more persons",
	}
}

// CheckHierarchy is an error of kind BadData where a value of a column has no leaf in its
// hierarchy.
func CheckHierarchy(where noren.Place, c *table.Column) error {
	h := c.Field.Hierarchy
	if h == nil {
		return nil
	}
	without := 0
	for _, word := range c.Dict {
		if _, ok := h.Leaf(word); !ok {
			without++
		}
	}
	if without == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: append(slices.Clip(where), noren.Textf("column %s", c.Field.Name)),
		What: "%d of its %d different {value|values} {1|has|have} no line in the hierarchy %s", Args: []any{without, len(c.Dict), h.Name()},
		Hint: "add a line for each of them, or name the text that stands for a missing value",
	}
}

// Transformed states in fates, one for each field of the schema, how each
// quasi-identifier was published and what became of the unit. rounded says what the
// values of the quasi-identifiers are multiples of, groups the number of groups.
func (o *Options) Transformed(fates []gate.Fate, schema *table.Schema, rounded []Rounded, groups int) {
	for i := range fates {
		switch c := &fates[i]; {
		case o.Unit == "" || c.Column != o.Unit:
		case o.Pseudonym:
			c.Fate, c.Why = gate.Transformed, noren.Textf("it tells persons apart: replaced by a pseudonym drawn for this release")
		default:
			c.Why = noren.Textf("it tells persons apart: persons were counted by it")
		}
	}
	for j, i := range schema.WithRole(table.Quasi) {
		fates[i].Why = noren.Textf("others may know it: %s", shown(&schema.Fields[i], rounded[j], o, groups))
	}
}

// NewResult begins the result of a release.
func (o *Options) NewResult(input, output string) *Result {
	r := &Result{
		Schema: ResultSchema, Input: input, Output: output, K: o.K,
		Objective: objectiveSSE, Refine: o.Refine.String(), Scale: o.Scale.String(), Publish: o.Publish.String(),
		Requested: Requested{Method: o.Partition.Method.String(), Suppress: o.Suppress.String()},
	}
	if o.lowersBoxes() {
		r.Objective = objectiveBoxes
	}
	if o.Unit != "" {
		r.Unit, r.Linkage, r.Pseudonym = o.Unit, o.Linkage.String(), o.Pseudonym
	}
	return r
}

// States is the guarantee of a release that was verified.
func (o *Options) States(quasi []string, attributes []*privacy.Attribute) noren.Guarantee {
	g := privacy.Guarantee(quasi, o.Requirement(), attributes)
	if o.Unit != "" {
		g = privacy.OfPersons(g, o.Unit, o.Linkage == LinkAll, o.Pseudonym)
	}
	return g
}
