// Package block makes the groups of one block of a large table: it divides, refines and
// publishes the records of the block as if they were the table.
//
// A tree of cuts through the space (partition.CellTree) gives every record its block.
// Package kanon makes the blocks of a table in one process, package kanon/shard those of
// a table on a cluster; both through [Maker], so that a block's groups do not depend on
// where they are made.
//
// # Guarantee
//
// Every group that [Maker.Make] returns has at least k records of the block, or with
// persons records of at least k persons. It is checked, and an error of kind Internal
// where it does not hold.
package block

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A block of a table of some size holds cells of the coarse step, and refinement
// goes over it twice, so that the cells' borders are mended; beyond, blocks are
// cells and it goes over them once.
const (
	// blockRecords is the least number of records of a block of several cells.
	blockRecords = 20_000
	// twiceRecords is up to how many records blocks are of several cells.
	twiceRecords = 2_000_000
	// descentNear is how many near records refinement looks at.
	descentNear = 24
)

// Size is the least number of records of a block in a table of n records whose coarse
// cells have at least cell; stated, where it is above 0, is what the caller asks for.
func Size(n int64, cell, k, stated int) int {
	switch {
	case stated > 0:
		return max(stated, k)
	case n > twiceRecords:
		return cell
	}
	return max(blockRecords, 4*cell)
}

// Maker makes the groups of blocks. It does not change and may be used by several
// goroutines.
type Maker struct {
	// Where is the table, in errors.
	Where noren.Place
	// K is the least number of records of a group, or of persons.
	K int
	// Rows is the number of records of the whole table.
	Rows int64
	// Frame places the records, and Plan publishes the groups. Both are of the whole
	// table. Required.
	Frame *space.Frame
	Plan  *publish.Plan
	// Partition and Chosen say how groups are made.
	Partition partition.Options
	Chosen    partition.Chosen
	// Refine is the effort of the local search, Seed its seed.
	Refine refine.Effort
	Seed   uint64
	// Boxes makes groups whose boxes are small, for ranges and sets.
	Boxes bool
	// Outsiders counts whom the boxes exclude. Optional.
	Outsiders *publish.Outsiders
	// Placed is called with the records of each block as they were placed. Optional.
	Placed func(s *space.Space)
}

// Made is what became of a block.
type Made struct {
	// Groups is the group of each record of the block.
	Groups space.Partition
	// Published is what the groups publish.
	Published []publish.Column
	// Before and After are the sums of squared errors before and after refinement.
	Before, After float64
}

// Seconds adds up, over all workers, the time of each step. The zero value is ready for
// use.
type Seconds struct{ partition, refine, publish atomic.Int64 }

func (w *Seconds) add(to *atomic.Int64, began *time.Time) {
	now := time.Now()
	to.Add(int64(now.Sub(*began)))
	*began = now
}

// Share divides a time that all workers took together by the steps.
func (w *Seconds) Share(took float64) (divided, refined, published float64) {
	p, f, b := float64(w.partition.Load()), float64(w.refine.Load()), float64(w.publish.Load())
	if sum := p + f + b; sum > 0 {
		return took * p / sum, took * f / sum, took * b / sum
	}
	return 0, 0, 0
}

// NoSpace is the error about records of a table that cannot be placed.
func NoSpace(where noren.Place, err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Where: where, What: "the quasi-identifiers make no space", Err: err}
}

// Make makes the groups of a block: columns are the quasi-identifiers of its records, of
// is the person of each record or nil, and ids are the numbers by which the outsiders know
// the records (unused without outsiders). Errors are of kind BadData (fewer than k records
// or persons), Internal, or the context's.
func (m *Maker) Make(ctx context.Context, columns []*table.Column, of, ids []uint32, work *Seconds) (*Made, error) {
	began := time.Now()
	s, err := m.Frame.Space(columns)
	if err != nil {
		return nil, NoSpace(m.Where, err)
	}
	if m.Placed != nil {
		m.Placed(s)
	}
	o := m.Partition
	o.K, o.Workers, o.Method, o.Coarse = m.K, 1, m.Chosen.Method, partition.CoarseOff
	o.Progress = nil // blocks are reported, from several goroutines
	requirement := privacy.Requirement{K: m.K}
	if m.Boxes {
		o.Measure = cost.Boxes(m.Frame, columns)
		if of != nil {
			o.Judge = enforce.NewJudge(requirement, nil, &enforce.Persons{Of: of, Requirement: requirement})
		}
	}
	if s.Len() >= 2*m.Chosen.Coarse {
		o.Coarse = m.Chosen.Coarse
	} else if m.Refine.Descend {
		// Found once, for the method and for the descent.
		if err := s.KeepNear(ctx, descentNear, o.Ties, 1); err != nil {
			return nil, err
		}
	}
	out := &Made{}
	if out.Groups, err = persons.Divide(ctx, s, of, o); err != nil {
		return nil, err
	}
	work.add(&work.partition, &began)
	effort := m.Refine
	if m.Rows > twiceRecords {
		effort.Exchange = false // in blocks of one cell exchanges cost more than they gain
	}
	groups, stats, err := refine.Refine(ctx, s, out.Groups, refine.Options{
		K: m.K, Effort: effort, Seed: m.Seed, Workers: 1, Persons: of,
		Measure: o.Measure, Judge: o.Judge,
	})
	if err != nil {
		return nil, err
	}
	out.Before, out.After = stats.Before, stats.After
	if o.Measure != nil {
		out.Before, out.After = s.SSE(out.Groups), s.SSE(groups)
	}
	out.Groups = groups
	if err := enough(groups, of, m.K); err != nil {
		return nil, noren.Bug("a block was not divided into groups of k: " + err.Error())
	}
	work.add(&work.refine, &began)
	out.Published, err = m.Plan.Groups(ctx, columns, groups.Group, groups.Groups)
	if err == nil && m.Outsiders != nil {
		err = m.Outsiders.Look(ctx, columns, ids, groups.Group, groups.Groups)
	}
	if err != nil {
		return nil, err
	}
	work.add(&work.publish, &began)
	return out, nil
}

// enough demands k records or persons in every group.
func enough(p space.Partition, of []uint32, k int) error {
	if of == nil {
		return p.Validate(k)
	}
	return refine.ValidatePersons(p, of, k)
}

// JoinShort joins blocks that have records of fewer than k persons with the next one, the
// last with the one before it. Block p has the places bounds[p] to bounds[p+1], and
// personsOf tells the persons of places.
func JoinShort(bounds []int64, k int, personsOf func(from, to int64) ([]uint32, error)) ([]int64, error) {
	// Most blocks have k persons among the first records.
	few := int64(64 * k)
	short := func(from, to int64) (bool, error) {
		for _, upTo := range []int64{min(from+few, to), to} {
			of, err := personsOf(from, upTo)
			if err != nil {
				return false, err
			}
			if persons.Count(of) >= k {
				return false, nil
			}
		}
		return true, nil
	}
	out := []int64{0}
	for _, to := range bounds[1:] {
		isShort, err := short(out[len(out)-1], to)
		if err != nil {
			return nil, err
		}
		if !isShort {
			out = append(out, to)
		}
	}
	last := bounds[len(bounds)-1]
	if len(out) == 1 {
		return append(out, last), nil
	}
	out[len(out)-1] = last
	return out, nil
}
